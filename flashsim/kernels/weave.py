"""``Weaver``: the ids of tokens, each once a step; and what the kernels ``weave`` that it calls have in common."""

import numpy as np

from flashsim.kernels import backend as kernels_of


class Weaver:
    """The ids of tokens in a workload's order, each once a step, where it first comes up; call after call.

    Memory: 16 to 32 B for each id of the largest step so far, or for each up to the largest id where these are fewer.
    """

    def __init__(self, backend: str = "c") -> None:
        self._weave = kernels_of(backend).weave
        self._seen, self._stamp = np.zeros(0, np.uint64), 1

    def __call__(
        self, ids: np.ndarray, counts: np.ndarray, order: np.ndarray | None, step_ends: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(ids, counts) that the tokens of ``order`` bring: uint32, and uint16, one a token that is handed out.

        ids: uint32, token after token. counts: integers, shape (tokens,), how many each has, below 65,536. order:
        int32, the tokens as they are handed out; None = as they come. step_ends: int64, increasing, where each step
        ends, counted in tokens handed out; the last one is all of them. Raises ValueError where the arrays do not fit
        each other.
        """
        ends = np.cumsum(counts, dtype=np.int64)
        handed = ends if order is None else np.cumsum(counts[order], dtype=np.int64)
        most = int(np.diff(handed[step_ends - 1], prepend=0).max(initial=0))  # different ids of a step
        if _slots(most) > len(self._seen):
            most = min(most, int(ids.max(initial=0)) + 1)
        if _slots(most) > len(self._seen) or self._stamp + len(step_ends) > 2**32 - 2:
            self._seen, self._stamp = np.zeros(max(_slots(most), len(self._seen)), np.uint64), 1
        out = np.empty(int(handed[-1]) if len(handed) else 0, np.uint32)
        each = np.empty(len(handed), np.uint16)
        written = self._weave(ids, ends, order, step_ends, self._seen, self._stamp, out, each)
        self._stamp += len(step_ends)
        return out[:written], each


def _slots(ids: int) -> int:
    """A power of two, at least twice as many as ``ids``."""
    return 2 << ids.bit_length()


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
