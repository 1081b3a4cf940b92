"""LFU: the page that was read least often since it came in goes out first.

Paper: for the buckets, K. Shah, A. Mitra, D. Matani, "An O(1) algorithm for implementing the LFU cache eviction
scheme", 2010; the policy is as old as paging.
Constants: none. A page comes in with a count of 1, whatever it was before; there is no aging, so what was read often
long ago stays. Counts have 64 bits.
Ties: of the pages read equally often, the one whose last read is longest ago. libCacheSim's LFU is the same: it says
FIFO, of the order in which pages got to their count, which is that of their last reads.
Memory: 4 B a page, 16 B for each page of capacity, and up to 16 B more, a bucket for each different count among them.
"""

import numpy as np

from flashsim.kernels.state import PolicyState

NAME, KERNEL = "lfu", "lfu_run"


def state(capacity: int, pages: int) -> PolicyState:
    """A cache of ``capacity`` pages, empty; ids below ``pages``."""
    return PolicyState.zeroed(capacity, pages, 1, 2 * (capacity + 1), 4)


def check(state: PolicyState) -> None:
    """The invariant at the end: each cached page has its node, the ring holds them all, buckets rise along it, and each
    bucket's last node is its own."""
    nodes, buckets = state.slot[: state.capacity + 1], state.slot[state.capacity + 1 :]
    used = int(state.reg[1])
    assert used == min(state.misses, state.capacity)
    page, previous, following, bucket = nodes[: used + 1].T
    assert (state.page[page[1:], 0] == np.arange(1, used + 1)).all() and len(state.queued) == used
    assert (following[previous] == np.arange(used + 1)).all() and (previous[following] == np.arange(used + 1)).all()
    reads = buckets[:, 2].astype(np.int64) | buckets[:, 3].astype(np.int64) << 32
    assert (reads[bucket[following]] >= reads[bucket])[following != 0].all()
    last = (bucket[following] != bucket) | (following == 0)
    assert (buckets[bucket[last], 0] == np.flatnonzero(last)).all() and last.sum() == len(np.unique(bucket))
    assert buckets[bucket[last], 1].tolist() == [bucket[node] for node in following[last]]
