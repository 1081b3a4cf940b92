"""FIFO: the page that came in first goes out first, whatever was read since.

Paper: L. A. Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems Journal 5(2), 1966.
Constants: none. Ties: none. libCacheSim's FIFO is the same.
Memory: 4 B a page.
"""

import numpy as np

from flashsim.kernels.state import GONE, PolicyState

NAME, KERNEL = "fifo", "fifo_run"


def state(capacity: int, pages: int) -> PolicyState:
    """A cache of ``capacity`` pages, empty; ids below ``pages``."""
    made = PolicyState.zeroed(capacity, pages, 1)
    made.reg[1] = capacity  # so that record 0 is long evicted
    return made


def check(state: PolicyState) -> None:
    """The invariant at the end: as many pages are cached as came in, up to the capacity, each by its own insertion."""
    newest, inserted = int(state.reg[1]), state.page[:, 0].astype(np.int64)
    cached = inserted[(inserted > 0) & (inserted < GONE) & (newest - inserted < state.capacity)]
    assert len(cached) == min(state.misses, state.capacity) == len(np.unique(cached))
