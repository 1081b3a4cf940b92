"""``csim/weave.c``."""

import numpy as np

from flashsim.kernels.c.binding import lib, pointer
from flashsim.kernels.weave import check_weave


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
    """Write the ids of tokens to ``out`` in a workload's order, each once a step; return how many.

    ids: uint32, token after token. ends: int64, shape (tokens,), where each one's end. order: int32, the tokens as they
    are handed out; None = as they come. step_ends: int64, increasing, where each step ends, counted in tokens handed
    out. seen: uint64, a power of two of slots, more than any step has different ids, all 0 at first; None = every id as
    often as it comes. stamp: from 1, step s takes stamp + s, none twice for one ``seen``. out: uint32, room for every
    id handed out. counts: uint16, one a token handed out: receives how many ids it wrote.
    Raises ValueError where the arrays do not fit each other.
    """
    emitted = check_weave(ends, order, step_ends, seen, stamp, counts)
    written = lib.fs_weave(
        pointer("uint32_t[]", ids, np.uint32),
        len(ids),
        pointer("int64_t[]", ends, np.int64),
        len(ends),
        pointer("int32_t[]", order, np.int32),
        emitted,
        pointer("int64_t[]", step_ends, np.int64),
        len(step_ends),
        pointer("uint64_t[]", seen, np.uint64, writable=True),
        0 if seen is None else len(seen) - 1,
        stamp,
        pointer("uint32_t[]", out, np.uint32, writable=True),
        len(out),
        pointer("uint16_t[]", counts, np.uint16, writable=True),
    )
    if written < 0:
        raise ValueError(f"{len(ids)} ids of {len(ends)} tokens, {emitted} handed out, room for {len(out)}")
    return written
