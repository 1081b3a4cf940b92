"""``csim/place.c``."""

import numpy as np

from flashsim.kernels.c.binding import ffi, lib, pointer
from flashsim.kernels.plan import PlacePlan


def place(
    plan: PlacePlan,
    rows: np.ndarray,
    tokens: int,
    out: np.ndarray,
    counts: np.ndarray | None = None,
    row_counts: np.ndarray | None = None,
) -> int:
    """Write the page ids of ``rows`` to ``out``, in order; return how many.

    rows: uint32 row ids of ``tokens`` tokens, plan.columns each, or as many as row_counts (uint16, one a token) says: a
    token's rows are those of its first columns. out: uint32, room for plan.pages_per_row_most a row. counts: uint16,
    one a token, or None: receives the number of pages of each token.
    Raises ValueError where the arrays do not fit each other, or where a page id is negative or over 2^32 - 1.
    """
    plan.check(rows, tokens, out, counts, row_counts)
    arrays = {
        "base": pointer("int64_t[]", plan.base, np.int64),
        "stride": pointer("uint64_t[]", plan.stride, np.uint64),
        "bytes": pointer("uint64_t[]", plan.bytes, np.uint64),
    }
    numbers = {
        name: getattr(plan, name)
        for name in ("columns", "regions", "shard_rows", "shard_gap", "page_bytes", "rows_per_page", "row_pages")
    }
    written = lib.fs_place(
        ffi.new("struct fs_place_plan *", numbers | arrays),
        pointer("uint32_t[]", rows, np.uint32),
        pointer("uint16_t[]", row_counts, np.uint16),
        tokens,
        pointer("uint32_t[]", out, np.uint32, writable=True),
        len(out),
        pointer("uint16_t[]", counts, np.uint16, writable=True),
    )
    if written < 0:
        raise ValueError(f"a page id does not lie in 0 to {2**32 - 1}: {plan}")
    return written
