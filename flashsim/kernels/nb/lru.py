"""Twin of ``csim/lru.c``, which tells the method: batches, bounds, and references in doubt."""

import numpy as np
from numba import njit

from flashsim.kernels.nb.bits import popcount, prefetch, require_trace, trailing_zeros
from flashsim.kernels.nb.ids import in_range, soon_of
from flashsim.kernels.nb.recency import by_last_access
from flashsim.kernels.state import lru_slots

_BATCH, _WORDS = 128, 2
_UNBOUNDED, _NONE = 2**31 - 2, 2**31 - 1  # after every slot
_ONE, _ALL = np.uint64(1), np.uint64(2**64 - 1)
_LANE = np.dtype([(field, np.int64) for field in ("capacity", "misses", "evicted", "tau", "bound", "scanned", "room")])


@njit(inline="always")
def _bit(i):
    return _ONE << np.uint64(i & 63)


@njit(inline="always")
def _at_most(touched, word, limit):
    """Which of the 64 ``touched`` of a word are at most ``limit``, as a mask; LLVM turns this form into vectors."""
    of_word, most, mask = touched[64 * word : 64 * word + 64], np.int32(limit), np.uint64(0)
    for i in range(64):
        mask |= np.uint64(of_word[i] <= most) << np.uint64(i)
    return mask


@njit(inline="always")
def _set(live, first, end):
    """Make slots [first, end) live, and what follows in the last word: nothing looks there yet."""
    live[first >> 6] |= _ALL << np.uint64(first & 63)
    live[(first >> 6) + 1 : (end + 63) >> 6] = _ALL


@njit(inline="always")
def _before(mask, i):
    """Bits set in mask before bit i."""
    count = np.int64(popcount(mask[i >> 6] & (_bit(i) - _ONE)))
    for word in range(i >> 6):
        count += np.int64(popcount(mask[word]))
    return count


@njit(inline="always")
def _after_live(live, first, count):
    """The smallest t such that ``count`` live slots, at least 1, lie in [first, t)."""
    at = first >> 6
    word = live[at] & (_ALL << np.uint64(first & 63))
    seen = np.int64(popcount(word))
    while seen < count:
        count -= seen
        at += 1
        word = live[at]
        seen = np.int64(popcount(word))
    for _ in range(count - 1):
        word &= word - _ONE
    return at * 64 + np.int64(trailing_zeros(word)) + 1


@njit(inline="always")
def _evict(lane, live, misses, distinct):
    evicted = misses - min(distinct, lane.capacity)
    passed = evicted - lane.evicted
    if passed:
        lane.tau = _after_live(live, lane.tau, passed)
    lane.evicted = evicted
    lane.room -= passed


@njit(inline="always")
def _settle(lanes, live, now, distinct):
    for k in range(len(lanes)):
        lane = lanes[k]
        _evict(lane, live, lane.misses, distinct)
        lane.bound = 0
        if distinct + _BATCH > lane.capacity:
            first = lane.tau >> 6
            if lane.scanned < first:
                lane.scanned, lane.room = first, 0
            while lane.room < _BATCH and lane.scanned < now >> 6:
                word = live[lane.scanned]
                if lane.scanned == first:
                    word &= _ALL << np.uint64(lane.tau & 63)
                lane.room += np.int64(popcount(word))
                lane.scanned += 1
            lane.bound = lane.scanned * 64 if lane.room >= _BATCH else _UNBOUNDED


@njit(inline="always")
def _decide(lanes, live, missed, distinct, touched, i):
    """Reference i, in doubt."""
    for k in range(len(lanes)):
        lane = lanes[k]
        if missed[k, i >> 6] & _bit(i) or touched > lane.bound:
            continue
        _evict(lane, live, lane.misses + _before(missed[k], i), distinct)
        if touched <= lane.tau:
            missed[k, i >> 6] |= _bit(i)
        elif touched <= lane.scanned * 64:
            lane.room -= 1
    live[(touched - 1) >> 6] &= ~_bit(touched - 1)


