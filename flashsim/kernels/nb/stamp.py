"""Twin of ``csim/stamp.c``; the form of a stamp is in ``csim/stamp.h``."""

import numpy as np
from numba import njit

from flashsim.kernels.nb.address import mix13
from flashsim.kernels.stamps import DAMAGED, FOREIGN, GOOD, OTHER_PAGE, OTHER_SEED, ZERO, words_of

_MAGIC, _GOLDEN = np.uint64(0x31656761506D6973), np.uint64(0x9E3779B97F4A7C15)
_P1, _P2 = np.uint64(0x9E3779B185EBCA87), np.uint64(0xC2B2AE3D27D4EB4F)
_P3, _P4 = np.uint64(0x165667B19E3779F9), np.uint64(0x85EBCA77C2B2AE63)
_S29, _S32, _S33 = np.uint64(29), np.uint64(32), np.uint64(33)
_HEADER, _ZERO, _PAYLOAD = 4, np.uint64(0), np.uint64(4064)


@njit(inline="always")
def _rotated(x, by):
    return x << np.uint64(by) | x >> np.uint64(64 - by)


@njit(inline="always")
def _round(lane, word):
    return _rotated(lane + word * _P2, 31) * _P1


@njit(inline="always")
def _key(number, seed):
    return mix13(mix13(seed) + number)


@njit(nogil=True)
def _checksum(words, key):
    a, b, c, d = key + _P1 + _P2, key + _P2, key, key - _P1
    for at in range(_HEADER, len(words), 4):
        a, b = _round(a, words[at]), _round(b, words[at + 1])
        c, d = _round(c, words[at + 2]), _round(d, words[at + 3])
    h = _rotated(a, 1) + _rotated(b, 7) + _rotated(c, 12) + _rotated(d, 18)
    for lane in (a, b, c, d):
        h = (h ^ _round(_ZERO, lane)) * _P1 + _P4
    h += _PAYLOAD
    h = (h ^ h >> _S33) * _P2
    h = (h ^ h >> _S29) * _P3
    return h ^ h >> _S32


@njit(nogil=True)
def _fill(pages, first, seed):
    for at in range(len(pages)):
        words, number = pages[at], first + np.uint64(at)
        key = _key(number, seed)
        state = key
        for word in range(_HEADER, len(words)):
            state += _GOLDEN
            words[word] = mix13(state)
        words[0], words[1], words[2], words[3] = _MAGIC, number, seed, _checksum(words, key)


@njit(nogil=True)
def _state(words, number, seed):
    if words[0] != _MAGIC:
        return FOREIGN if words.any() else ZERO
    if _checksum(words, _key(words[1], words[2])) != words[3]:
        return DAMAGED
    if words[2] != seed:
        return OTHER_SEED
    return OTHER_PAGE if words[1] != number else GOOD


@njit(nogil=True)
def _check(pages, first, seed, states):
    for at in range(len(pages)):
        states[at] = _state(pages[at], first + np.uint64(at), seed)


def stamp_fill(block: np.ndarray, first: int, seed: int) -> None:
    """See :func:`flashsim.kernels.c.stamp_fill`."""
    _fill(words_of(block), np.uint64(first), np.uint64(seed))


def stamp_check(block: np.ndarray, first: int, seed: int) -> np.ndarray:
    """See :func:`flashsim.kernels.c.stamp_check`."""
    words = words_of(block)
    states = np.empty(len(words), np.uint8)
    _check(words, np.uint64(first), np.uint64(seed), states)
    return states
