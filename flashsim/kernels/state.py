"""What the kernels in C and numba work on: ``PolicyState`` of a cache policy other than LRU, and LRU's time slots."""

from dataclasses import dataclass, field

import numpy as np

REGISTERS = 32
GONE = 2**32 - 1  # FS_GONE of csim/policy.h
NEVER = 2**32 - 1  # of csim/belady.c: the next use of a page that is not used again


def lru_slots(pages: int) -> int:
    """Time slots of LRU over ids below ``pages``: 8 a page, so that they are renumbered after 7 references a page, and
    at least 4 Mi; a multiple of 128 below 2^31, as struct fs_lru of csim.h asks for."""
    return min(max(8 * pages, 1 << 22) + 256, 2**31 - 1) // 128 * 128


@dataclass
class PolicyState:
    """State of one policy at one capacity; ``struct fs_policy`` of csim.h. All buffers start zeroed.

    capacity: pages. page: uint32, shape (pages, fields), a record for each page. slot: uint32, shape (slots, fields).
    reg: int64, shape (32,); reg[0] counts misses, the policy's file says what the others are.
    A page's record is zero until it is read; one that is in no queue any more has the record GONE. (The logs of
    flashsim/cache/logs.py have a rule of their own.)
    """

    capacity: int
    page: np.ndarray
    slot: np.ndarray
    reg: np.ndarray = field(default_factory=lambda: np.zeros(REGISTERS, np.int64))

    @classmethod
    def zeroed(cls, capacity: int, pages: int, page_fields: int, slots: int = 0, slot_fields: int = 1) -> "PolicyState":
        """A state with buffers of these sizes."""
        page = np.zeros((pages, page_fields), np.uint32)
        return cls(capacity, page, np.zeros((slots, slot_fields), np.uint32))

    @property
    def misses(self) -> int:
        return int(self.reg[0])

    @property
    def distinct(self) -> int:
        """Pages read so far. (Not of MIN, whose kernel sees no pages.)"""
        return int(np.count_nonzero(self.page.any(axis=1)))

    @property
    def queued(self) -> np.ndarray:
        """int64, increasing: the pages that are in a queue."""
        return np.flatnonzero((self.page[:, 0] != 0) & (self.page[:, 0] != GONE))
