"""Twin of ``csim/random.c``, which says what the records hold."""

import numpy as np
from numba import njit

from flashsim.kernels.nb.address import mix13
from flashsim.kernels.nb.policy import policy, queued
from flashsim.kernels.state import GONE


@njit(inline="always")
def _drawn(capacity, seed, draw):
    z = mix13(np.uint64(seed) + np.uint64(draw) * np.uint64(0x9E3779B97F4A7C15))
    size, half = np.uint64(capacity), np.uint64(32)
    return np.int64(((z >> half) * size + ((z & np.uint64(0xFFFFFFFF)) * size >> half)) >> half)


@njit(inline="always")
def _access(capacity, page, slot, reg, x):
    if queued(page[x, 0]):
        return False
    at = reg[1]
    if at == capacity:
        reg[2] += 1
        at = _drawn(capacity, reg[3], reg[2])
        page[slot[at, 0], 0] = GONE
    else:
        reg[1] = at + 1
    slot[at, 0] = x
    page[x, 0] = at + 1
    return True


random_run = policy(_access)
