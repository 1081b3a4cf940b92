"""2Q, full version: a page comes in by a FIFO, and gets into the LRU part if it is read again soon after it left that.

Paper: T. Johnson, D. Shasha, "2Q: a low overhead high performance buffer management replacement algorithm", VLDB 1994.
Constants: A1in keeps Kin = capacity / 4 pages, A1out remembers Kout = capacity / 2, both rounded down (libCacheSim's
defaults; the paper's advice). A1in may grow past Kin while the cache is not full, and Am takes what A1in leaves.
Choices: a page read again while in A1in stays where it is. A page found in A1out leaves it before room is made, so that
one more page is remembered (as in libCacheSim; in the paper's text it leaves when it enters Am). Ties: none.
libCacheSim's TwoQ is the same from 4 pages on; below that its A1in has no room and it caches nothing, ever, while this
one goes on with Kin = 0: the oldest page of A1in, if any, goes out first.
Memory: 8 B a page; logs of 1.5 and of 1 capacity: 21 to 41 B for each page of capacity.
"""

from flashsim.cache.logs import CACHED, GHOSTS, check_logs, registers, state_with_logs
from flashsim.kernels.state import PolicyState

NAME, KERNEL = "2q", "twoq_run"
_A1, _AM = 0, 1


def state(capacity: int, pages: int) -> PolicyState:
    """A cache of ``capacity`` pages, empty; ids below ``pages``."""
    in_pages, out_pages = capacity // 4, capacity // 2
    made = state_with_logs(capacity, pages, capacity + out_pages, capacity)
    made.reg[1:3] = in_pages, out_pages
    return made


def check(state: PolicyState) -> None:
    """The invariant at the end: full once that many misses came, A1out within its bound, every page in one queue."""
    assert check_logs(state, 2) == min(state.misses, state.capacity)
    a1, am = registers(state, _A1), registers(state, _AM)
    assert a1[GHOSTS] <= state.reg[2] and am[GHOSTS] == 0
    assert am[CACHED] == 0 or a1[CACHED] >= state.reg[1]
