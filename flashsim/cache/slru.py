"""Segmented LRU: four LRU lists, one above the other. A hit lifts a page to the list above; a page that an upper list
has no more room for falls back to the one below; a page leaves the cache from the lowest.

Paper: R. Karedla, J. S. Love, B. G. Wherry, "Caching strategies to improve disk system performance", IEEE Computer
27(3), 1994 (there with two segments, "probationary" and "protected"; four are libCacheSim's default).
Constants: 4 segments of capacity // 4 pages; the lowest has the remainder too.

A hit moves the page to the newest end of the segment above (in the highest: of the same). If that was full, its
oldest page moves to the newest end of the segment that the hit page came from. A miss of a full cache evicts the
oldest page of the lowest segment. The new page joins the lowest segment that has room, which is the lowest of all
once the cache has filled. Below 4 pages there is but one segment: LRU. Ties: none.

libCacheSim's SLRU is the same where 4 divides the capacity. Elsewhere it treats the 1 to 3 pages of the remainder as
room in no segment: the lowest overflows into it at misses, but is cut back to capacity // 4, by evictions, at a hit.
And below 4 pages it never lets a page in. Here a hit evicts nothing.
Memory: 4 B a page and 16 B a page of capacity (8 B from 2^30 pages on).
"""

import numpy as np

from flashsim.kernels.state import PolicyState

NAME, KERNEL = "slru", "slru_run"


def state(capacity: int, pages: int) -> PolicyState:
    """A cache of ``capacity`` pages, empty; ids below ``pages``."""
    # a ring four times its segment is compacted about once in three of its lengths; slots are numbered in 32 bits
    return PolicyState.zeroed(capacity, pages, 1, slots=min(4 * capacity + 64, 2**32 - 4))


def check(state: PolicyState) -> None:
    """The invariant at the end: each cached page is once in one segment, no segment beyond its size."""
    quarter, length = state.capacity // 4, len(state.slot) // 4
    record, found = state.page[:, 0].astype(np.int64), []
    for segment in range(4):
        first, entries, pages = (int(value) for value in state.reg[4 * segment + 4 : 4 * segment + 7])
        at = segment * length + (first + np.arange(entries)) % length
        queued = state.slot[at, 0]
        found.append(queued[record[queued] == at + 1])
        assert len(found[-1]) == pages <= (quarter if segment else state.capacity - 3 * quarter)
        assert pages <= entries <= length
    assert np.array_equal(np.sort(np.concatenate(found)), state.queued)
    assert sum(map(len, found)) == state.reg[1] == min(state.misses, state.capacity)
