"""Twin of ``csim/match.c``, and the trie that both walk."""

import numpy as np
from numba import njit

from flashsim.kernels.nb.address import mix13

_EMPTY, _NO_ROW, _NODES = np.uint64(2**64 - 1), np.uint64(2**32 - 1), np.uint64(2**31)
_LOW, _S32, _ONE = np.uint64(2**32 - 1), np.uint64(32), np.uint64(1)


@njit(inline="always")
def _slot(slots, key):
    """The slot of ``key``, or the empty one where it would go."""
    mask = np.uint64(len(slots) - 1)
    at = mix13(key) & mask
    while slots[at, 0] != key and slots[at, 0] != _EMPTY:
        at = (at + _ONE) & mask
    return at


@njit(cache=True, nogil=True)
def _match(slots, depth, ids, first, starts, out, counts):
    document, next_start, at = 0, 0, 0
    for position in range(first, len(ids)):
        while next_start < len(starts) and starts[next_start] <= position:
            document = starts[next_start]
            next_start += 1
        parent, row = np.uint64(ids[position]), _NO_ROW
        for k in range(1, min(position - document, depth - 1) + 1):
            slot = _slot(slots, (parent << _S32) | np.uint64(ids[position - k]))
            if slots[slot, 0] == _EMPTY:
                break
            parent = _NODES | (slots[slot, 1] & _LOW)
            if slots[slot, 1] >> _S32 != _NO_ROW:
                row = slots[slot, 1] >> _S32
        if row != _NO_ROW:
            out[at] = row
            at += 1
        if len(counts):
            counts[position - first] = row != _NO_ROW
    return at


@njit(cache=True, nogil=True)
def insert(slots, grams, lengths):
    """Put n-grams into the empty trie ``slots``: uint32 ``grams``, shape (n-grams, depth), newest token first, of which
    the first ``lengths`` count; the row of each is its index. Returns the nodes, or -1 where they would fill over half
    the slots, or -2 - i where n-gram i was there before."""
    nodes = 0
    for row in range(len(grams)):
        parent, slot = np.uint64(grams[row, 0]), np.uint64(0)
        for k in range(1, lengths[row]):
            key = (parent << _S32) | np.uint64(grams[row, k])
            slot = _slot(slots, key)
            if slots[slot, 0] == _EMPTY:
                if 2 * nodes >= len(slots) - 1:
                    return -1
                slots[slot, 0], slots[slot, 1] = key, (_NO_ROW << _S32) | np.uint64(nodes)
                nodes += 1
            parent = _NODES | (slots[slot, 1] & _LOW)
        if slots[slot, 1] >> _S32 != _NO_ROW:
            return -2 - row
        slots[slot, 1] = (np.uint64(row) << _S32) | (slots[slot, 1] & _LOW)
    return nodes


def match(
    slots: np.ndarray,
    depth: int,
    ids: np.ndarray,
    first: int,
    starts: np.ndarray,
    out: np.ndarray,
    counts: np.ndarray | None = None,
) -> int:
    """See :func:`flashsim.kernels.c.match`."""
    if len(out) < len(ids) - first or (counts is not None and len(counts) < len(ids) - first):
        raise ValueError(f"room for {len(out)} rows of {len(ids) - first} tokens")
    return _match(slots, depth, ids, first, starts, out, np.empty(0, np.uint16) if counts is None else counts)
