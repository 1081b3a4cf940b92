"""Pages in the order of their last accesses, for LRU's state."""

import numpy as np
from numba import njit

from flashsim.kernels.nb.bits import popcount


@njit(cache=True, nogil=True)
def go_back(ids, seen, found, count):
    """Go through ``ids`` backwards: those not ``seen`` (bool, shape (pages,)) are put into ``found`` from ``count`` on,
    while there is room, and are seen. Returns how many are in ``found`` then."""
    for at in range(len(ids) - 1, -1, -1):
        if count == len(found):
            break
        if not seen[ids[at]]:
            seen[ids[at]] = True
            found[count] = ids[at]
            count += 1
    return count


@njit(cache=True, nogil=True)
def by_last_access(last):
    """uint32, shape (pages touched,): the pages in the order of ``last``, oldest first. last: uint32, shape (pages,),
    different numbers from 1 on, 0 = never touched. Each number's rank is the bits set before it: no sorting."""
    highest = np.uint32(0)
    for slot in last:
        highest = max(highest, slot)
    live = np.zeros(np.int64(highest) // 64 + 1, np.uint64)
    for slot in last:
        if slot:
            live[slot >> np.uint32(6)] |= np.uint64(1) << np.uint64(slot & np.uint32(63))
    ranks, before = np.empty(len(live), np.uint32), 0
    for at in range(len(live)):
        ranks[at] = before
        before += popcount(live[at])
    found = np.empty(before, np.uint32)
    for page in range(len(last)):
        slot = last[page]
        if slot:
            below = live[slot >> np.uint32(6)] & ((np.uint64(1) << np.uint64(slot & np.uint32(63))) - np.uint64(1))
            found[ranks[slot >> np.uint32(6)] + popcount(below)] = page
    return found
