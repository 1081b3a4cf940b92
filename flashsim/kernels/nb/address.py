"""Twin of ``csim/address.c``."""

import numpy as np
from numba import njit

from flashsim.kernels.plan import BUCKET, HEADS, WHOLE, MixPlan

# Typed constants: an int literal beside a uint64 would turn the arithmetic signed or into float64.
_MIX_A, _MIX_B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_LOW_52 = np.uint64(2**52 - 1)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@njit(inline="always")
def mix13(z):
    z = (z ^ (z >> _S30)) * _MIX_A
    z = (z ^ (z >> _S27)) * _MIX_B
    return z ^ (z >> _S31)


@njit(inline="always")
def _emit(kind, index, state, modulus, base, scale, heads, multiplier, head_modulus, head_base, divide, out, at):
    lead = np.uint64(0)
    if kind != HEADS:
        lead = base[index] + (state & _LOW_52) % modulus[index]
    if kind == WHOLE:
        out[at] = (lead * divide[0] + divide[1]) >> divide[2]
        return at + 1
    if kind == BUCKET:
        lead *= scale
    for k in range(heads):
        u = state * multiplier[index, k]
        u ^= u >> _S32
        row = head_base[index, k] + (u & _LOW_52) % head_modulus[index, k]
        out[at + k] = lead + ((row * divide[0] + divide[1]) >> divide[2])
    return at + heads


@njit(cache=True, nogil=True, error_model="numpy")
def _mix_address(
    kind, orders, seeds, modulus, base, scale, heads, multiplier, head_modulus, head_base, divide, ids, first, starts,
    out, counts,
):  # fmt: skip
    document, next_start, at = 0, 0, 0
    for position in range(first, len(ids)):
        while next_start < len(starts) and starts[next_start] <= position:
            document = starts[next_start]
            next_start += 1
        state = np.uint64(ids[position])
        index = 0
        if orders[0] == 1:
            at = _emit(
                kind, 0, mix13(state ^ seeds[1]), modulus, base, scale, heads, multiplier, head_modulus, head_base,
                divide, out, at,
            )  # fmt: skip
            index = 1
        order = 2
        while index < len(orders) and order <= position - document + 1:
            state = mix13(state ^ (np.uint64(ids[position + 1 - order]) << _S32) ^ seeds[order])
            if orders[index] == order:
                at = _emit(
                    kind, index, state, modulus, base, scale, heads, multiplier, head_modulus, head_base, divide, out,
                    at,
                )  # fmt: skip
                index += 1
            order += 1
        if len(counts):
            counts[position - first] = index
    return at


def mix_address(
    plan: MixPlan,
    ids: np.ndarray,
    first: int,
    starts: np.ndarray,
    out: np.ndarray,
    counts: np.ndarray | None = None,
) -> int:
    """See :func:`flashsim.kernels.c.mix_address`."""
    if len(out) < (len(ids) - first) * plan.ids_per_token:
        raise ValueError(f"out has room for {len(out)} ids, {(len(ids) - first) * plan.ids_per_token} may come")
    divide = np.array([plan.divide.multiplier, plan.divide.addend, plan.divide.shift], np.uint64)
    return _mix_address(
        plan.kind, plan.orders, plan.seeds, plan.modulus, plan.base, np.uint64(plan.scale), plan.heads,
        plan.head_multiplier, plan.head_modulus, plan.head_base, divide, ids, first, starts, out,
        np.empty(0, np.uint8) if counts is None else counts,
    )  # fmt: skip
