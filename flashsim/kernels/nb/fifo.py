"""Twin of ``csim/fifo.c``, which says what the records hold."""

import numpy as np
from numba import njit

from flashsim.kernels.nb.policy import policy, queued
from flashsim.kernels.state import GONE


@njit(nogil=True)
def _renumber(capacity, page, reg):
    gone = reg[1] - capacity
    for x in range(len(page)):
        if page[x, 0]:
            page[x, 0] = page[x, 0] - gone if page[x, 0] > gone and queued(page[x, 0]) else GONE
    reg[1] -= gone


@njit(inline="always")
def _access(capacity, page, slot, reg, x):
    if reg[1] == GONE - 1:
        _renumber(capacity, page, reg)
    inserted = np.int64(page[x, 0])
    miss = (reg[1] - inserted) & 0xFFFFFFFF >= capacity  # in 32 bits GONE is old too
    reg[1] += miss
    page[x, 0] = reg[1] if miss else inserted
    return miss


fifo_run = policy(_access)
