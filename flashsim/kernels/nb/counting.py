"""How often ids come."""

from numba import njit


@njit(cache=True, nogil=True)
def add_counts(ids, counts):
    """Add 1 to ``counts`` for each of ``ids``, below its length."""
    for id in ids:
        counts[id] += 1
