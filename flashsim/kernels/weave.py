"""What :func:`flashsim.kernels.c.weave` and its twin are called with."""

import numpy as np


def check_weave(
    ends: np.ndarray,
    order: np.ndarray | None,
    step_ends: np.ndarray,
    seen: np.ndarray | None,
    stamp: int,
    counts: np.ndarray,
) -> int:
    """Tokens handed out. Raises ValueError where the arrays do not fit each other."""
    emitted = len(ends) if order is None else len(order)
    if len(counts) < emitted or (int(step_ends[-1]) if len(step_ends) else 0) != emitted:
        raise ValueError(f"room for {len(counts)} counts, {len(step_ends)} steps, {emitted} tokens handed out")
    if seen is not None and (len(seen) & (len(seen) - 1) or not len(seen)):
        raise ValueError(f"{len(seen)} slots: give a power of two")
    if not 1 <= stamp <= 2**32 - 1 - len(step_ends):
        raise ValueError(f"stamp {stamp}: {len(step_ends)} steps from 1 on fit 32 bits")
    return emitted
