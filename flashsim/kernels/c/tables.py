"""``csim/tables.c``."""

import numpy as np

from flashsim.kernels.c.binding import ffi, lib, pointer, stream_arguments
from flashsim.kernels.plan import TablePlan


def _padded(array: np.ndarray, stride: int, spare: int) -> np.ndarray:
    """``array`` with its last axis filled up to ``stride``."""
    out = np.full((*array.shape[:-1], stride), spare, array.dtype)
    out[..., : array.shape[-1]] = array
    return out


def table_rows(plan: TablePlan, ids: np.ndarray, first: int, starts: np.ndarray, out: np.ndarray) -> int:
    """Write the row ids of tokens ids[first:] to ``out``, plan.tables a token; return how many.

    ids: uint32 token ids; those before ``first`` are context. starts: int64, increasing positions in ids at which a
    document starts; position 0 counts as one. out: uint32, room for plan.tables a token.
    Raises ValueError where there is less room.
    """
    stride = -(-plan.tables // 8) * 8
    arrays = {
        "coefficients": pointer("uint64_t[]", _padded(plan.coefficients, stride, 0), np.uint64),
        "modulus": pointer("uint64_t[]", _padded(plan.modulus, stride, 1), np.uint64),
        "base": pointer("uint64_t[]", _padded(plan.base, stride, 0), np.uint64),
        "order": pointer("uint32_t[]", _padded(plan.order, stride, 1), np.uint32),
        "reserved": pointer("uint32_t[]", _padded(plan.reserved, stride, 0), np.uint32),
    }
    numbers = {
        "op": plan.op,
        "word": plan.word,
        "missing": plan.missing,
        "filler": plan.filler,
        "depth": len(plan.coefficients),
        "tables": plan.tables,
        "stride": stride,
    }
    written = lib.fs_table_rows(
        ffi.new("struct fs_table_plan *", numbers | arrays),
        *stream_arguments(ids, first, starts, out),
    )
    if written < 0:
        raise ValueError(f"room for {len(out)} rows of tokens {first} to {len(ids)}, {plan.tables} each")
    return written
