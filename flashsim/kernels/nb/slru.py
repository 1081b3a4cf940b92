"""Twin of ``csim/slru.c``, which says what the records hold."""

import numpy as np
from numba import njit

from flashsim.kernels.nb.policy import look, policy, queued, wrapped
from flashsim.kernels.state import GONE

_OLDEST, _ENTRIES, _PAGES = 4, 5, 6


@njit(inline="always")
def _size_of(capacity, segment):
    quarter = capacity // 4
    return quarter if segment else capacity - 3 * quarter


@njit(nogil=True)
def _compact(page, slot, reg, segment):
    length = len(slot) // 4
    base, row = segment * length, 4 * segment
    at = to = reg[row + _OLDEST]
    for _ in range(reg[row + _ENTRIES]):
        x = look(page, slot, base, at, length)
        if page[x, 0] == base + at + 1:
            slot[base + to, 0] = x
            page[x, 0] = base + to + 1
            to = wrapped(to + 1, length)
        at = wrapped(at + 1, length)
    reg[row + _ENTRIES] = reg[row + _PAGES]


@njit(inline="always")
def _push(page, slot, reg, segment, x):
    length, row = len(slot) // 4, 4 * segment
    if reg[row + _ENTRIES] == length:
        _compact(page, slot, reg, segment)
    at = segment * length + wrapped(reg[row + _OLDEST] + reg[row + _ENTRIES], length)
    slot[at, 0] = x
    page[x, 0] = at + 1
    reg[row + _ENTRIES] += 1
    reg[row + _PAGES] += 1


@njit(inline="always")
def _pop(page, slot, reg, segment):
    length, row = len(slot) // 4, 4 * segment
    base = segment * length
    while True:
        at = reg[row + _OLDEST]
        x = look(page, slot, base, at, length)
        reg[row + _OLDEST] = wrapped(at + 1, length)
        reg[row + _ENTRIES] -= 1
        if page[x, 0] == base + at + 1:
            break
    page[x, 0] = GONE
    reg[row + _PAGES] -= 1
    return x


@njit(inline="always")
def _access(capacity, page, slot, reg, x):
    length, top = len(slot) // 4, 0 if capacity < 4 else 3
    record = np.int64(page[x, 0])
    if queued(record):
        old = (record > length) + (record > 2 * length) + (record > 3 * length)
        new = min(old + 1, top)
        page[x, 0] = GONE
        reg[4 * old + _PAGES] -= 1
        if reg[4 * new + _PAGES] == _size_of(capacity, new):
            _push(page, slot, reg, old, _pop(page, slot, reg, new))
        _push(page, slot, reg, new, x)
        return False
    if reg[1] == capacity:
        _pop(page, slot, reg, 0)
    else:
        reg[1] += 1
    segment = 0
    while reg[4 * segment + _PAGES] == _size_of(capacity, segment):
        segment += 1
    _push(page, slot, reg, segment, x)
    return True


slru_run = policy(_access)
