"""Twin of ``csim/stack.c``: the same batches and the same two-level counts."""

import numpy as np
from numba import njit

from flashsim.kernels.nb.bits import AHEAD, popcount, prefetch, require_trace

_BATCH, _BLOCK, _SUPER = 128, 512, 32768  # slots
_WORDS, _BLOCKS = _BLOCK // 64, _SUPER // _BLOCK
_ONE, _ALL = np.uint64(1), np.uint64(2**64 - 1)


@njit(inline="always")
def _bit(slot):
    return _ONE << np.uint64(slot & 63)


@njit(inline="always")
def _live_through(live, blocks, supers, slot):
    block, word = slot // _BLOCK, slot // 64
    count = np.int64(supers[slot // _SUPER]) + np.int64(blocks[block])
    for at in range(block * _WORDS, word):
        count += np.int64(popcount(live[at]))
    return count + np.int64(popcount(live[word] << np.uint64(63 - (slot & 63))))


@njit(nogil=True)
def _count_blocks(live, blocks, supers, first, last):
    for block in range(first // _BLOCK + 1, last // _BLOCK + 1):
        before = np.int64(blocks[block - 1])
        for at in range((block - 1) * _WORDS, block * _WORDS):
            before += np.int64(popcount(live[at]))
        if block % _BLOCKS == 0:
            supers[block // _BLOCKS] = supers[block // _BLOCKS - 1] + before
            before = 0
        blocks[block] = before


@njit(nogil=True)
def _renumber(last, live, blocks, supers, state):
    live[:] = 0
    for page in range(len(last)):
        if last[page]:
            live[(last[page] - 1) // 64] |= _bit(last[page] - 1)
    ranks, rank = np.empty(len(live), np.int64), 0
    for word in range(len(live)):
        ranks[word] = rank
        rank += np.int64(popcount(live[word]))
    for page in range(len(last)):
        if last[page]:
            slot = np.int64(last[page]) - 1
            last[page] = ranks[slot // 64] + np.int64(popcount(live[slot // 64] & (_bit(slot) - _ONE))) + 1
    live[:] = 0
    for slot in range(rank):
        live[slot // 64] |= _bit(slot)
    blocks[0], supers[0] = 0, 0
    _count_blocks(live, blocks, supers, 0, rank)
    state[0] = rank


@njit(inline="always")
def _gather(last, trace, at, taken, now, slots):
    for i in range(taken):
        page = trace[at + i]
        if page >= len(last):
            return False
        prefetch(last, np.int64(trace[min(at + i + AHEAD, len(trace) - 1)]))
        slots[i] = np.int64(last[page]) - 1
        last[page] = now + i + 1
    slots[taken:] = 2**31 - 1
    return True


@njit(nogil=True)
def _run(last, counts, live, blocks, supers, removed, state, trace, distances):
    """``state`` is [next slot, distinct pages]. Returns False at a batch with an id that is out of range."""
    slots, below = np.empty(_BATCH, np.int32), np.empty(_BATCH, np.int32)
    for at in range(0, len(trace), _BATCH):
        if len(live) * 64 - state[0] <= _BATCH:
            _renumber(last, live, blocks, supers, state)
        taken, now, live_before = min(_BATCH, len(trace) - at), state[0], state[1]
        if not _gather(last, trace, at, taken, now, slots):
            return False
        for i in range(_BATCH):
            mine, count = slots[i], np.int32(0)
            for j in range(i):
                count += np.int32(slots[j] < mine)
            below[i] = count
        for i in range(taken):
            slot, distance = np.int64(slots[i]), np.int64(0)
            if slot >= now:
                distance = now - slot + below[i]
            elif slot >= 0:
                distance = live_before - _live_through(live, blocks, supers, slot) + below[i] + 1
            else:
                state[1] += 1
            counts[distance] += 1
            if len(distances):
                distances[at + i] = distance
        for slot in range(now, now + taken):
            live[slot // 64] |= _bit(slot)
        for i in range(taken):
            slot = np.int64(slots[i])
            if slot >= 0:
                live[slot // 64] &= ~_bit(slot)
            if 0 <= slot < now:
                block, row = (slot // _BLOCK) % _BLOCKS, slot // _SUPER * _BLOCKS
                removed[slot // _SUPER] += 1
                for b in range(block + 1, _BLOCKS):
                    blocks[row + b] -= np.uint16(1)
        gone = np.uint32(0)
        for super_block in range(now // _SUPER + 1):
            supers[super_block] -= gone
            gone += removed[super_block]
            removed[super_block] = 0
        _count_blocks(live, blocks, supers, now, now + taken)
        state[0] = now + taken
    return True


class StackDistances:
    """See :class:`flashsim.kernels.c.StackDistances`."""

    def __init__(self, pages: int) -> None:
        slots = -(-max(4 * pages, 1 << 22) // _SUPER) * _SUPER
        self.histogram = np.zeros(pages + 1, np.int64)
        self._last, self._live = np.zeros(pages, np.uint32), np.zeros(slots // 64, np.uint64)
        self._blocks, self._supers = np.zeros(slots // _BLOCK, np.uint16), np.zeros(slots // _SUPER, np.uint32)
        self._removed, self._state = np.zeros(slots // _SUPER, np.uint32), np.zeros(2, np.int64)

    def run(self, trace: np.ndarray, distances: np.ndarray | None = None) -> None:
        """See :meth:`flashsim.kernels.c.StackDistances.run`."""
        require_trace(trace)
        distances = np.empty(0, np.uint32) if distances is None else distances
        index = (self._live, self._blocks, self._supers, self._removed)
        good = _run(self._last, self.histogram, *index, self._state, trace, distances)
        self.histogram[0] = 0
        if not good:
            raise ValueError(f"page id {trace.max()}: ids must be below {len(self._last)}")

    @property
    def distinct(self) -> int:
        """Pages touched so far."""
        return int(self._state[1])
