"""``csim/stack.c``."""

import numpy as np

from flashsim.kernels.c.binding import ffi, lib, pointer, trace_pointer


class StackDistances:
    """LRU at every capacity: how many references lie at each stack distance, over a trace that comes in pieces.

    pages: every id is below this (at most 2^31 - 2^16). Memory: 16 B a page and 0.13 B a time slot (4 slots a page, at
    least 4 Mi).
    """

    def __init__(self, pages: int) -> None:
        unit = lib.FS_STACK_SUPER
        slots = -(-max(4 * pages, 1 << 22) // unit) * unit if pages < 1 << 28 else -(-(pages + 256) // unit) * unit
        self._counts, self._histogram, self._unread = np.zeros(pages + 1, np.uint32), np.zeros(pages + 1, np.int64), 0
        buffers = {
            "last": ("uint32_t[]", np.zeros(pages, np.uint32)),
            "counts": ("uint32_t[]", self._counts),
            "live": ("uint64_t[]", np.zeros(slots // 64, np.uint64)),
            "blocks": ("uint16_t[]", np.zeros(slots // lib.FS_STACK_BLOCK, np.uint16)),
            "supers": ("uint32_t[]", np.zeros(slots // unit, np.uint32)),
            "removed": ("uint32_t[]", np.zeros(slots // unit, np.uint32)),
            "ranks": ("uint32_t[]", np.zeros(slots // 64, np.uint32)),
        }
        self._pointers = {name: pointer(kind, array, array.dtype.type, True) for name, (kind, array) in buffers.items()}
        self._state = ffi.new("struct fs_stack *", {"pages": pages, "slots": slots} | self._pointers)

    def run(self, trace: np.ndarray, distances: np.ndarray | None = None) -> None:
        """Go on with ``trace`` (uint32 page ids). distances: uint32, same length, or None: receives the distance of
        each reference, 0 for a first touch. Raises ValueError on an id that is not below ``pages``."""
        if distances is not None and len(distances) != len(trace):
            raise ValueError(f"distances has room for {len(distances)} of {len(trace)} references")
        if self._unread + len(trace) > 2**32 - 1:
            self._read()
        self._unread += len(trace)
        code = lib.fs_stack_run(
            self._state,
            trace_pointer(trace),
            len(trace),
            pointer("uint32_t[]", distances, np.uint32, writable=True),
        )
        if code:
            raise ValueError(f"fs_stack_run: errno {-code}; ids below {self._state.pages} expected, got {trace.max()}")

    def _read(self) -> None:
        self._histogram += self._counts
        self._counts[:], self._unread = 0, 0

    @property
    def histogram(self) -> np.ndarray:
        """int64, shape (pages + 1,): references at each distance; [0] is unused, first touches are ``distinct``."""
        self._read()
        return self._histogram

    @property
    def distinct(self) -> int:
        """Pages touched so far."""
        return self._state.distinct
