"""Twin of ``csim/wtinylfu.c``, which says what the records hold."""

import numpy as np
from numba import njit

from flashsim.kernels.nb.address import mix13
from flashsim.kernels.nb.bits import prefetch
from flashsim.kernels.nb.log import AT, CACHED, enter, evict, find, leave, oldest, page_of
from flashsim.kernels.nb.policy import policy

_WINDOW, _PROBATION, _PROTECTED = range(3)
_MOST = np.uint32(15)


@njit(inline="always")
def _block_of(reg, hashed):
    return reg[5] + (np.int64(hashed) & reg[6]) * 16


@njit(inline="always")
def _word_of(block, hashed, row):
    return block + row * 4 + (np.int64(hashed >> np.uint64(47 + 5 * row)) & 3)


@njit(inline="always")
def _shift_of(hashed, row):
    return np.uint32(np.int64(hashed >> np.uint64(44 + 5 * row)) & 7) * np.uint32(4)


@njit(inline="always")
def _reads_of(slot, block, hashed):
    reads = _MOST
    for row in range(4):
        reads = min(reads, slot[_word_of(block, hashed, row), 0] >> _shift_of(hashed, row) & _MOST)
    return reads


@njit(inline="always")
def _estimate(slot, reg, x):
    hashed = mix13(np.uint64(x))
    return _reads_of(slot, _block_of(reg, hashed), hashed)


@njit(nogil=True)
def _halve(slot, reg):
    for at in range(reg[5], reg[5] + (reg[6] + 1) * 16):
        slot[at, 0] = slot[at, 0] >> np.uint32(1) & np.uint32(0x77777777)
    reg[3] //= 2


@njit(inline="always")
def _count_read(slot, reg, x):
    hashed = mix13(np.uint64(x))
    block = _block_of(reg, hashed)
    reads = _reads_of(slot, block, hashed)
    if reads < _MOST:
        for row in range(4):
            word, shift = _word_of(block, hashed, row), _shift_of(hashed, row)
            slot[word, 0] += np.uint32((slot[word, 0] >> shift & _MOST) == reads) << shift
    reg[3] += 1
    if reg[3] >= reg[4]:
        _halve(slot, reg)


@njit(inline="always")
def _move_oldest(page, slot, reg, log):
    x = page_of(slot, reg, log, oldest(slot, reg, log))
    evict(slot, reg, log)
    enter(page, slot, reg, _PROBATION, x)


@njit(inline="always")
def _access(capacity, page, slot, reg, x):
    number, log, cached, _ = find(page, reg, x)
    _count_read(slot, reg, x)
    if cached:
        leave(slot, reg, log, number, True)
        enter(page, slot, reg, _WINDOW if log == _WINDOW else _PROTECTED, x)
        if reg[AT[_PROTECTED] + CACHED] > reg[2]:
            _move_oldest(page, slot, reg, _PROTECTED)
        return False
    enter(page, slot, reg, _WINDOW, x)
    if reg[AT[_WINDOW] + CACHED] <= reg[1]:
        return True
    used = reg[AT[_PROBATION] + CACHED] + reg[AT[_PROTECTED] + CACHED]
    admitted = reg[1] + used < capacity
    if used and not admitted:
        contest = _PROBATION if reg[AT[_PROBATION] + CACHED] else _PROTECTED
        candidate = page_of(slot, reg, _WINDOW, oldest(slot, reg, _WINDOW))
        victim = page_of(slot, reg, contest, oldest(slot, reg, contest))
        admitted = _estimate(slot, reg, candidate) > _estimate(slot, reg, victim)
        if admitted:
            evict(slot, reg, contest)
    if admitted:
        _move_oldest(page, slot, reg, _WINDOW)
    else:
        evict(slot, reg, _WINDOW)
    return True


@njit(inline="always")
def _ahead(slot, reg, x):
    prefetch(slot, _block_of(reg, mix13(np.uint64(x))))


wtinylfu_run = policy(_access, _ahead)
