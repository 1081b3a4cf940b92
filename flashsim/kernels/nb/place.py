"""Twin of ``csim/place.c``."""

import numpy as np
from numba import njit

from flashsim.kernels.plan import PlacePlan


@njit(cache=True, nogil=True, error_model="numpy")
def _place(
    base, stride, size, shard_rows, shard_gap, page_bytes, rows_per_page, row_pages, rows, tokens, row_counts,
    out, counts,
):  # fmt: skip
    regions, columns = base.shape
    row, at = 0, 0
    for token in range(tokens):
        began = at
        for column in range(row_counts[token] if len(row_counts) else columns):
            r = np.int64(rows[row])
            row += 1
            for region in range(regions):
                if rows_per_page:
                    page = base[0, column] // page_bytes + r // rows_per_page * row_pages
                    end = page + row_pages
                else:
                    start = base[region, column] + r * stride[region]
                    if shard_rows:
                        start += r // shard_rows * shard_gap
                    page = start // page_bytes
                    end = (start + size[region] - 1) // page_bytes + 1
                if page < 0 or end > 2**32:
                    return -1
                for each in range(page, end):
                    out[at] = each
                    at += 1
        if len(counts):
            counts[token] = at - began
    return at


def place(
    plan: PlacePlan,
    rows: np.ndarray,
    tokens: int,
    out: np.ndarray,
    counts: np.ndarray | None = None,
    row_counts: np.ndarray | None = None,
) -> int:
    """See :func:`flashsim.kernels.c.place`."""
    plan.check(rows, tokens, out, counts, row_counts)
    none = np.empty(0, np.uint16)
    written = _place(
        plan.base, plan.stride.astype(np.int64), plan.bytes.astype(np.int64), plan.shard_rows, plan.shard_gap,
        plan.page_bytes, plan.rows_per_page, plan.row_pages, rows, tokens, none if row_counts is None else row_counts,
        out, none if counts is None else counts,
    )  # fmt: skip
    if written < 0:
        raise ValueError(f"a page id does not lie in 0 to {2**32 - 1}: {plan}")
    return written
