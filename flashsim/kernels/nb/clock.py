"""Twin of ``csim/clock.c``, which says what the records hold."""

import numpy as np
from numba import njit

from flashsim.kernels.nb.policy import look, policy, queued, wrapped
from flashsim.kernels.state import GONE


@njit(inline="always")
def _touch(capacity, page, slot, reg, x, most):
    record = page[x, 0]
    if queued(record):
        page[x, 0] = record + (record <= most)
        return False
    at = reg[2]
    if at < capacity:
        reg[2] = at + 1
    else:
        hand, oldest, left = reg[1], np.int64(0), np.int64(1)
        while left:
            at = hand
            oldest = look(page, slot, 0, at, capacity)
            hand = wrapped(at + 1, capacity)
            left = np.int64(page[oldest, 0]) - 1
            page[oldest, 0] = left
        page[oldest, 0] = GONE
        reg[1] = hand
    slot[at, 0] = x
    page[x, 0] = 1
    return True


@njit(inline="always")
def _clock(capacity, page, slot, reg, x):
    return _touch(capacity, page, slot, reg, x, 1)


@njit(inline="always")
def _clock2(capacity, page, slot, reg, x):
    return _touch(capacity, page, slot, reg, x, 3)


clock_run, clock2_run = policy(_clock), policy(_clock2)
