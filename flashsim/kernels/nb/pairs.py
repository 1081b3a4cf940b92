"""Which rows n-grams share, for :mod:`flashsim.studies.collisions`."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def row_sums(rows, members, counts):
    """(sum of occupancy^2, pairs in one row, sum of counts^2 / their row's sum) over the rows of one head.

    rows: uint32, the row of each n-gram, sorted. members: which n-gram that is. counts: its lookups, by n-gram.
    """
    squares, pairs, own, first = 0, 0, 0.0, 0
    while first < len(rows):
        last, lookups, own_lookups = first, 0, 0.0
        while last < len(rows) and rows[last] == rows[first]:
            count = np.int64(counts[members[last]])
            lookups += count
            own_lookups += float(count) * count
            last += 1
        occupancy = last - first
        squares += occupancy * occupancy
        pairs += occupancy * (occupancy - 1) // 2
        own += own_lookups / lookups
        first = last
    return squares, pairs, own


@njit(cache=True, nogil=True)
def count_shared(all_rows, head, shared):
    """Of every pair of n-grams with the same row of ``head``, count the heads that it shares: ``shared[c]`` += 1.

    all_rows: uint32, shape (n-grams, heads), sorted by the row of ``head``. shared: int64, shape (heads + 1,).
    """
    first = 0
    while first < len(all_rows):
        last = first + 1
        while last < len(all_rows) and all_rows[last, head] == all_rows[first, head]:
            last += 1
        _count_all(all_rows[first:last], shared)
        first = last


@njit(cache=True, nogil=True)
def _count_all(rows, shared):
    for j in range(len(rows)):
        for i in range(j):
            same = 0
            for head in range(rows.shape[1]):
                same += rows[i, head] == rows[j, head]
            shared[same] += 1


@njit(cache=True, nogil=True)
def draw_shared(all_rows, head, draws, shared):
    """As :func:`count_shared`, of some of the pairs. draws: int64, sorted, numbers of pairs: row by row, and of m
    n-grams in a row, pair t is that of number t mod m and the one t div m + 1 after it, around the end."""
    first, before, at = 0, 0, 0
    while at < len(draws):
        last = first + 1
        while last < len(all_rows) and all_rows[last, head] == all_rows[first, head]:
            last += 1
        occupancy = last - first
        through = before + occupancy * (occupancy - 1) // 2
        while at < len(draws) and draws[at] < through:
            after, one = divmod(draws[at] - before, occupancy)
            other = (one + after + 1) % occupancy
            _count_all(all_rows[np.array([first + one, first + other])], shared)
            at += 1
        first, before = last, through
