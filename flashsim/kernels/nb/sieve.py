"""Twin of ``csim/sieve.c``, which says what the records hold."""

import numpy as np
from numba import njit

from flashsim.kernels.nb.policy import look, policy, wrapped


@njit(inline="always")
def _turn(reg):
    if reg[2] == 0:
        reg[1] = 0
        reg[2] = reg[3]
        reg[3] = 0
        reg[4] ^= 1


@njit(inline="always")
def _evict(capacity, page, slot, reg):
    left = np.int64(1)
    while left:
        oldest = look(page, slot, reg[4] * capacity, reg[1], capacity)
        reg[1] = wrapped(reg[1] + 1, capacity)
        reg[2] -= 1
        left = np.int64(page[oldest, 0]) - 1
        page[oldest, 0] = left
        if left:
            slot[(reg[4] ^ 1) * capacity + reg[3], 0] = oldest
            reg[3] += 1
        _turn(reg)


@njit(inline="always")
def _access(capacity, page, slot, reg, x):
    if page[x, 0]:
        page[x, 0] = 2
        return False
    if reg[2] + reg[3] == capacity:
        _evict(capacity, page, slot, reg)
    slot[reg[4] * capacity + wrapped(reg[1] + reg[2], capacity), 0] = x
    reg[2] += 1
    page[x, 0] = 1
    return True


sieve_run = policy(_access)