@njit(cache=True, nogil=True)
def _run(lanes, last, live, counters, trace, classes):
    """``counters`` is [next slot, distinct pages]. Stops at the first id that is out of range, or when the slots are
    used up; returns how many references were taken."""
    touched, doubt = np.empty(_BATCH, np.int32), np.empty(_WORDS, np.uint64)
    cold, missed = np.empty(_WORDS, np.uint64), np.empty((len(lanes), _WORDS), np.uint64)
    now, distinct = counters[0], counters[1]
    at, good = 0, True
    while at < len(trace) and now < len(live) * 64 and good:
        _settle(lanes, live, now, distinct)
        ids = trace[at : at + _BATCH - now % _BATCH]
        count, soon = in_range(ids, len(last)), soon_of(trace, at, len(ids))
        good = count == len(ids)
        for i in range(count):
            prefetch(last, np.int64(soon[i]))
            touched[i] = last[ids[i]]
            last[ids[i]] = now + i + 1
        touched[count:] = _NONE

        doubt[:] = 0
        for word in range(_WORDS):
            cold[word] = _at_most(touched, word, 0)
            for k in range(len(lanes)):
                missed[k, word] = _at_most(touched, word, lanes[k].tau)
                doubt[word] |= _at_most(touched, word, lanes[k].bound) & ~missed[k, word]
        _set(live, now, now + count)
        for word in range(_WORDS):
            hit = _at_most(touched, word, _UNBOUNDED) & ~missed[-1, word]
            while doubt[word]:
                i = 64 * word + np.int64(trailing_zeros(doubt[word]))
                doubt[word] &= doubt[word] - _ONE
                _decide(lanes, live, missed, distinct + _before(cold, i), np.int64(touched[i]), i)
            while hit:
                slot = np.int64(touched[64 * word + np.int64(trailing_zeros(hit))]) - 1
                hit &= hit - _ONE
                live[slot >> 6] &= ~_bit(slot)
        for word in range(_WORDS):
            distinct += np.int64(popcount(cold[word]))
            for k in range(len(lanes)):
                lanes[k].misses += np.int64(popcount(missed[k, word]))
        if len(classes):
            classes[at : at + count] = 0
            for k in range(len(lanes)):
                for i in range(count):
                    classes[at + i] += np.uint8((missed[k, i >> 6] >> np.uint64(i & 63)) & _ONE)
        at += count
        now += count
    counters[0], counters[1] = now, distinct
    return at


@njit(cache=True, nogil=True)
def _renumber(lanes, last, live, counters):
    """The newest accesses, in order, become slots 0 .. distinct - 1."""
    live[:] = 0
    for page in range(len(last)):
        touched = last[page] != 0
        slot = last[page] - touched
        live[slot >> 6] |= np.uint64(touched) << np.uint64(slot & 63)
    ranks, rank = np.empty(len(live), np.uint32), 0
    for word in range(len(live)):
        ranks[word] = rank
        rank += np.int64(popcount(live[word]))
    for page in range(len(last)):
        touched = last[page] != 0
        slot = last[page] - touched
        last[page] = ranks[slot >> 6] + popcount(live[slot >> 6] & (_bit(slot) - _ONE)) + touched
    live[:] = 0
    _set(live, 0, rank)
    counters[0] = rank
    for k in range(len(lanes)):
        lane = lanes[k]
        lane.tau = rank - min(rank, lane.capacity)
        lane.evicted = lane.misses - min(rank, lane.capacity)
        lane.scanned, lane.room = 0, 0


class Lru:
    """See :class:`flashsim.kernels.c.Lru`."""

    def __init__(self, capacities: np.ndarray, pages: int) -> None:
        self._lanes = np.zeros(len(capacities), _LANE)
        self._lanes["capacity"] = capacities
        self._last, self._live = np.zeros(pages, np.uint32), np.zeros(lru_slots(pages) // 64, np.uint64)
        self._counters = np.zeros(2, np.int64)

    def run(self, trace: np.ndarray, classes: np.ndarray | None = None) -> None:
        """See :meth:`flashsim.kernels.c.Lru.run`."""
        require_trace(trace)
        classes = np.empty(0, np.uint8) if classes is None else classes
        while len(trace):
            taken = _run(self._lanes, self._last, self._live, self._counters, trace, classes)
            trace, classes = trace[taken:], classes[taken:]
            if len(trace) and trace[0] >= len(self._last):
                raise ValueError(f"page id {trace[0]}: ids must be below {len(self._last)}")
            if len(trace):
                _renumber(self._lanes, self._last, self._live, self._counters)

    @property
    def misses(self) -> np.ndarray:
        """See :attr:`flashsim.kernels.c.Lru.misses`."""
        return self._lanes["misses"].copy()

    @property
    def distinct(self) -> int:
        """Pages touched so far."""
        return int(self._counters[1])

    @property
    def recency(self) -> np.ndarray:
        """See :attr:`flashsim.kernels.c.Lru.recency`."""
        return by_last_access(self._last)
