"""Twin of ``csim/belady.c``, which says what the records hold."""

import numpy as np
from numba import njit

from flashsim.kernels.nb.bits import AHEAD, leading_zeros, prefetch
from flashsim.kernels.state import NEVER, PolicyState

_AHEAD_LINK = 24
_ONE, _63 = np.uint64(1), np.uint64(63)


@njit(nogil=True, _nrt=False)
def _next_use(trace, last, uses, first):
    end = len(trace) - 1
    for t in range(len(trace)):
        x = trace[t]
        if x >= len(last):
            return t
        prefetch(last, np.int64(trace[min(t + AHEAD, end)]))
        near = trace[min(t + _AHEAD_LINK, end)]
        if near < len(last) and last[near]:
            prefetch(uses, np.int64(last[near]) - 1)
        before = np.int64(last[x])
        if before:
            uses[before - 1] = first + t
        last[x] = first + t + 1
        uses[first + t] = NEVER
    return len(trace)


def next_use(trace: np.ndarray, last: np.ndarray, uses: np.ndarray, first: int) -> None:
    """See :func:`flashsim.kernels.c.next_use`."""
    if first + len(trace) > min(len(uses), NEVER - 1):
        raise ValueError(f"room for {min(len(uses), NEVER - 1)} of {first + len(trace)} references")
    taken = _next_use(trace, last, uses, first)
    if taken < len(trace):
        raise ValueError(f"page id {trace[taken]}: ids must be below {len(last)}")


@njit(inline="always")
def _set(marks, base, top, time):
    for level in range(top + 1):
        at = base[level] + (time >> 6)
        word = marks[at]
        marks[at] = word | _ONE << (np.uint64(time) & _63)
        if word:
            return
        time >>= 6


@njit(inline="always")
def _clear(marks, base, top, time):
    for level in range(top + 1):
        at = base[level] + (time >> 6)
        marks[at] &= ~(_ONE << (np.uint64(time) & _63))
        if marks[at]:
            return
        time >>= 6


@njit(inline="always")
def _highest(marks, base, top):
    at = 0
    for level in range(top, -1, -1):
        at = at * 64 + 63 - np.int64(leading_zeros(marks[base[level] + at]))
    return at


@njit(nogil=True, _nrt=False)
def _min_run(capacity, marks, base, top, reg, uses, missed):
    begin, references, end = reg[3], reg[4], len(uses) - 1
    misses, never, cached = 0, reg[1], reg[2]
    t = 0
    while t < len(uses):
        now, use, ahead = begin + t, np.int64(uses[t]), np.int64(uses[min(t + AHEAD, end)])
        if now >= references or use <= now or (use >= references and use != NEVER):
            break
        prefetch(marks, (ahead if ahead < references else 0) >> 6)
        miss = not (marks[now >> 6] >> (np.uint64(now) & _63)) & _ONE
        if not miss:
            _clear(marks, base, top, now)
        elif cached < capacity:
            cached += 1
        elif never:
            never -= 1
        else:
            _clear(marks, base, top, _highest(marks, base, top))
        if use == NEVER:
            never += 1
        else:
            _set(marks, base, top, use)
        misses += miss
        if len(missed):
            missed[t] = miss
        t += 1
    reg[0] += misses
    reg[1], reg[2], reg[3] = never, cached, begin + t
    return t


def min_run(state: PolicyState, trace: np.ndarray, missed: np.ndarray | None = None) -> None:
    """See the function of this name in :mod:`flashsim.kernels.c`."""
    sizes = [(int(state.reg[4]) + 63) // 64]
    while sizes[-1] > 1:
        sizes.append((sizes[-1] + 63) // 64)
    base = np.concatenate(([0], np.cumsum(sizes)))
    if base[-1] > len(state.slot):
        raise ValueError(f"{len(state.slot)} words of marks for {state.reg[4]} references")
    missed = np.empty(0, np.uint8) if missed is None else missed
    marks = state.slot.view(np.uint64)[:, 0]
    if _min_run(state.capacity, marks, base, len(sizes) - 1, state.reg, trace, missed) < len(trace):
        raise ValueError(f"min: next uses of {state.reg[4]} references expected, each later than its own")
