"""Twin of ``csim/arc.c``, which says what the records hold."""

from numba import njit

from flashsim.kernels.nb.bits import bits_of, double_of
from flashsim.kernels.nb.log import AT, CACHED, GHOSTS, demote, enter, evict, find, forget, leave
from flashsim.kernels.nb.policy import policy

_L1, _L2 = 0, 1
_L1_AT, _L2_AT = AT[:2]


@njit(inline="always")
def _replace(slot, reg, p, in_b2):
    t1, t2 = reg[_L1_AT + CACHED], reg[_L2_AT + CACHED]
    demote(slot, reg, _L1 if (t1 and (t1 > p or (in_b2 and t1 == p))) or not t2 else _L2)


@njit(inline="always")
def _access(capacity, page, slot, reg, x):
    number, log, cached, ghost = find(page, reg, x)
    if cached:
        leave(slot, reg, log, number, True)
        enter(page, slot, reg, _L2, x)
        return False
    p = double_of(reg[1])
    t1, b1 = reg[_L1_AT + CACHED], reg[_L1_AT + GHOSTS]
    t2, b2 = reg[_L2_AT + CACHED], reg[_L2_AT + GHOSTS]
    if ghost:
        if log == _L1:
            p = min(p + (b2 / b1 if b2 > b1 else 1.0), float(capacity))
        else:
            p = max(p - (b1 / b2 if b1 > b2 else 1.0), 0.0)
        reg[1] = bits_of(p)
        leave(slot, reg, log, number, False)
        _replace(slot, reg, p, log == _L2)
        enter(page, slot, reg, _L2, x)
        return True
    if t1 == capacity:
        evict(slot, reg, _L1)
    elif t1 + t2 == capacity:
        if t1 + b1 == capacity:
            forget(slot, reg, _L1)
        elif b1 + b2 == capacity:
            forget(slot, reg, _L2)
        _replace(slot, reg, p, False)
    enter(page, slot, reg, _L1, x)
    return True


arc_run = policy(_access)
