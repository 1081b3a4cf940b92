"""Will the cache warm itself, and how long does it take? Misses of LRU caches per window of tokens.

*Cold start* is what the first windows cost, where most misses are first touches; *steady state* is where the cost stays
from some window on. One pass serves every cache size; the cache starts empty, or from a saved state. A page loaded
before the first token saves one read if it is asked for before it is evicted, and none if not: from there on the cache
is what it would be without it. So loading never saves more reads than it makes.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from flashsim.cache.lru import LruSweep
from flashsim.errors import UsageError
from flashsim.studies.cells import Cell, Counted, capacities_of, check_ids, names_of, steps, unit_bytes
from flashsim.units import number_of

COLUMNS = (
    "corpus", "synthetic", "layout", "S", "params", "label", "unit", "table_bytes", "page_bytes", "cache_bytes",
    "capacity_pages", "window", "first_token", "tokens", "reads", "misses", "cold_misses", "saved_reads",
    "reads_per_token",
)  # fmt: skip
WINDOWS_LEAST, WINDOWS_MOST = 4, 10_000  # whole ones: for a last quarter; a picture shows no more
COLD_SHARE = 0.5  # over it, first touches still dominate the misses


class Verdict(NamedTuple):
    """What the windows of one cache size say. The last quarter is that of the whole windows; a shorter one at the end
    is not judged.

    first, last_quarter: reads/token of the first window, and the mean of the last quarter. cold_share: first touches
    among the misses of the last quarter. off: the farthest that a window of the last quarter is off its mean, as a part
    of it. tokens_to_full: tokens after which as many pages as the cache holds were touched, exactly; 0 = full at the
    start, None = never. tokens_to_steady: tokens before the first window from which on every window is within the
    tolerance of the last quarter's mean; None = no steady state: a window of the last quarter is out, or
    ``cold_share`` is over COLD_SHARE.
    """

    first: float
    last_quarter: float
    cold_share: float
    off: float
    tokens_to_full: int | None
    tokens_to_steady: int | None

    @property
    def steady(self) -> float | None:
        """Reads/token in steady state, None where there is none."""
        return None if self.tokens_to_steady is None else self.last_quarter


@dataclass(frozen=True)
class ColdStart:
    """The windows of one cell.

    sizes, capacities: the caches in bytes and pages, increasing. first_token, tokens, reads, cold: int64, shape
    (windows,): position of each window in the source, its tokens, page references and first touches. misses: int64,
    shape (windows, sizes). saved: likewise, the reads fewer than an empty start would have made; their sum is the
    number of loaded pages that were used. loaded: pages that each cache held at the start. tokens_to_full: see
    :class:`Verdict`, by size. recency: the state at the end (see ``LruSweep.recency``).
    """

    names: dict[str, Any]
    unit_bytes: int
    sizes: list[int]
    capacities: list[int]
    first_token: np.ndarray
    tokens: np.ndarray
    reads: np.ndarray
    cold: np.ndarray
    misses: np.ndarray
    saved: np.ndarray
    loaded: list[int]
    tokens_to_full: list[int | None]
    recency: np.ndarray

    def verdict(self, index: int, within: float = 0.1) -> Verdict:
        """The verdict on ``sizes[index]``. within: the tolerance, as a part of the last quarter's mean."""
        whole = int(np.count_nonzero(self.tokens == self.tokens[0]))
        misses = self.misses[:whole, index]
        last = slice(whole - whole // 4, whole)
        mean, cold = misses[last].mean(), int(self.cold[last].sum())
        off = np.abs(misses - mean)
        out = np.flatnonzero(off > within * mean)
        settled = int(out[-1]) + 1 if len(out) else 0
        missed = int(misses[last].sum())
        steady = settled <= last.start and cold <= COLD_SHARE * missed
        window = int(self.tokens[0])
        return Verdict(
            first=int(misses[0]) / window,
            last_quarter=float(mean) / window,
            cold_share=cold / missed if missed else 0.0,
            off=float(off[last].max() / mean) if mean else 0.0,
            tokens_to_full=self.tokens_to_full[index],
            tokens_to_steady=settled * window if steady else None,
        )

    def table(self):
        """A DataFrame of COLUMNS: a row for each cache and window."""
        import pandas as pd

        tables = [
            pd.DataFrame(
                self.names
                | {
                    "page_bytes": self.unit_bytes,
                    "cache_bytes": size,
                    "capacity_pages": capacity,
                    "window": np.arange(len(self.tokens)),
                    "first_token": self.first_token,
                    "tokens": self.tokens,
                    "reads": self.reads,
                    "misses": misses,
                    "cold_misses": self.cold,
                    "saved_reads": saved,
                    "reads_per_token": misses / self.tokens,
                }
            )
            for size, capacity, misses, saved in zip(
                self.sizes, self.capacities, self.misses.T, self.saved.T, strict=True
            )
        ]
        return pd.concat(tables, ignore_index=True)[list(COLUMNS)]


def check(cell: Cell, sizes: Sequence[int], window: int) -> list[int]:
    """The pages that each of ``sizes`` bytes holds. Raises UsageError where :func:`cold_start` could not run."""
    capacities = capacities_of(cell, sizes)
    if window < 1 or not WINDOWS_LEAST <= cell.tokens // window <= WINDOWS_MOST:
        least, most = -(-cell.tokens // WINDOWS_MOST), cell.tokens // WINDOWS_LEAST
        if not most:
            raise UsageError(f"{number_of(cell.tokens, 'token')}: {WINDOWS_LEAST} windows take {WINDOWS_LEAST} or more")
        raise UsageError(
            f"--window {window}: {cell.tokens} tokens are not {WINDOWS_LEAST} to {WINDOWS_MOST} windows of it: "
            f"take {least} to {most}"
        )
    check_ids(cell)
    return capacities


def cold_start(
    cell: Cell,
    sizes: Sequence[int],
    window: int,
    *,
    warm: np.ndarray | None = None,
    backend: str = "c",
    progress: Callable[[int], None] = lambda tokens: None,
) -> ColdStart:
    """Misses of LRU caches of ``sizes`` bytes in each ``window`` tokens of one source through one layout.

    warm: pages in order of recency, oldest first, that the caches hold at the start (see ``load_state``); None = empty.
    Raises UsageError as :func:`check` does. Memory: that of ``LruSweep``, twice with ``warm``, and 1 B an id.
    """
    sizes = sorted(set(sizes))
    capacities = check(cell, sizes, window)
    warm = np.zeros(0, np.uint32) if warm is None else warm
    sweep = LruSweep(capacities, cell.ids_below, backend)
    sweep.run(warm)
    empty = LruSweep(capacities, cell.ids_below, backend) if len(warm) else sweep
    edges = [*range(cell.begin, cell.end, window), cell.end]
    counts, misses, saved, cold = [], [], [], []
    for first, last in pairwise(edges):
        sweep.mark(), empty.mark()
        counted = Counted()
        for ids, step in steps(cell, first, last, backend):
            sweep.run(ids)
            if empty is not sweep:
                empty.run(ids)
            counted += step
            progress(step.tokens)
        counts.append((counted.tokens, counted.reads))
        misses.append(sweep.misses_since_mark)
        saved.append(empty.misses_since_mark - misses[-1])
        cold.append(sweep.cold_since_mark)
    sweep.check()
    tokens, reads = np.array(counts, np.int64).T
    to_full = _tokens_to_full(cell, [c for c in capacities if c <= sweep.distinct], warm, backend)
    return ColdStart(
        names=names_of(cell),
        unit_bytes=unit_bytes(cell),
        sizes=sizes,
        capacities=capacities,
        first_token=np.array(edges[:-1], np.int64),
        tokens=tokens,
        reads=reads,
        cold=np.array(cold, np.int64),
        misses=np.array(misses, np.int64),
        saved=np.array(saved, np.int64),
        loaded=[min(capacity, len(warm)) for capacity in capacities],
        tokens_to_full=[to_full.get(capacity) for capacity in capacities],
        recency=sweep.recency,
    )


_STRIDE = 1 << 16  # tokens


def _tokens_to_full(cell: Cell, capacities: Sequence[int], warm: np.ndarray, backend: str) -> dict[int, int]:
    """Tokens of the cell after which each of ``capacities`` pages, which all fill up, is full."""
    seen, distinct = np.zeros(cell.ids_below, bool), len(warm)
    seen[warm] = True
    full = {capacity: 0 for capacity in capacities if capacity <= distinct}
    for first in range(cell.begin, cell.end, _STRIDE):
        if len(full) == len(set(capacities)):
            break
        before = 0  # reads since `first`
        for ids, _ in steps(cell, first, min(first + _STRIDE, cell.end), backend):
            unseen = np.flatnonzero(~seen[ids])
            touches = np.sort(unseen[np.unique(ids[unseen], return_index=True)[1]])  # the first touch of each page
            for capacity in capacities:
                if distinct < capacity <= distinct + len(touches):
                    read = before + int(touches[capacity - distinct - 1])
                    full[capacity] = _token_of(cell, first, read, backend) - cell.begin + 1
            seen[ids] = True
            distinct += len(touches)
            before += len(ids)
    return full


def _token_of(cell: Cell, first: int, read: int, backend: str) -> int:
    """The token that makes read number ``read``, counted from those of token ``first``."""

    def reads_before(token: int) -> int:
        return sum(step.reads for _, step in steps(cell, first, token, backend))

    return first + bisect_right(range(first, cell.end + 1), read, key=reads_before) - 1
