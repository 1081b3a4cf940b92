"""SIEVE: FIFO order and a hand that sweeps from the oldest page to the newest, evicting what was not read since its
last visit. What it keeps stays where it is, so new pages lie apart from those that have proved themselves.

Paper: Y. Zhang et al., "SIEVE is simpler than LRU: an efficient turn-key eviction algorithm for web caches", NSDI
2024.
Constants: one visited bit a page, clear when it comes in. Ties: none. The hand starts at the oldest page, and again
after the newest: where the newest itself is evicted, the sweep begins anew before the next page comes in.
libCacheSim's Sieve is the same.
Memory: 4 B a page and 8 B a page of capacity.
"""

import numpy as np

from flashsim.kernels.state import PolicyState

NAME, KERNEL = "sieve", "sieve_run"


def state(capacity: int, pages: int) -> PolicyState:
    """A cache of ``capacity`` pages, empty; ids below ``pages``."""
    return PolicyState.zeroed(capacity, pages, 1, slots=2 * capacity)


def check(state: PolicyState) -> None:
    """The invariant at the end: each cached page is once in the queue, ahead of the hand or behind it."""
    first, ahead, behind, ring = (int(value) for value in state.reg[1:5])
    queues = state.slot[:, 0].reshape(2, state.capacity)
    queued = np.concatenate([queues[ring].take(range(first, first + ahead), mode="wrap"), queues[1 - ring, :behind]])
    assert len(queued) == ahead + behind == min(state.misses, state.capacity)
    assert np.array_equal(np.sort(queued), state.queued)
    assert (state.page[state.queued] <= 2).all()
