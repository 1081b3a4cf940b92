"""``PolicyState``: the buffers of a cache policy other than LRU, which its kernel in C or numba works on."""

from dataclasses import dataclass, field

import numpy as np

REGISTERS = 32


@dataclass
class PolicyState:
    """State of one policy at one capacity; ``struct fs_policy`` of csim.h. All buffers start zeroed.

    capacity: pages. page: uint32, shape (pages, fields), a record for each page. slot: uint32, shape (slots, fields).
    reg: int64, shape (32,); reg[0] counts misses, the policy's file says what the others are.
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
