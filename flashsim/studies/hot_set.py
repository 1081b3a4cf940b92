"""Is there a hot set? Which share of the pages takes which share of the reads, and does it stay the same pages?

Counts are exact. Pages read equally often are a group, within which it is left open which comes first: a share that
ends inside one is the mean over every choice. Where the group is scored by its own counts, that is no average but the
value itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from flashsim.errors import UsageError
from flashsim.kernels.nb.counting import add_counts
from flashsim.studies.cells import Cell, Counted, check_ids, names_of, steps, unit_bytes
from flashsim.studies.estimate import reads_of, require_memory

COLUMNS = (
    "corpus", "synthetic", "layout", "S", "params", "label", "unit", "table_bytes", "page_bytes", "orders", "tokens",
    "reads", "distinct_pages", "hottest_pages", "hottest_bytes", "touched_share", "table_share", "read_share",
    "later_read_share", "later_bound",
)  # fmt: skip
PERCENTS = (10, 25, 50, 75, 90, 95, 99)  # of the reads
POINTS_PER_OCTAVE = 8
_SLICE = 1 << 22  # ids taken at a time
_READS_SPARSE = 4  # fewer reads than a table has ids over this take less memory sorted
_READ_BYTES, _DISTINCT_BYTES = 13, 24  # of a read that is sorted, and of an id that was read


@dataclass(frozen=True)
class Ranking:
    """Ids by how often they were read, most first. pages, reads: int64, cumulative from 0 on, over the groups of ids
    that were read equally often: how many they are, and the reads that they are scored by. total: all of those reads,
    also of ids that the ranking does not have."""

    pages: np.ndarray
    reads: np.ndarray
    total: int

    @classmethod
    def of(cls, counts: np.ndarray, scored: np.ndarray) -> "Ranking":
        """The ids by ``counts``, those that were read, scored by their ``scored`` reads. Both of shape (ids,)."""
        slices = [slice(begin, begin + _SLICE) for begin in range(0, len(counts), _SLICE)]
        values = np.unique(np.concatenate([np.unique(counts[ids]) for ids in slices]))[::-1]  # most first
        values = values[values > 0]
        pages, reads = np.zeros(len(values) + 1, np.int64), np.zeros(len(values) + 1)  # cumulative below: 0 at first
        for ids in slices:
            read = np.flatnonzero(counts[ids])
            group = len(values) - np.searchsorted(values[::-1], counts[ids][read])
            pages += np.bincount(group, minlength=len(pages))
            reads += np.bincount(group, scored[ids][read], len(reads))  # float64: exact up to 2^53
        return cls(np.cumsum(pages), np.cumsum(reads.astype(np.int64)), int(scored.sum(dtype=np.int64)))

    def share(self, pages: np.ndarray) -> np.ndarray:
        """float64: the share of the reads that the first of the ranking take, for numbers of ``pages``."""
        return np.interp(pages, self.pages, self.reads) / self.total

    def pages_for(self, percent: int) -> int:
        """The fewest pages that take ``percent`` of the reads, of a ranking that is scored by its own counts."""
        wanted = -(-self.total * percent // 100)
        group = int(np.searchsorted(self.reads, wanted)) - 1
        pages, reads = (np.diff(values[group : group + 2])[0] for values in (self.pages, self.reads))
        return int(self.pages[group] - (self.reads[group] - wanted) * pages // reads)


@dataclass(frozen=True)
class Part:
    """The whole table, or an order's part of it. orders: as the CSV has them, "2+3" or "2". ids: of the part. whole:
    by all reads. later: by those of the first half of the tokens, scored by those of the second; bound: by the second
    half itself, the most that any choice could take there."""

    orders: str
    ids: int
    whole: Ranking
    later: Ranking
    bound: Ranking

    @property
    def distinct(self) -> int:
        """Pages touched."""
        return int(self.whole.pages[-1])


@dataclass(frozen=True)
class HotSet:
    """The hot set of one cell. ids: uint32, shape (distinct,), rising: those that were read; counts: uint32, how often.
    parts: the whole table, then the orders that have a part of their own, if there are several."""

    names: dict[str, Any]
    unit_bytes: int
    tokens: int
    ids: np.ndarray
    counts: np.ndarray
    parts: list[Part]

    @property
    def coldest_first(self) -> np.ndarray:
        """uint32, shape (distinct,): the ids read, the most read last: loaded in this order, they are what LRU keeps
        longest. Of those read equally often the smaller ids are last, as :func:`flashsim.cache.pin.most_read` has it.
        """
        return self.ids[::-1][np.argsort(self.counts[::-1], kind="stable")]

    def table(self):
        """A DataFrame of COLUMNS: a row for each part and number of hottest pages, POINTS_PER_OCTAVE an octave, and
        for each of PERCENTS the fewest that take so much of the reads."""
        import pandas as pd

        return pd.concat([self._table(part) for part in self.parts], ignore_index=True)[list(COLUMNS)]

    def _table(self, part: Part):
        import pandas as pd

        octaves = np.arange(0, np.log2(part.distinct) + 1e-9, 1 / POINTS_PER_OCTAVE)
        fewest = [part.whole.pages_for(percent) for percent in PERCENTS]
        pages = np.unique([*np.round(2**octaves).astype(np.int64), *fewest, part.distinct])
        return pd.DataFrame(
            self.names
            | {
                "page_bytes": self.unit_bytes,
                "orders": part.orders,
                "tokens": self.tokens,
                "reads": part.whole.total,
                "distinct_pages": part.distinct,
                "hottest_pages": pages,
                "hottest_bytes": pages * self.unit_bytes,
                "touched_share": pages / part.distinct,
                "table_share": pages / part.ids,
                "read_share": part.whole.share(pages),
                "later_read_share": part.later.share(pages),
                "later_bound": part.bound.share(pages),
            }
        )


def check(cell: Cell) -> None:
    """Raise UsageError where :func:`hot_set` could not run, for want of memory too."""
    check_ids(cell)
    require_memory(memory_bytes(cell), [cell], "take fewer --tokens")
    if cell.tokens < 2:
        raise UsageError(f"{cell.tokens} token has no 2 halves: take more --tokens")


def hot_set(cell: Cell, *, backend: str = "c", progress: Callable[[int], None] = lambda tokens: None) -> HotSet:
    """The hot set of one source through one layout. Every read counts, also a second one of the same token.

    Memory: see :func:`memory_bytes`. Raises UsageError as :func:`check` does, where a half of the tokens reads nothing,
    or where one id is read 2^32 times.
    """
    check(cell)
    half, counted, found = cell.begin + cell.tokens // 2, Counted(), []
    for first, last in ((cell.begin, half), (half, cell.end)):
        ids, counts, of_half = _read(cell, first, last, backend, progress)
        if not len(ids):
            raise UsageError(f"{last - first} of {cell.tokens} tokens read nothing, a half of them: take more --tokens")
        found.append((ids, counts))
        counted += of_half
    read = np.union1d(found[0][0], found[1][0])
    halves = np.zeros((2, len(read)), np.uint32)
    for row, (ids, counts) in zip(halves, found, strict=True):
        row[np.searchsorted(read, ids)] = counts
    del found
    whole = halves.sum(axis=0, dtype=np.uint32)
    if int(whole.sum(dtype=np.int64)) != counted.reads:
        raise UsageError(f"{counted.reads} reads, 2^32 or more of them of one id: take fewer --tokens")
    parts = []
    for orders, slices in _parts(cell):
        ids = sum(part.stop - part.start for part in slices)
        held = [slice(*np.searchsorted(read, (part.start, part.stop))) for part in slices]
        first, second, both = (_joined(counts, held) for counts in (*halves, whole))
        if first.any() and second.any():
            rankings = Ranking.of(both, both), Ranking.of(first, second), Ranking.of(second, second)
            parts.append(Part(orders, ids, *rankings))
    return HotSet(names_of(cell), unit_bytes(cell), counted.tokens, read, whole, parts)


def memory_bytes(cell: Cell) -> int:
    """What :func:`hot_set` takes, about."""
    reads = reads_of(cell)
    counting = _READ_BYTES * reads // 2 if _sparse(cell) else 4 * cell.ids_below
    return counting + _DISTINCT_BYTES * min(reads, cell.ids_below)


def _sparse(cell: Cell) -> bool:
    """Whether the text is so short for its table that its reads are sorted, not counted in an array of every id."""
    return reads_of(cell) < cell.ids_below // _READS_SPARSE


def _read(
    cell: Cell, first: int, last: int, backend: str, progress: Callable[[int], None]
) -> tuple[np.ndarray, np.ndarray, Counted]:
    """(ids, counts, what else was counted) of tokens [first, last): uint32, the ids read, rising, and how often."""
    counted, reads = Counted(), []
    counts = None if _sparse(cell) else np.zeros(cell.ids_below, np.uint32)
    for ids, step in steps(cell, first, last, backend):
        if counts is None:
            reads.append(ids.copy())
        else:
            add_counts(ids, counts)
        counted += step
        progress(step.tokens)
    if counts is None:
        ids, times = np.unique(np.concatenate(reads), return_counts=True)
        return ids, times.astype(np.uint32), counted
    ids = np.flatnonzero(counts).astype(np.uint32)
    return ids, counts[ids], counted


def _parts(cell: Cell) -> list[tuple[str, list[slice]]]:
    """The ids of the whole table, then of each order: (its name, where they are)."""
    orders = cell.layout.orders if cell.layout else cell.source.facts["layout"]["spec"]["ngrams"]["orders"]
    parts = [("+".join(map(str, orders)), [slice(0, cell.ids_below)])]
    if cell.layout is None or len(orders) == 1:
        return parts
    layout, each = cell.layout, 1
    try:
        if layout.layers > 1:  # orders within layers
            starts, each = layout.table_starts("head", cell.unit), layout.heads
        else:
            starts = layout.table_starts("order", cell.unit)
    except UsageError:  # one table for all orders, or pages that orders share
        return parts
    slices = [slice(*edges) for edges in pairwise([*starts[::each], cell.ids_below])]
    return parts + [(str(order), slices[at :: len(orders)]) for at, order in enumerate(orders)]


def _joined(counts: np.ndarray, slices: list[slice]) -> np.ndarray:
    """The counts of a part; no copy where it is in one piece."""
    return np.concatenate([counts[part] for part in slices]) if len(slices) > 1 else counts[slices[0]]
