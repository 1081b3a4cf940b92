"""``csim/stamp.c``."""

import numpy as np

from flashsim.kernels.c.binding import lib, pointer
from flashsim.kernels.stamps import words_of


def stamp_fill(block: np.ndarray, first: int, seed: int) -> None:
    """Fill ``block`` (uint8, contiguous, whole stamps of 4,096 bytes) with the stamps of ``seed`` from number ``first``
    on. The form of a stamp is in csim/stamp.h. Raises ValueError."""
    words = words_of(block)
    lib.fs_stamp_fill(pointer("uint8_t[]", words.view(np.uint8), np.uint8, True), first, len(words), seed)


def stamp_check(block: np.ndarray, first: int, seed: int) -> np.ndarray:
    """What each stamp in ``block`` is, where those of ``seed`` from ``first`` on are expected: uint8, shape (stamps,),
    of the states in flashsim/kernels/stamps.py. ``block`` as for :func:`stamp_fill`. Raises ValueError."""
    words = words_of(block)
    states = np.empty(len(words), np.uint8)
    block, room = pointer("uint8_t[]", words.view(np.uint8), np.uint8), pointer("uint8_t[]", states, np.uint8, True)
    lib.fs_stamp_check_pages(block, first, len(words), seed, room)
    return states
