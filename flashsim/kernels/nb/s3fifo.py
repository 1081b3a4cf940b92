"""Twin of ``csim/s3fifo.c``, which says what the records hold."""

import numpy as np
from numba import njit

from flashsim.kernels.nb.policy import look, policy, queued, wrapped
from flashsim.kernels.state import GONE

_MOST, _TO_MAIN, _SMALL, _MAIN, _GHOST = 3, 2, 4, 8, 12


@njit(inline="always")
def _pop(page, slot, base, reg, ring, length):
    popped = look(page, slot, base, reg[ring], length)
    reg[ring] = wrapped(reg[ring] + 1, length)
    reg[ring + 1] -= 1
    return popped


@njit(inline="always")
def _push(slot, base, reg, ring, length, x):
    at = wrapped(reg[ring] + reg[ring + 1], length)
    slot[base + at, 0] = x
    reg[ring + 1] += 1
    return at


@njit(nogil=True)
def _compact(page, slot, base, reg, length):
    at = to = reg[5]
    for _ in range(reg[6]):
        x = look(page, slot, base, at, length)
        if page[x, 0] == _GHOST + at:
            slot[base + to, 0] = x
            page[x, 0] = _GHOST + to
            to = wrapped(to + 1, length)
        at = wrapped(at + 1, length)
    reg[6] = reg[7]


@njit(inline="always")
def _remember(capacity, page, slot, reg, x):
    size = capacity * 9 // 10
    base, length = max(1, capacity // 10) + capacity, 2 * size
    page[x, 0] = GONE
    if size == 0:
        return
    while reg[7] == size:
        at = reg[5]
        oldest = _pop(page, slot, base, reg, 5, length)
        if page[oldest, 0] == _GHOST + at:
            page[oldest, 0] = GONE
            reg[7] -= 1
    if reg[6] == length:
        _compact(page, slot, base, reg, length)
    page[x, 0] = _GHOST + _push(slot, base, reg, 5, length, x)
    reg[7] += 1


@njit(inline="always")
def _evict_small(capacity, page, slot, reg):
    size = max(1, capacity // 10)
    while reg[2]:
        oldest = _pop(page, slot, 0, reg, 1, size)
        if page[oldest, 0] < _SMALL + _TO_MAIN:
            _remember(capacity, page, slot, reg, oldest)
            break
        page[oldest, 0] = _MAIN
        _push(slot, size, reg, 3, capacity, oldest)


@njit(inline="always")
def _evict_main(capacity, page, slot, reg):
    size = max(1, capacity // 10)
    while True:
        oldest = _pop(page, slot, size, reg, 3, capacity)
        if page[oldest, 0] == _MAIN:
            page[oldest, 0] = GONE
            break
        page[oldest, 0] -= 1
        _push(slot, size, reg, 3, capacity, oldest)


@njit(inline="always")
def _access(capacity, page, slot, reg, x):
    record = np.int64(page[x, 0])
    if _SMALL <= record < _GHOST:
        page[x, 0] = record + (record % 4 < _MOST)
        return False
    size = max(1, capacity // 10)
    ghost = queued(record)
    if ghost:
        page[x, 0] = GONE
        reg[7] -= 1
    while reg[2] + reg[4] == capacity:
        if reg[2] and reg[4] <= capacity - size:
            _evict_small(capacity, page, slot, reg)
        else:
            _evict_main(capacity, page, slot, reg)
        reg[8] = 1
    if ghost or (not reg[8] and reg[2] == size):
        page[x, 0] = _MAIN
        _push(slot, size, reg, 3, capacity, x)
    else:
        page[x, 0] = _SMALL
        _push(slot, 0, reg, 1, size, x)
    return True


s3fifo_run = policy(_access)
