"""Twin of ``csim/log.h``, which says what a log is and how it lies in the records."""

import numpy as np
from numba import njit

from flashsim.kernels.nb.bits import leading_zeros, trailing_zeros

FIRST, MIDDLE, NEXT, GHOSTS, CACHED, BASE, MASK = range(7)
AT = (8, 16, 24)  # where the registers of each log begin
_ALL, _ONE = np.uint32(2**32 - 1), np.uint32(1)


@njit(inline="always")
def page_of(slot, reg, log, number):
    at = 8 * log + 8
    return slot[reg[at + BASE] + (number & reg[at + MASK]), 0]


@njit(inline="always")
def find(page, reg, x):
    """(number, log, cached, ghost) of page x."""
    record = np.int64(page[x, 0]) | np.int64(page[x, 1]) << 32
    log, number = record & 3, record >> 2
    at = 8 * log + 8
    cached = number >= reg[at + MIDDLE]
    return number, log, cached, not cached and number >= reg[at + FIRST]


@njit(inline="always")
def _put(page, slot, reg, log, number, x):
    at = 8 * log + 8
    position = number & reg[at + MASK]
    base = reg[at + BASE]
    slot[base + position, 0] = x
    slot[base + reg[at + MASK] + 1 + (position >> 5), 0] |= _ONE << np.uint32(position & 31)
    record = number << 2 | log
    page[x, 0] = record & 0xFFFFFFFF
    page[x, 1] = record >> 32


@njit(nogil=True)
def _pack(page, slot, reg, log):
    at = 8 * log + 8
    to, live = reg[at + NEXT], reg[at + BASE] + reg[at + MASK] + 1
    first = reg[at + FIRST] & ~31
    begin = (to - 1) & ~31
    while begin >= first:
        word = live + ((begin & reg[at + MASK]) >> 5)
        bits = slot[word, 0]
        if begin == first:
            bits &= _ALL << np.uint32(reg[at + FIRST] & 31)
        slot[word, 0] = 0
        while bits:
            high = 63 - np.int64(leading_zeros(np.uint64(bits)))
            bits ^= _ONE << np.uint32(high)
            to -= 1
            _put(page, slot, reg, log, to, page_of(slot, reg, log, begin + high))
        begin -= 32
    reg[at + FIRST] = to
    reg[at + MIDDLE] = to + reg[at + GHOSTS]


@njit(inline="always")
def enter(page, slot, reg, log, x):
    at = 8 * log + 8
    if reg[at + NEXT] - reg[at + FIRST] >= reg[at + MASK] - 31:
        _pack(page, slot, reg, log)
    number = reg[at + NEXT]
    position = number & reg[at + MASK]
    if position & 31 == 0:
        slot[reg[at + BASE] + reg[at + MASK] + 1 + (position >> 5), 0] = 0
    _put(page, slot, reg, log, number, x)
    reg[at + NEXT] = number + 1
    reg[at + CACHED] += 1


@njit(inline="always")
def leave(slot, reg, log, number, cached):
    at = 8 * log + 8
    position = number & reg[at + MASK]
    slot[reg[at + BASE] + reg[at + MASK] + 1 + (position >> 5), 0] &= ~(_ONE << np.uint32(position & 31))
    reg[at + (CACHED if cached else GHOSTS)] -= 1


@njit(inline="always")
def _live_from(slot, reg, log, number):
    at = 8 * log + 8
    mask, live = reg[at + MASK], reg[at + BASE] + reg[at + MASK] + 1
    begin = number & ~31
    bits = slot[live + ((begin & mask) >> 5), 0] & _ALL << np.uint32(number & 31)
    while not bits:
        begin += 32
        bits = slot[live + ((begin & mask) >> 5), 0]
    return begin + np.int64(trailing_zeros(np.uint64(bits)))


@njit(inline="always")
def demote(slot, reg, log):
    at = 8 * log + 8
    reg[at + MIDDLE] = _live_from(slot, reg, log, reg[at + MIDDLE]) + 1
    reg[at + CACHED] -= 1
    reg[at + GHOSTS] += 1


@njit(inline="always")
def forget(slot, reg, log):
    at = 8 * log + 8
    reg[at + FIRST] = _live_from(slot, reg, log, reg[at + FIRST]) + 1
    reg[at + GHOSTS] -= 1


@njit(inline="always")
def oldest(slot, reg, log):
    at = 8 * log + 8
    number = _live_from(slot, reg, log, reg[at + FIRST])
    reg[at + FIRST] = number
    reg[at + MIDDLE] = number
    return number


@njit(inline="always")
def evict(slot, reg, log):
    at = 8 * log + 8
    number = oldest(slot, reg, log) + 1
    reg[at + FIRST] = number
    reg[at + MIDDLE] = number
    reg[at + CACHED] -= 1
