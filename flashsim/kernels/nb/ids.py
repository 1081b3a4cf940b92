"""Twin of ``csim/ids.h``."""

import numpy as np
from numba import njit


@njit(inline="always")
def in_range(ids, pages):
    """How many of ``ids`` come before the first that is not below ``pages``."""
    largest = np.uint32(0)
    for i in range(len(ids)):
        largest = max(largest, ids[i])
    if largest < pages:
        return len(ids)
    good = 0
    while good < len(ids) and ids[good] < pages:
        good += 1
    return good


@njit(inline="always")
def soon_of(trace, at, taken):
    """The ids whose memory is to be loaded while the ``taken`` from ``at`` on are worked on: the next, or the last."""
    return trace[len(trace) - taken if len(trace) - at < 2 * taken else at + taken :]
