"""What the twins of the policies share: the loop over a piece of a trace. See ``csim/policy.h``."""

from collections.abc import Callable

import numpy as np
from numba import njit

from flashsim.kernels.nb.bits import AHEAD, prefetch, require_trace
from flashsim.kernels.nb.ids import in_range, soon_of
from flashsim.kernels.state import GONE, PolicyState

NEXT = 16  # slots: how far ahead an eviction loads the records of the pages that it looks at one after the other


@njit(inline="always")
def queued(record):
    """Whether a record is of a page that is in a queue."""
    return record != 0 and record != GONE


@njit(inline="always")
def wrapped(at, length):
    """``at`` in a ring of ``length`` slots that it has passed at most once."""
    return at - length if at >= length else at


@njit(inline="always")
def look(page, slot, base, at, length):
    """The page in position ``at`` of the ring of ``length`` slots from ``base`` on; a later one's record is loaded."""
    prefetch(page, np.int64(slot[base + (at + NEXT if at + NEXT < length else at), 0]))
    return np.int64(slot[base + at, 0])


@njit(inline="always")
def _nothing(slot, reg, x):
    pass


def policy(access: Callable, ahead: Callable = _nothing) -> Callable:
    """The ``NAME_run(state, trace, missed=None)`` of a compiled ``access(capacity, page, slot, reg, x) -> bool``.

    ahead: a compiled ``ahead(slot, reg, x)`` that prefetches what x will touch, beside its page's record.
    """

    @njit(nogil=True, _nrt=False)  # nothing is allocated: else each inlined access counts references to its arrays
    def loop(capacity, page, slot, reg, trace, missed):
        for at in range(0, len(trace), AHEAD):
            ids = trace[at : at + AHEAD]
            good, soon = in_range(ids, len(page)), soon_of(trace, at, len(ids))
            for i in range(good):
                prefetch(page, np.int64(soon[i]))
                ahead(slot, reg, soon[i])
                miss = access(capacity, page, slot, reg, ids[i])
                reg[0] += miss
                if len(missed):
                    missed[at + i] = miss
            if good < len(ids):
                return at + good
        return len(trace)

    def run(state: PolicyState, trace: np.ndarray, missed: np.ndarray | None = None) -> None:
        require_trace(trace)
        missed = np.empty(0, np.uint8) if missed is None else missed
        taken = loop(state.capacity, state.page, state.slot, state.reg, trace, missed)
        if taken < len(trace):
            raise ValueError(f"page id {trace[taken]}: ids must be below {len(state.page)}")

    run.__doc__ = "See the function of this name in :mod:`flashsim.kernels.c`."
    return run
