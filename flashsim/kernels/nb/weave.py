"""Twin of ``csim/weave.c``."""

import numpy as np
from numba import njit

from flashsim.kernels.weave import check_weave

_GOLDEN, _S32 = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


@njit(cache=True, nogil=True)
def _weave(ids, ends, order, reordered, step_ends, seen, stamp, out, counts):
    written, at, mask = 0, 0, np.uint64(max(len(seen) - 1, 0))
    for step in range(len(step_ends)):
        number, different = np.uint64(stamp + step), 0
        while at < step_ends[step]:
            token = order[at] if reordered else at
            if token < 0 or token >= len(ends):
                return -1
            begin, end, before = ends[token - 1] if token else 0, ends[token], written
            if begin > end or end > len(ids) or end - begin > len(out) - written or end - begin > 65535:
                return -1
            for id in ids[begin:end]:
                if len(seen):
                    key = (number << _S32) | np.uint64(id)
                    slot = ((np.uint64(id) * _GOLDEN) >> _S32) & mask
                    while seen[slot] >> _S32 == number and seen[slot] != key:
                        slot = (slot + np.uint64(1)) & mask
                    if seen[slot] == key:
                        continue
                    if different == len(seen) - 1:
                        return -1  # one slot stays free, or a search would not end
                    different += 1
                    seen[slot] = key
                out[written] = id
                written += 1
            counts[at] = written - before
            at += 1
    return written if at == (len(order) if reordered else len(ends)) else -1


def weave(
    ids: np.ndarray,
    ends: np.ndarray,
    order: np.ndarray | None,
    step_ends: np.ndarray,
    seen: np.ndarray | None,
    stamp: int,
    out: np.ndarray,
    counts: np.ndarray,
) -> int:
    """See :func:`flashsim.kernels.c.weave`."""
    emitted = check_weave(ends, order, step_ends, seen, stamp, counts)
    written = _weave(
        ids, ends, np.empty(0, np.int32) if order is None else order, order is not None, step_ends,
        np.empty(0, np.uint64) if seen is None else seen, stamp, out, counts,
    )  # fmt: skip
    if written < 0:
        raise ValueError(f"{len(ids)} ids of {len(ends)} tokens, {emitted} handed out, room for {len(out)}")
    return written
