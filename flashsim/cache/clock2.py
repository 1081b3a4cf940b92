"""CLOCK, 2 bits: as :mod:`flashsim.cache.clock`, but a page's counter goes up to 3, so that it may survive three
laps.

Paper: A. J. Smith, "Sequentiality and prefetching in database systems", ACM TODS 3(3), 1978, names it generalised
CLOCK.
Constants: the counter goes up to 3; everything else as in CLOCK: a page comes in at 0, the hand takes 1 off.
Ties: none. libCacheSim's Clock with ``n_bit_counter=2`` is the same.
Memory: 4 B a page and 4 B a page of capacity.
"""

from flashsim.cache import clock
from flashsim.kernels.state import PolicyState

NAME, KERNEL = "clock2", "clock2_run"

state = clock.state


def check(state: PolicyState) -> None:
    """The invariant at the end: that of CLOCK, with counters up to 3."""
    clock.check(state, most=3)
