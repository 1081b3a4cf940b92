"""MIN: the page whose next use is furthest away goes out first. No policy that keeps every page it reads misses less.

Paper: L. A. Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems Journal 5(2), 1966.
Constants: none. Ties: among pages that are never used again only; which of them goes cannot change a later hit, so they
are merely counted. A page that is read always comes in, as with every other policy here, even if it is the one used
last: a cache that may be passed by could miss less. libCacheSim's Belady is the same.
Memory: 4 to 6 B a reference and 4 B a page, whatever the capacities, and 1/8 B a reference for each capacity. At most
2^32 - 2 references.
"""

from collections.abc import Callable

import numpy as np

from flashsim.errors import UsageError
from flashsim.kernels.state import NEVER, PolicyState

NAME, KERNEL = "min", "min_run"
OFFLINE = True  # needs the whole trace first: its kernel runs over next uses, not over pages

REFERENCES_MAX = NEVER - 1


class NextUses:
    """When the page of each reference is used again, of a trace that comes in pieces.

    pages: every id is below this. link: the kernel ``next_use``.
    """

    def __init__(self, pages: int, link: Callable) -> None:
        self._link, self._last = link, np.zeros(pages, np.uint32)
        self._uses, self._count = np.empty(1 << 16, np.uint32), 0

    def run(self, trace: np.ndarray) -> None:
        """Go on with ``trace``. Raises UsageError past REFERENCES_MAX references."""
        needed = self._count + len(trace)
        if needed > REFERENCES_MAX:
            raise UsageError(f"MIN takes at most {REFERENCES_MAX} references, not {needed}: take fewer --tokens")
        if needed > len(self._uses):
            # in place where the system can remap; so no view of it may be in use: see `uses`
            self._uses.resize(max(needed, len(self._uses) * 3 // 2), refcheck=False)
        self._link(trace, self._last, self._uses, self._count)
        self._count = needed

    @property
    def distinct(self) -> int:
        """Pages read so far."""
        return int(np.count_nonzero(self._last))

    @property
    def uses(self) -> np.ndarray:
        """uint32, one a reference: the number of the next reference to its page, or NEVER. Valid until the next run."""
        return self._uses[: self._count]


def state(capacity: int, references: int) -> PolicyState:
    """A cache of ``capacity`` pages, empty, for a trace of ``references``."""
    words = [references]
    while len(words) == 1 or words[-1] > 1:
        words.append(-(-words[-1] // 64))
    made = PolicyState.zeroed(capacity, 0, 1, sum(words[1:]), 2)
    made.reg[4] = references
    return made


def check(state: PolicyState) -> None:
    """The invariant at the end: every reference was taken, and all that is cached is never used again."""
    never, cached, time, references = state.reg[1:5]
    assert time == references and not state.slot.any()
    assert never == cached == min(state.misses, state.capacity)
