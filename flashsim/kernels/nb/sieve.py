"""Twin of ``csim/sieve.c``, which says what the records hold."""

from numba import njit

from flashsim.kernels.nb.policy import look, policy, queued, wrapped
from flashsim.kernels.state import GONE


@njit(inline="always")
def _turn(reg):
    if reg[2] == 0:
        reg[1] = 0
        reg[2] = reg[3]
        reg[3] = 0
        reg[4] ^= 1


@njit(inline="always")
def _evict(capacity, page, slot, reg):
    visited = True
    while visited:
        oldest = look(page, slot, reg[4] * capacity, reg[1], capacity)
        reg[1] = wrapped(reg[1] + 1, capacity)
        reg[2] -= 1
        visited = page[oldest, 0] == 2
        page[oldest, 0] = 1 if visited else GONE
        if visited:
            slot[(reg[4] ^ 1) * capacity + reg[3], 0] = oldest
            reg[3] += 1
        _turn(reg)


@njit(inline="always")
def _access(capacity, page, slot, reg, x):
    if queued(page[x, 0]):
        page[x, 0] = 2
        return False
    if reg[2] + reg[3] == capacity:
        _evict(capacity, page, slot, reg)
    slot[reg[4] * capacity + wrapped(reg[1] + reg[2], capacity), 0] = x
    reg[2] += 1
    page[x, 0] = 1
    return True


sieve_run = policy(_access)
