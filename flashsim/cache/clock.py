"""CLOCK, 1 bit: FIFO with a second chance. A page that was read since the hand last passed it stays.

Paper: F. J. Corbato, "A paging experiment with the Multics system", MIT Project MAC report MAC-M-384, 1968.
Constants: the counter goes up to 1. It starts at 0 when the page comes in; a hit adds 1, up to the limit; the hand
takes 1 off each page that it passes and evicts the first that it finds at 0.
Ties: none: the new page takes the place of the evicted one and the hand moves on, so that it meets the new page last.
libCacheSim's Clock (``n_bit_counter=1``, its default) is the same.
Memory: 4 B a page and 4 B a page of capacity.
"""

import numpy as np

from flashsim.kernels.state import PolicyState

NAME, KERNEL = "clock", "clock_run"


def state(capacity: int, pages: int) -> PolicyState:
    """A cache of ``capacity`` pages, empty; ids below ``pages``."""
    return PolicyState.zeroed(capacity, pages, 1, slots=capacity)


def check(state: PolicyState, most: int = 1) -> None:
    """The invariant at the end: the ring holds each cached page once, each with a counter of at most ``most``."""
    hand, count = int(state.reg[1]), int(state.reg[2])
    assert count == min(state.misses, state.capacity) and 0 <= hand < state.capacity
    assert np.array_equal(np.sort(state.slot[:count, 0]), state.queued)
    assert (state.page[state.queued] <= 1 + most).all()
