"""How often ids come."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def add_counts(ids, counts):
    """Add 1 to ``counts`` for each of ``ids``, below its length."""
    for id in ids:
        counts[id] += 1


@njit(cache=True, nogil=True)
def count_by_step(classes, ends):
    """int64, shape (steps,): how many of ``classes`` are above 0 in each step; ``ends``: int64, where each ends."""
    found, begin = np.zeros(len(ends), np.int64), 0
    for step in range(len(ends)):
        for at in range(begin, ends[step]):
            found[step] += classes[at] > 0
        begin = ends[step]
    return found
