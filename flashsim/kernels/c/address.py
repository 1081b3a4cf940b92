"""``csim/address.c``."""

import numpy as np

from flashsim.kernels.c.binding import ffi, lib, pointer, stream_arguments
from flashsim.kernels.plan import MixPlan


def mix_address(
    plan: MixPlan,
    ids: np.ndarray,
    first: int,
    starts: np.ndarray,
    out: np.ndarray,
    counts: np.ndarray | None = None,
) -> int:
    """Write the row or page ids of tokens ids[first:] to ``out``; return how many.

    ids: uint32 token ids; those before ``first`` are context. starts: int64, increasing positions in ids at which a
    document starts; position 0 counts as one. out: uint32, room for plan.ids_per_token a token. counts: uint8, one a
    token, or None: receives the number of orders that each token had in reach (an order whose n-gram would cross its
    document's start emits nothing; each other one emits plan.ids_per_order ids).
    """
    if counts is not None and len(counts) < len(ids) - first:
        raise ValueError(f"counts has room for {len(counts)} of {len(ids) - first} tokens")
    uint64s = {
        name: pointer("uint64_t[]", getattr(plan, name), np.uint64)
        for name in ("seeds", "modulus", "base", "head_multiplier", "head_modulus", "head_base")
    }
    orders = pointer("uint32_t[]", plan.orders, np.uint32)
    c_plan = ffi.new(
        "struct fs_mix_plan *",
        uint64s
        | {
            "kind": plan.kind,
            "orders_count": len(plan.orders),
            "orders": orders,
            "scale": plan.scale,
            "heads": plan.heads,
            "stride": plan.head_modulus.shape[1],
            "divide_multiplier": plan.divide.multiplier,
            "divide_addend": plan.divide.addend,
            "divide_shift": plan.divide.shift,
        },
    )
    written = lib.fs_mix_address(
        c_plan,
        *stream_arguments(ids, first, starts, out),
        pointer("uint8_t[]", counts, np.uint8, writable=True),
    )
    if written < 0:
        raise ValueError(f"fs_mix_address refused its arguments (errno {-written}): {plan}")
    return written
