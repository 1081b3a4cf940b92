"""Random replacement: a page that comes in takes the place of one drawn at random, all alike.

Paper: L. A. Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems Journal 5(2),
1966.
Constants: the seed, SEED. The k-th eviction (k from 1) takes the page in slot capacity * z_k // 2^64, where z_k is
the k-th value of SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014) with that seed; so no slot is likelier
than another by more than capacity / 2^64. Pages take the slots in order until all are taken. Ties: none.

libCacheSim's Random draws a bucket of its hash table, with a generator that is its own: it agrees within sampling
error and its own bias (of 64 pages one was drawn five times as often as another), which costs it up to 0.7 % more
misses.
Memory: 4 B a page and 4 B a page of capacity.
"""

import numpy as np

from flashsim.kernels.state import PolicyState

NAME, KERNEL = "random", "random_run"
SEED = 0


def state(capacity: int, pages: int, seed: int = SEED) -> PolicyState:
    """A cache of ``capacity`` pages, empty; ids below ``pages``. seed: below 2^63."""
    made = PolicyState.zeroed(capacity, pages, 1, slots=capacity)
    made.reg[3] = seed
    return made


def check(state: PolicyState) -> None:
    """The invariant at the end: each cached page is in the slot that it names; every miss but the first ones drew."""
    count, draws = int(state.reg[1]), int(state.reg[2])
    assert count == min(state.misses, state.capacity) and draws == state.misses - count
    cached = state.queued
    assert len(cached) == count
    assert np.array_equal(state.slot[state.page[cached, 0].astype(np.int64) - 1, 0], cached)
