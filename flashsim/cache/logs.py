"""Logs, the queues that several policies are made of: how they are laid out in a state, and their invariant.

What a log is says ``csim/log.h``. Memory: 8 B a page; 4.125 B a slot, and two to four slots for each page that a log
must hold (128 at least).
"""

import numpy as np

from flashsim.kernels.state import PolicyState

FIRST, MIDDLE, NEXT, GHOSTS, CACHED, BASE, MASK = range(7)


def registers(state: PolicyState, log: int) -> np.ndarray:
    """int64: a view of the registers of ``log``."""
    return state.reg[8 * log + 8 : 8 * log + 16]


def state_with_logs(capacity: int, pages: int, *most: int, slots: int = 0) -> PolicyState:
    """A state with a log for each of ``most``, which says how many pages it must hold, then ``slots`` more slots."""
    sizes = [max(128, 1 << (2 * pages_most - 1).bit_length()) for pages_most in most]
    bases = np.cumsum([0] + [size + size // 32 for size in sizes])
    made = PolicyState.zeroed(capacity, pages, 2, int(bases[-1]) + slots)
    for log, size in enumerate(sizes):
        registers(made, log)[:] = [1, 1, 1, 0, 0, bases[log], size - 1, 0]
    return made


def check_logs(state: PolicyState, logs: int) -> int:
    """Assert that each live number names a page whose record names it, and that the counts are right; no page can be in
    two logs then. Returns the pages cached."""
    record = state.page[:, 0].astype(np.uint64) | state.page[:, 1].astype(np.uint64) << np.uint64(32)
    cached = 0
    for log in range(logs):
        reg = registers(state, log)
        ring = state.slot[reg[BASE] : reg[BASE] + reg[MASK] + 1, 0]
        words = state.slot[reg[BASE] + len(ring) : reg[BASE] + len(ring) + len(ring) // 32, 0]
        numbers = np.arange(reg[FIRST], reg[NEXT])
        at = numbers & reg[MASK]
        live = numbers[(words[at // 32] >> (at % 32).astype(np.uint32) & 1).astype(bool)]
        pages = ring[live & reg[MASK]]
        assert (record[pages] == live.astype(np.uint64) * 4 + log).all()
        assert [(live < reg[MIDDLE]).sum(), (live >= reg[MIDDLE]).sum()] == reg[[GHOSTS, CACHED]].tolist()
        number, of_log = record // 4, record % 4 == log
        assert (of_log & (number >= np.uint64(reg[FIRST]))).sum() == len(live)
        cached += int(reg[CACHED])
    return cached
