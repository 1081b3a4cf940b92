"""Exact LRU, every capacity of a list in one pass.

An LRU cache of C pages holds the C pages touched last, whatever the trace (Mattson et al., "Evaluation techniques for
storage hierarchies", IBM Systems Journal 9(2), 1970): so more cache never misses more, and one pass serves every size.
"""

import operator
from collections.abc import Sequence

import numpy as np

from flashsim.errors import UsageError
from flashsim.kernels import backend as kernels_of

PAGES_MAX = 2**31 - 2**10  # page ids that the kernels' time slots can hold


def whole_pages(capacities: Sequence[int]) -> list[int]:
    """``capacities`` as Python integers. Raises UsageError unless there are some, whole and of 1 page or more."""
    try:
        wanted = [operator.index(capacity) for capacity in capacities]
    except TypeError:
        wanted = []
    if not wanted or min(wanted) < 1:
        raise UsageError(f"capacities {capacities!r}: give at least one, each a whole number of 1 page or more")
    return wanted


class Marked:
    """Counts since a moment, for caches that have ``misses`` and ``distinct``: what came before was warm-up."""

    _misses_before: np.ndarray | int = 0
    _distinct_before = 0

    def mark(self) -> None:
        """Count from now on."""
        self._misses_before, self._distinct_before = self.misses, self.distinct

    @property
    def misses_since_mark(self) -> np.ndarray:
        """int64, shape (capacities,): misses since :meth:`mark`."""
        return self.misses - self._misses_before

    @property
    def cold_since_mark(self) -> int:
        """First touches since :meth:`mark`."""
        return self.distinct - self._distinct_before


class LruSweep(Marked):
    """LRU caches of several capacities fed by one trace in pieces.

    capacities: pages each, any order, at least 1. pages: every id is below this. Raises UsageError for others.
    """

    def __init__(self, capacities: Sequence[int], pages: int, backend: str = "c") -> None:
        wanted = whole_pages(capacities)
        if pages > PAGES_MAX:
            raise UsageError(f"{pages} different ids are over {PAGES_MAX}: take --unit page or a smaller table")
        self._order = np.unique(wanted, return_inverse=True)[1]
        self._kernel = kernels_of(backend).Lru(np.unique(wanted), pages)

    def run(self, trace: np.ndarray, classes: np.ndarray | None = None) -> None:
        """Go on with ``trace``: uint32, contiguous, every id below ``pages``. classes: uint8, same length, or None:
        receives for each reference how many of the different capacities missed, which are the smallest ones."""
        self._kernel.run(trace, classes)

    @property
    def misses(self) -> np.ndarray:
        """int64, shape (capacities,), in the order given: misses so far, cold ones included."""
        return self._kernel.misses[self._order]

    @property
    def distinct(self) -> int:
        """Pages touched so far, each a cold miss at every capacity."""
        return self._kernel.distinct

    @property
    def recency(self) -> np.ndarray:
        """uint32, shape (distinct,): the pages touched so far, oldest last access first. The last C of them are what a
        cache of C pages holds: run through an empty sweep, they bring every capacity to the same state."""
        return self._kernel.recency

    def check(self) -> None:
        """The invariants of LRU: more cache never misses more, and every page touched missed once."""
        by_capacity = self._kernel.misses
        assert (np.diff(by_capacity) <= 0).all() and (by_capacity >= self.distinct).all()


def lru_misses(pages: np.ndarray, capacities: Sequence[int], backend: str = "c") -> np.ndarray:
    """Misses of LRU caches of ``capacities`` pages, empty at first, over the page ids ``pages``.

    pages: integers >= 0, shape (references,). Returns int64, shape (capacities,), cold misses included.
    Raises UsageError for a capacity below 1 or ids that are negative or not integers.
    """
    trace = np.asarray(pages)
    if trace.ndim != 1 or (trace.size and trace.dtype.kind not in "iu") or (trace.size and trace.min() < 0):
        raise UsageError(f"page ids must be 1-D integers >= 0, not {trace.ndim}-D {trace.dtype}: renumber them")
    largest = int(trace.max(initial=0))
    if largest > 4 * len(trace) + (1 << 20):  # far apart: number them densely
        trace = np.unique(trace, return_inverse=True)[1]
        largest = int(trace.max(initial=0))
    sweep = LruSweep(capacities, largest + 1, backend)
    sweep.run(np.ascontiguousarray(trace, np.uint32))
    return sweep.misses
