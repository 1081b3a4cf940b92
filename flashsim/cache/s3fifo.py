"""S3-FIFO: a small FIFO takes new pages, so that those read once leave early; a main FIFO keeps the ones that were
read again; a ghost FIFO of ids lets a page that left too early come back straight into main.

Paper: J. Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023.
Constants: small holds capacity // 10 pages, at least 1; main the rest; the ghost capacity * 9 // 10 ids. A page
counts its hits, up to 3, from 0.

A miss takes the page's id out of the ghost if it is there. While the cache is full: if main holds more than its
share, or small is empty, main's oldest page goes out at 0 hits, and else loses one and joins main again, and so on to
the next. Otherwise small's oldest page goes to main, its hits forgotten, if it has 2 or more ("accessed more than
once" beside the miss); if not, it goes out, its id to the ghost (whose oldest id drops out where that is full), and
small is done. Then the page joins main if its id was in the ghost; else small; but as long as nothing was ever
evicted, main where small is full. Ties: none.

libCacheSim's S3FIFO (small_size_ratio 0.1, ghost_size_ratio 0.9, move_to_main_threshold 2, its defaults) is the same
from 20 pages on; the last rule above is its authors' later one. Below, it cannot be used: at 10 to 19 pages (small =
1) it never lets a page into small, so that every reference misses, and under 10 pages it ends the process. Here those
are caches too.
Memory: 4 B a page and 11.6 B a page of capacity.
"""

import numpy as np

from flashsim.kernels.state import GONE, PolicyState

NAME, KERNEL = "s3fifo", "s3fifo_run"
_SMALL, _MAIN, _GHOST = 4, 8, 12  # see csim/s3fifo.c


def _sizes(capacity: int) -> tuple[int, int]:
    return max(1, capacity // 10), capacity * 9 // 10


def state(capacity: int, pages: int) -> PolicyState:
    """A cache of ``capacity`` pages, empty; ids below ``pages``."""
    small, ghost = _sizes(capacity)
    return PolicyState.zeroed(capacity, pages, 1, slots=small + capacity + 2 * ghost)


def check(state: PolicyState) -> None:
    """The invariant at the end: small and main hold each cached page once and the ghost each remembered id, all three
    within their sizes."""
    small_first, small, main_first, main, first, entries, ghost = (int(value) for value in state.reg[1:8])
    small_size, ghost_size = _sizes(state.capacity)
    record, slot = state.page[:, 0].astype(np.int64), state.slot[:, 0]
    rings = np.split(slot, [small_size, small_size + state.capacity])
    assert small + main == min(state.misses, state.capacity) and small <= small_size
    assert ghost <= ghost_size and ghost <= entries <= 2 * ghost_size
    in_small = rings[0].take(range(small_first, small_first + small), mode="wrap")
    in_main = rings[1].take(range(main_first, main_first + main), mode="wrap")
    assert np.array_equal(np.sort(in_small), np.flatnonzero((record >= _SMALL) & (record < _MAIN)))
    assert np.array_equal(np.sort(in_main), np.flatnonzero((record >= _MAIN) & (record < _GHOST)))
    at = (first + np.arange(entries)) % max(1, 2 * ghost_size)
    alive = rings[2][at][record[rings[2][at]] == _GHOST + at]
    assert len(alive) == ghost and np.array_equal(np.sort(alive), np.flatnonzero((record >= _GHOST) & (record < GONE)))
