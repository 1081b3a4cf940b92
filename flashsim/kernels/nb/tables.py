"""Twin of ``csim/tables.c``."""

import numpy as np
from numba import njit

from flashsim.kernels.plan import RESERVED, XOR, TablePlan

_SIGN = {64: np.uint64(2**63), 32: np.uint64(2**31)}
_BITS = {64: np.uint64(2**64 - 1), 32: np.uint64(2**32 - 1)}


@njit(cache=True, nogil=True, error_model="numpy")
def _table_rows(
    xor, bits, sign, reserves, filler, coefficients, modulus, base, order, reserved, ids, first, starts, out
):
    tables = len(modulus)
    excess = modulus - sign % modulus  # z + sign is not negative; this takes the sign out again
    document, next_start, at = 0, 0, 0
    for position in range(first, len(ids)):
        while next_start < len(starts) and starts[next_start] <= position:
            document = starts[next_start]
            next_start += 1
        for table in range(tables):
            if reserves and position - document < np.int64(order[table]) - 1:
                out[at + table] = reserved[table]
                continue
            z = np.uint64(0)
            for k in range(np.int64(order[table])):
                y = np.uint64(ids[position - k]) if position - k >= document else filler
                term = coefficients[k, table] * y
                z = z ^ term if xor else z + term
            u = (z & bits) ^ sign
            out[at + table] = base[table] + (u % modulus[table] + excess[table]) % modulus[table]
        at += tables
    return at


def table_rows(plan: TablePlan, ids: np.ndarray, first: int, starts: np.ndarray, out: np.ndarray) -> int:
    """See :func:`flashsim.kernels.c.table_rows`."""
    if not 0 <= first <= len(ids) or len(out) < (len(ids) - first) * plan.tables:
        raise ValueError(f"room for {len(out)} rows of tokens {first} to {len(ids)}, {plan.tables} each")
    return _table_rows(
        plan.op == XOR, _BITS[plan.word], _SIGN[plan.word], plan.missing == RESERVED, np.uint64(plan.filler),
        plan.coefficients, plan.modulus, plan.base, plan.order, plan.reserved, ids, first, starts, out,
    )  # fmt: skip
