"""Twin of ``csim/twoq.c``, which says what the records hold."""

from numba import njit

from flashsim.kernels.nb.log import AT, CACHED, GHOSTS, demote, enter, evict, find, forget, leave
from flashsim.kernels.nb.policy import policy

_A1, _AM = 0, 1
_A1_AT, _AM_AT = AT[:2]


@njit(inline="always")
def _access(capacity, page, slot, reg, x):
    number, log, cached, ghost = find(page, reg, x)
    if cached:
        if log == _AM:
            leave(slot, reg, log, number, True)
            enter(page, slot, reg, _AM, x)
        return False
    if ghost:
        leave(slot, reg, log, number, False)
    if reg[_A1_AT + CACHED] + reg[_AM_AT + CACHED] == capacity:
        if reg[_AM_AT + CACHED] and reg[_A1_AT + CACHED] <= reg[1]:
            evict(slot, reg, _AM)
        else:
            demote(slot, reg, _A1)
        if reg[_A1_AT + GHOSTS] > reg[2]:
            forget(slot, reg, _A1)
    enter(page, slot, reg, _AM if ghost else _A1, x)
    return True


twoq_run = policy(_access)
