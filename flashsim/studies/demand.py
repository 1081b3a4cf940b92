"""What workloads ask of a drive beyond a cache that is warm: the same tokens, asked for in several ways.

The text before them is read first and not counted. That leaves one state of the cache, from which every workload
starts, so what differs between them is how they ask.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from flashsim.cache.lru import LruSweep
from flashsim.cache.pin import most_read, run_unpinned
from flashsim.device.workload import Groups, by_step, joined
from flashsim.errors import UsageError
from flashsim.kernels.nb.counting import add_counts, count_by_step
from flashsim.kernels.nb.recency import go_back
from flashsim.layouts import Layout
from flashsim.studies.cells import Cell, check_ids
from flashsim.tokens.stream import CHUNK_TOKENS, TokenStream
from flashsim.trace import pieces
from flashsim.workloads import Workload

KEPT_REFERENCES = 600_000  # before the cache, of the steps that are kept to be sent to a drive
KEPT_STEPS = 16  # at least, where there are as many
_COUNTED_REFERENCES = 100_000_000  # of the text before, for pinning: some chunks of it, evenly
_GOLDEN = (5**0.5 - 1) / 2
_PARTS = 8  # of the steps, whose reads are told apart


@dataclass(frozen=True)
class Demand:
    """What ``workload`` asks for. tokens, steps counted. references, reads: pages before and after the tokens of a step
    share them, no cache. misses: int64, shape (caches,). parts: float64, misses of the first cache a token, in equal
    parts of the steps, in order. kept: some of the steps, before the cache; missed: bool, shape (caches, reads of
    ``kept``)."""

    workload: Workload
    tokens: int
    steps: int
    references: int
    reads: int
    misses: np.ndarray
    parts: np.ndarray
    kept: Groups
    missed: np.ndarray

    def sent(self, cache: int) -> Groups:
        """Of the kept steps, what reaches the drive beyond the cache of that number."""
        return self.kept.only(self.missed[cache])


class Warm:
    """A cache of up to ``enough`` pages after tokens [begin, start) of ``stream`` through ``layout``.

    recency: uint32, the pages that were touched last, at most ``enough``, oldest first. The text is read backwards,
    and only as far as it takes. ``progress`` is told the tokens done. Raises UsageError where the kernels cannot number
    the pages.
    """

    def __init__(
        self, stream: TokenStream, layout: Layout, begin: int, start: int, *, enough: int, backend: str = "c",
        progress: Callable[[int], None] = lambda tokens: None,
    ) -> None:  # fmt: skip
        check_ids(Cell(stream, layout, begin, start))
        self.layout, self.backend = layout, backend
        self._stream, self._begin, self._start = stream, begin, start
        found, seen, count = np.empty(min(enough, layout.pages), np.uint32), np.zeros(layout.pages, bool), 0
        at = start
        while at > begin and count < len(found):
            end, at = at, max(begin, at - CHUNK_TOKENS)
            count = go_back(self._ids(at, end), seen, found, count)
            progress(end - at)
        progress(at - begin)
        self.recency = np.ascontiguousarray(found[:count][::-1])
        self._held: dict[int, np.ndarray] = {}

    def _ids(self, first: int, end: int) -> np.ndarray:
        """The pages of a chunk of the text."""
        (piece,) = pieces(self._stream, self.layout, begin=first, end=end, backend=self.backend)
        return piece.ids

    def most_read(self, pinned: int) -> np.ndarray:
        """bool, shape (pages,): the ``pinned`` pages that the text before reads most."""
        if pinned not in self._held:
            references = (self._start - self._begin) * self.layout.reads_per_token
            every = CHUNK_TOKENS * max(1, round(references / _COUNTED_REFERENCES))
            counts = np.zeros(self.layout.pages, np.uint32)
            for first in range(self._begin, self._start, every):
                add_counts(self._ids(first, min(first + CHUNK_TOKENS, self._start)), counts)
            self._held[pinned] = most_read(counts, pinned)
        return self._held[pinned]

    def demand(
        self, workload: Workload, end: int, capacities: Sequence[int], *, pinned: int = 0,
        progress: Callable[[int], None] = lambda tokens: None,
    ) -> Demand:  # fmt: skip
        """The :class:`Demand` of tokens [start, end) by ``workload``, beyond caches of ``capacities`` pages, which
        increase. pinned: pages that the text before reads most; the last cache is one more of the first capacity, in
        which they are pinned and never miss."""
        caches = [_Caches(capacities, self, None)]
        if pinned:
            caches.append(_Caches([capacities[0] - pinned], self, self.most_read(pinned)))
        share = _share(self.layout, workload, end - self._start)
        tokens = steps = references = reads = 0
        kept, missed, step_misses, step_tokens = [], [], [], []
        for piece in workload.steps(
            self._stream, self.layout, begin=self._start, end=end, backend=self.backend
        ):  # fmt: skip
            classes = [cache.run(piece.ids) for cache in caches]
            groups = by_step(piece.ids, piece.counts, self.layout.page_bytes, np.diff(piece.ends, prepend=0))
            taken = _taken(steps, len(groups.ends), share)
            kept.append(groups.some(taken))
            reads_taken = np.repeat(taken, np.diff(groups.ends, prepend=0))
            missed.append(
                np.concatenate([cache.missed(each[reads_taken]) for cache, each in zip(caches, classes, strict=True)])
            )
            step_misses.append(count_by_step(classes[0], groups.ends))
            step_tokens.append(groups.lookups)
            tokens, steps = tokens + len(piece.counts), steps + len(groups.ends)
            references, reads = references + int(piece.references.sum(dtype=np.int64)), reads + len(piece.ids)
            progress(len(piece.counts))
        cuts = np.arange(parts := min(_PARTS, steps)) * steps // parts
        per_part = [np.add.reduceat(np.concatenate(each), cuts) for each in (step_misses, step_tokens)]
        return Demand(
            workload, tokens, steps, references, reads, np.concatenate([cache.misses for cache in caches]),
            per_part[0] / per_part[1], joined(kept), np.concatenate(missed, axis=1),
        )  # fmt: skip


class _Caches:
    """Caches of ``capacities`` pages as ``warm`` has left them, without those in ``held``: bool, shape (pages,), pages
    that never miss; None = none."""

    def __init__(self, capacities: Sequence[int], warm: Warm, held: np.ndarray | None) -> None:
        self._sweep, self._held = LruSweep(capacities, warm.layout.pages, warm.backend), held
        self._capacities = len(capacities)
        run_unpinned(self._sweep, warm.recency, held)
        self._sweep.mark()

    def run(self, ids: np.ndarray) -> np.ndarray:
        """Read ``ids``; return uint8, shape (ids,): at how many of the capacities each missed."""
        classes = np.empty(len(ids), np.uint8)
        run_unpinned(self._sweep, ids, self._held, classes)
        return classes

    def missed(self, classes: np.ndarray) -> np.ndarray:
        """bool, shape (capacities, ids): which missed, of what :meth:`run` returned."""
        return classes > np.arange(self._capacities)[:, None]

    @property
    def misses(self) -> np.ndarray:
        """int64, shape (capacities,), after the text before."""
        return self._sweep.misses_since_mark


def _share(layout: Layout, workload: Workload, tokens: int) -> float:
    """The share of the steps to keep."""
    each = workload.streams or workload.prefill
    steps = max(1, tokens // each)
    return min(1.0, max(KEPT_REFERENCES / (tokens * max(layout.reads_per_token, 1e-9)), KEPT_STEPS / steps))


def _taken(first: int, steps: int, share: float) -> np.ndarray:
    """bool, shape (steps,): which of the steps from number ``first`` on to keep: one of each 1 / share, at a place that
    a Weyl sequence draws, for a comb would see one phase of a text that repeats itself."""
    parts = np.arange(int(first * share), int((first + steps) * share) + 1)
    places = ((parts + parts * _GOLDEN % 1) / share).astype(np.int64) - first
    taken = np.zeros(steps, bool)
    taken[places[(places >= 0) & (places < steps)]] = True
    return taken


def counted_tokens(tokens: int, most: int = 500_000) -> int:
    """How many of ``tokens`` are counted; the rest comes before, to warm the cache. Raises UsageError for too few."""
    if tokens < 4:
        raise UsageError(f"{tokens} tokens: 4 or more are needed, to warm a cache with some and count the others")
    return min(tokens // 4, most)
