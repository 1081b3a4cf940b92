"""One cache split by table against a shared one: an LRU cache of its own for each part of the ids."""

from collections.abc import Sequence

import numpy as np

from flashsim.cache.lru import LruSweep, Marked
from flashsim.errors import UsageError
from flashsim.units import number_of


class SplitLru(Marked):
    """LRU caches that each part of a table has to itself, an equal share of every capacity each.

    capacities: pages of all parts together. starts: the first id of each part, increasing, the first 0. pages: every id
    is below this. Raises UsageError where a capacity is smaller than the number of parts.
    """

    def __init__(self, capacities: Sequence[int], starts: Sequence[int], pages: int, backend: str = "c") -> None:
        if min(capacities) < len(starts):
            raise UsageError(
                f"a cache of {number_of(min(capacities), 'page')} cannot be split in {len(starts)}: take a larger one"
            )
        self._edges = [*starts, pages]
        shares = [capacity // len(starts) for capacity in capacities]
        sizes = [max(1, last - first) for first, last in zip(self._edges, self._edges[1:], strict=False)]
        self._parts = [LruSweep(shares, size, backend) for size in sizes]

    def run(self, trace: np.ndarray) -> None:
        """Go on with ``trace``: uint32, every id below ``pages``."""
        part = np.searchsorted(self._edges[1:-1], trace, side="right").astype(np.uint8)
        for index, cache in enumerate(self._parts):
            cache.run(trace[part == index] - np.uint32(self._edges[index]))

    @property
    def misses(self) -> np.ndarray:
        """int64, shape (capacities,): misses so far of all parts, cold ones included."""
        return np.sum([cache.misses for cache in self._parts], axis=0)

    @property
    def distinct(self) -> int:
        """Pages touched so far."""
        return sum(cache.distinct for cache in self._parts)

    def check(self) -> None:
        """See :meth:`LruSweep.check`."""
        for cache in self._parts:
            cache.check()
