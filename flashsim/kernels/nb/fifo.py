"""Twin of ``csim/fifo.c``, which says what the records hold."""

import numpy as np
from numba import njit

from flashsim.kernels.nb.policy import policy


@njit(nogil=True)
def _renumber(capacity, page, reg):
    gone = reg[1] - min(reg[1], capacity)
    for x in range(len(page)):
        page[x, 0] = max(np.int64(page[x, 0]) - gone, 0)
    reg[1] -= gone


@njit(inline="always")
def _access(capacity, page, slot, reg, x):
    inserted = np.int64(page[x, 0])
    if inserted and reg[1] - inserted < capacity:
        return False
    if reg[1] == 2**32 - 1:
        _renumber(capacity, page, reg)
    reg[1] += 1
    page[x, 0] = reg[1]
    return True


fifo_run = policy(_access)
