"""Which reads of a trace reach the drive: all of them, or with a cache in RAM the misses of exact LRU (see
``flashsim.cache.lru``), the cache empty where the trace begins. A chunk of prefill is deduplicated before the cache."""

from collections.abc import Callable, Sequence

import numpy as np

from flashsim.cache.lru import PAGES_MAX, LruSweep
from flashsim.device.workload import MODES, Groups, by_step, joined
from flashsim.errors import UsageError
from flashsim.studies.cells import Cell, steps
from flashsim.trace import Trace
from flashsim.units import format_bytes

_STEP_TOKENS = 1 << 16  # hashed, cached and kept at a time


def touched_pages(trace: Trace) -> np.ndarray:
    """uint32, increasing: the different pages that ``trace`` reads. Memory: 1 B for each page of its table. Raises
    UsageError for a trace that reads none, DataError where an id is not below what the trace's JSON says."""
    _require_pages(trace)
    touched = np.zeros(trace.facts["ids_below"], bool)
    for ids, _ in steps(Cell(trace, None, 0, len(trace)), 0, len(trace), "c"):
        touched[ids] = True
    return np.flatnonzero(touched).astype(np.uint32)


def _require_pages(trace: Trace) -> None:
    if trace.facts["unit"] != "page":
        raise UsageError(f"{trace.path}: 1 trace of rows, a drive reads pages: trace it with --unit page")
    if not len(trace.ids):
        raise UsageError(f"{trace.path}: 0 reads of {len(trace)} tokens: nothing to replay; check --eot of `trace`")


class DriveReads:
    """The reads of ``trace`` in groups of ``mode``, beyond caches of several sizes. Of a trace of a workload, they are
    its steps in every mode but stream.

    chunk: tokens of a group of prefill. cache_bytes: sizes of caches, 0 = none. One pass over the trace serves all of
    them; memory: 1 bit for each reference and size. ``progress`` is told the tokens of each step. Raises UsageError for
    a trace of rows, one that reads nothing, or a cache that holds no page; DataError once an id is reached that is
    not below what the trace's JSON says.
    """

    def __init__(
        self,
        trace: Trace,
        mode: str,
        chunk: int = 2048,
        cache_bytes: Sequence[int] = (0,),
        progress: Callable[[int], None] = lambda tokens: None,
        backend: str = "c",
    ) -> None:
        _require_pages(trace)
        self.page_bytes = trace.facts["unit_bytes"]
        self._trace, self._mode, self._group = trace, MODES[mode], chunk if MODES[mode].chunked else 1
        if trace.steps is None or mode == "stream":
            step = -(-_STEP_TOKENS // self._group) * self._group
            self._firsts, self._step_ends = np.arange(0, len(trace), step), None
        else:  # a step of the trace's workload is sent together, whatever is in it
            self._step_ends = np.cumsum(trace.steps, dtype=np.int64)
            cuts = np.searchsorted(self._step_ends, np.arange(_STEP_TOKENS, len(trace), _STEP_TOKENS))
            self._firsts = np.append(0, self._step_ends[np.unique(cuts)])
            self._firsts = self._firsts[self._firsts < len(trace)]
        if trace.counts is None:
            self._begins = self._firsts * trace.facts["reads_per_token"]
        else:
            reads = np.add.reduceat(trace.counts, self._firsts, dtype=np.int64)
            self._begins = np.concatenate((np.zeros(1, np.int64), np.cumsum(reads[:-1])))
        self._missed: dict[int, list[np.ndarray]] = {size: [] for size in sorted(set(cache_bytes)) if size}
        if self._missed:
            self._run_caches(progress, backend)

    def _run_caches(self, progress: Callable[[int], None], backend: str) -> None:
        capacities = [size // self.page_bytes for size in self._missed]
        if capacities[0] < 1:
            raise UsageError(
                f"--cache {next(iter(self._missed))}B holds no page of {self.page_bytes} B: take "
                f"{format_bytes(self.page_bytes)} or more, or none"
            )
        below = self._trace.facts["ids_below"]
        if below > PAGES_MAX:
            raise UsageError(f"{self._trace.path}: {below} pages, over {PAGES_MAX}: leave --cache out")
        sweep, rank = LruSweep(capacities, below, backend), np.unique(capacities, return_inverse=True)[1]
        for block in range(len(self._firsts)):
            groups = self._groups(block)
            classes = np.empty(len(groups.pages), np.uint8)
            sweep.run(np.ascontiguousarray(groups.pages), classes)
            for kept, capacity in zip(self._missed.values(), rank, strict=True):
                kept.append(np.packbits(classes > capacity))
            progress(int(groups.lookups.sum()))
        sweep.check()

    def _groups(self, block: int) -> Groups:
        """The groups of one block of tokens, before any cache."""
        trace, first = self._trace, int(self._firsts[block])
        last = int(self._firsts[block + 1]) if block + 1 < len(self._firsts) else len(trace)
        begin = int(self._begins[block])
        if trace.counts is None:
            counts = np.full(last - first, trace.facts["reads_per_token"])
        else:
            counts = trace.counts[first:last]
        ids = trace.read(begin, begin + int(counts.sum(dtype=np.int64)))
        if self._step_ends is not None:
            steps = slice(*np.searchsorted(self._step_ends, (first, last), side="right"))
            return by_step(ids, counts, self.page_bytes, trace.steps[steps])
        return self._mode.make(ids, counts, self.page_bytes, self._group)

    def _kept(self, block: int, cache_bytes: int) -> Groups:
        groups = self._groups(block)
        if not cache_bytes:
            return groups
        bits = self._missed[cache_bytes][block]
        return groups.only(np.unpackbits(bits, count=len(groups.pages)).view(bool))

    def misses(self, cache_bytes: int) -> int:
        """Reads of the whole trace that a cache of this size lets through."""
        return sum(int(np.unpackbits(bits).sum()) for bits in self._missed[cache_bytes])

    def window(self, cache_bytes: int, place: float, size: int) -> tuple[int, Groups]:
        """(token, the groups from there on), the trace going round; place: where to begin, a share of the trace.

        As many groups as hold ``size`` reads and tokens together, or all of the trace. Raises UsageError where the
        cache lets no read through.
        """
        token = int(place % 1 * len(self._trace))
        first = block = int(np.searchsorted(self._firsts, token, side="right")) - 1
        ends = np.cumsum(self._groups(block).lookups)
        before = int(np.searchsorted(ends, token - self._firsts[block], side="right"))
        start = int(self._firsts[block]) + (int(ends[before - 1]) if before else 0)
        parts, room = [], size
        while room > 0:
            part = self._kept(block, cache_bytes)
            if not parts:
                part = part.part(before, len(part.ends))
            parts.append(part)
            room -= len(part.pages) + len(part.lookups)
            block = (block + 1) % len(self._firsts)
            if block == first and room > 0:  # once round: what lies before the start
                parts.append(self._kept(block, cache_bytes).part(0, before))
                break
        groups = joined(parts)
        if not len(groups.pages):
            raise UsageError(
                f"{self._trace.path}: 0 reads of {int(groups.lookups.sum())} tokens from token {start} on reach the "
                f"drive: a cache of {format_bytes(cache_bytes)} holds all: take a smaller --cache"
            )
        return start, groups
