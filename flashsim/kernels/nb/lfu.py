"""Twin of ``csim/lfu.c``, which says what the records hold."""

import numpy as np
from numba import njit

from flashsim.kernels.nb.policy import policy, queued
from flashsim.kernels.state import GONE

_PAGE, _PREVIOUS, _NEXT, _BUCKET = range(4)
_LAST, _UP, _READS = range(3)


@njit(inline="always")
def _reads_of(slot, at):
    return np.int64(slot[at, _READS]) | np.int64(slot[at, _READS + 1]) << 32


@njit(inline="always")
def _set_reads(slot, at, reads):
    slot[at, _READS] = reads & 0xFFFFFFFF
    slot[at, _READS + 1] = reads >> 32


@njit(inline="always")
def _unlink(slot, node):
    previous, following = slot[node, _PREVIOUS], slot[node, _NEXT]
    slot[previous, _NEXT] = following
    slot[following, _PREVIOUS] = previous


@njit(inline="always")
def _link_after(slot, node, previous):
    following = slot[previous, _NEXT]
    slot[node, _PREVIOUS] = previous
    slot[node, _NEXT] = following
    slot[following, _PREVIOUS] = node
    slot[previous, _NEXT] = node


@njit(inline="always")
def _release(capacity, slot, reg, below, bucket):
    buckets = capacity + 1
    slot[buckets + below, _UP] = slot[buckets + bucket, _UP]
    slot[buckets + bucket, _UP] = reg[2]
    reg[2] = bucket


@njit(inline="always")
def _bucket_above(capacity, slot, reg, below):
    buckets = capacity + 1
    at = buckets + below
    up, reads = np.int64(slot[at, _UP]), _reads_of(slot, at) + 1
    if up and _reads_of(slot, buckets + up) == reads:
        return up
    bucket = reg[2]
    if bucket:
        reg[2] = slot[buckets + bucket, _UP]
    else:
        reg[3] += 1
        bucket = reg[3]
    slot[buckets + bucket, _LAST] = slot[at, _LAST]
    slot[buckets + bucket, _UP] = up
    _set_reads(slot, buckets + bucket, reads)
    slot[at, _UP] = bucket
    return bucket


@njit(inline="always")
def _hit(capacity, slot, reg, node):
    buckets = capacity + 1
    bucket, below = np.int64(slot[node, _BUCKET]), np.int64(slot[slot[node, _PREVIOUS], _BUCKET])
    at = buckets + bucket
    last = slot[at, _LAST] == node
    if last and below != bucket:
        reads, to = _reads_of(slot, at) + 1, np.int64(slot[at, _UP])
        if not to or _reads_of(slot, buckets + to) != reads:
            _set_reads(slot, at, reads)
            return
        _release(capacity, slot, reg, below, bucket)
    else:
        to = _bucket_above(capacity, slot, reg, bucket)
        if last:
            slot[at, _LAST] = slot[node, _PREVIOUS]
    slot[node, _BUCKET] = to
    after = np.int64(slot[buckets + to, _LAST])
    if after != node:
        _unlink(slot, node)
        _link_after(slot, node, after)
        slot[buckets + to, _LAST] = node


@njit(inline="always")
def _access(capacity, page, slot, reg, x):
    node = np.int64(page[x, 0])
    if queued(node):
        _hit(capacity, slot, reg, node)
        return False
    if reg[1] < capacity:
        reg[1] += 1
        node = reg[1]
    else:
        node = np.int64(slot[0, _NEXT])
        page[slot[node, _PAGE], 0] = GONE
        _unlink(slot, node)
        old = np.int64(slot[node, _BUCKET])
        if slot[capacity + 1 + old, _LAST] == node:
            _release(capacity, slot, reg, 0, old)
    bucket = _bucket_above(capacity, slot, reg, 0)
    _link_after(slot, node, np.int64(slot[capacity + 1 + bucket, _LAST]))
    slot[capacity + 1 + bucket, _LAST] = node
    slot[node, _PAGE] = x
    slot[node, _BUCKET] = bucket
    page[x, 0] = node
    return True


lfu_run = policy(_access)
