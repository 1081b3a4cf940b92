"""Twin of ``csim/lru.c``: the same method, with every tau kept up to date."""

import numpy as np
from numba import njit

from flashsim.kernels.nb.bits import AHEAD, prefetch, require_trace, trailing_zeros

_ONE = np.uint64(1)


@njit(cache=True, nogil=True)
def _run(capacities, tau, misses, last, live, counters, trace, classes):
    """``counters`` is [next slot, distinct pages]. Stops at the first id that is out of range, or when the slots are
    used up; returns how many references were taken."""
    lanes, slots = len(capacities), len(live) * 64
    now, distinct = counters[0], counters[1]
    taken = len(trace)
    for t in range(len(trace)):
        page = trace[t]
        prefetch(last, np.int64(trace[min(t + AHEAD, len(trace) - 1)]))
        if now == slots or page >= len(last):
            taken = t
            break
        touched = np.int64(last[page])
        if touched:
            live[(touched - 1) >> 6] &= ~(_ONE << np.uint64((touched - 1) & 63))
        else:
            distinct += 1
        live[now >> 6] |= _ONE << np.uint64(now & 63)
        last[page] = now + 1
        now += 1
        missed = 0
        while missed < lanes and touched <= tau[missed]:
            misses[missed] += 1
            if misses[missed] > capacities[missed]:  # full before this miss: its oldest page goes
                at = tau[missed] >> 6
                word = live[at] >> np.uint64(tau[missed] & 63) << np.uint64(tau[missed] & 63)
                while word == 0:
                    at += 1
                    word = live[at]
                tau[missed] = at * 64 + np.int64(trailing_zeros(word)) + 1
            missed += 1
        if len(classes):
            classes[t] = missed
    counters[0], counters[1] = now, distinct
    return taken


@njit(cache=True, nogil=True)
def _renumber(tau, last, live, counters):
    """The newest accesses, in order, become slots 0 .. distinct - 1."""
    ranks = np.zeros(len(live) * 64 + 1, np.uint32)
    for slot in range(len(live) * 64):
        ranks[slot + 1] = ranks[slot] + np.uint32((live[slot >> 6] >> np.uint64(slot & 63)) & _ONE)
    for page in range(len(last)):
        last[page] = ranks[last[page]]
    for k in range(len(tau)):
        tau[k] = ranks[tau[k]]
    live[:] = 0
    for slot in range(counters[1]):
        live[slot >> 6] |= _ONE << np.uint64(slot & 63)
    counters[0] = counters[1]


class Lru:
    """See :class:`flashsim.kernels.c.Lru`."""

    def __init__(self, capacities: np.ndarray, pages: int) -> None:
        words = min(max(8 * pages, 1 << 22) + 256, 2**31 - 1) // 64
        self._capacities = np.asarray(capacities, np.int64)
        self._tau = np.zeros(len(capacities), np.int64)
        self.misses = np.zeros(len(capacities), np.int64)
        self._last, self._live = np.zeros(pages, np.uint32), np.zeros(words, np.uint64)
        self._counters = np.zeros(2, np.int64)

    def run(self, trace: np.ndarray, classes: np.ndarray | None = None) -> None:
        """See :meth:`flashsim.kernels.c.Lru.run`."""
        require_trace(trace)
        classes = np.empty(0, np.uint8) if classes is None else classes
        while len(trace):
            taken = _run(
                self._capacities, self._tau, self.misses, self._last, self._live, self._counters, trace, classes
            )
            trace, classes = trace[taken:], classes[taken:]
            if len(trace) and trace[0] >= len(self._last):
                raise ValueError(f"page id {trace[0]}: ids must be below {len(self._last)}")
            if len(trace):
                _renumber(self._tau, self._last, self._live, self._counters)

    @property
    def distinct(self) -> int:
        """Pages touched so far."""
        return int(self._counters[1])

    @property
    def recency(self) -> np.ndarray:
        """See :attr:`flashsim.kernels.c.Lru.recency`."""
        touched = np.flatnonzero(self._last).astype(np.uint32)
        return touched[np.argsort(self._last[touched])]
