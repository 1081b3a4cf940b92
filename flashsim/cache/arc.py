"""ARC: an LRU list of pages read once and one of pages read more often, whose shares follow what was missed of late.

Paper: N. Megiddo, D. S. Modha, "ARC: a self-tuning, low overhead replacement cache", FAST 2003, figure 4.
Constants: none but the paper's: |T1| + |B1| <= c, all four lists <= 2c, p = 0 at first.
Choices: p is a real number, a double: it grows by max(|B2| / |B1|, 1) and shrinks by max(|B1| / |B2|, 1), unrounded,
with the sizes before the page leaves its ghost list, and, as in the paper, before room is made. Ties: where |T1| = p,
T1 gives way after a hit in B2 only, as in the paper.
libCacheSim's ARC is the same.
Memory: 8 B a page; logs of 1 and of 2 capacities: 25 to 50 B for each page of capacity.
"""

import numpy as np

from flashsim.cache.logs import CACHED, GHOSTS, check_logs, registers, state_with_logs
from flashsim.kernels.state import PolicyState

NAME, KERNEL = "arc", "arc_run"


def state(capacity: int, pages: int) -> PolicyState:
    """A cache of ``capacity`` pages, empty; ids below ``pages``."""
    return state_with_logs(capacity, pages, capacity, 2 * capacity)


def check(state: PolicyState) -> None:
    """The invariant at the end: full once that many misses came, the paper's bounds, every page in one list."""
    assert check_logs(state, 2) == min(state.misses, state.capacity)
    l1, l2 = (registers(state, log)[[GHOSTS, CACHED]] for log in (0, 1))
    assert l1.sum() <= state.capacity and l1.sum() + l2.sum() <= 2 * state.capacity
    assert 0 <= state.reg[1:2].view(np.float64)[0] <= state.capacity
