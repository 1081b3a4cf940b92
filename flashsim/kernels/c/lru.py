"""``csim/lru.c``."""

import numpy as np

from flashsim.kernels.c.binding import ffi, lib, pointer, trace_pointer
from flashsim.kernels.nb.recency import by_last_access
from flashsim.kernels.state import lru_slots


class Lru:
    """Exact LRU at many capacities in one pass over a trace that comes in pieces.

    capacities: pages each, increasing, at least 1. pages: every id is below this (at most 2^31 - 384).
    Memory: 4 B a page and 3/16 B a time slot (8 slots a page, at least 4 Mi), for every 16 capacities.
    """

    def __init__(self, capacities: np.ndarray, pages: int) -> None:
        self._groups, self._last = [], np.zeros(0, np.uint32)
        slots = lru_slots(pages)
        for at in range(0, len(capacities), lib.FS_LRU_LANES):
            group = [int(capacity) for capacity in capacities[at : at + lib.FS_LRU_LANES]]
            self._last = last = np.zeros(pages, np.uint32)  # every group comes to the same
            live = np.zeros(slots // 64, np.uint64)
            ranks = np.zeros(slots // 64, np.uint32)
            sizes = {"lanes": len(group), "capacity": group, "pages": pages, "slots": slots}
            state = ffi.new("struct fs_lru *", sizes)
            state.last = last_pointer = pointer("uint32_t[]", last, np.uint32, writable=True)
            state.live = live_pointer = pointer("uint64_t[]", live, np.uint64, writable=True)
            state.ranks = ranks_pointer = pointer("uint32_t[]", ranks, np.uint32, writable=True)
            self._groups.append((state, last_pointer, live_pointer, ranks_pointer))

    def run(self, trace: np.ndarray, classes: np.ndarray | None = None) -> None:
        """Go on with ``trace`` (uint32 page ids). classes: uint8, same length, or None: receives for each reference
        the number of capacities that missed. Raises ValueError on an id that is not below ``pages``."""
        if classes is not None and len(classes) != len(trace):
            raise ValueError(f"classes has room for {len(classes)} of {len(trace)} references")
        piece = classes
        for at, (state, *_) in enumerate(self._groups):
            if classes is not None and at:
                piece = np.empty_like(classes)
            code = lib.fs_lru_run(
                state,
                trace_pointer(trace),
                len(trace),
                pointer("uint8_t[]", piece, np.uint8, writable=True),
            )
            if code:
                raise ValueError(
                    f"fs_lru_run: errno {-code}; ids below {state.pages} expected, the largest is {trace.max()}"
                )
            if classes is not None and at:
                classes += piece

    @property
    def misses(self) -> np.ndarray:
        """int64, shape (capacities,): misses so far, cold ones included."""
        return np.array([state.misses[k] for state, *_ in self._groups for k in range(state.lanes)], np.int64)

    @property
    def distinct(self) -> int:
        """Pages touched so far: the cold misses at every capacity."""
        return self._groups[0][0].distinct if self._groups else 0

    @property
    def recency(self) -> np.ndarray:
        """uint32, shape (distinct,): the pages touched so far, in the order of their last accesses, oldest first."""
        return by_last_access(self._last)
