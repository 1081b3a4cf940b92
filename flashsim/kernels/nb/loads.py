"""What each of several drives reads, step by step, for :mod:`flashsim.studies.drives`."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def count_loads(drives, classes, ends, loads, rises):
    """Add the references of whole steps to ``loads`` and ``rises``.

    drives: uint8, shape (references,), where each lies. classes: uint8, likewise. ends: int64, increasing, the last
    (references): where each step ends. loads: int64, shape (classes, drives): how many of each class each drive reads.
    rises: int64, shape (classes,): by how much each class, met after all higher ones, raises the most that one drive
    reads in a step: summed from the highest class down, the busiest drives' reads of that class or higher.
    """
    step, held = np.zeros_like(loads), np.empty(loads.shape[1], np.int64)
    first = 0
    for end in ends:
        low, high = len(rises), 0
        for i in range(first, end):
            c = np.int64(classes[i])
            step[c, drives[i]] += 1
            low, high = min(low, c), max(high, c)
        first, most, held[:] = end, 0, 0
        for c in range(high, low - 1, -1):
            before = most
            for drive in range(len(held)):
                reads = step[c, drive]
                step[c, drive] = 0
                loads[c, drive] += reads
                held[drive] += reads
                most = max(most, held[drive])
            rises[c] += most - before
