"""``csim/match.c``."""

import numpy as np

from flashsim.kernels.c.binding import lib, pointer, stream_arguments


def match(
    slots: np.ndarray,
    depth: int,
    ids: np.ndarray,
    first: int,
    starts: np.ndarray,
    out: np.ndarray,
    counts: np.ndarray | None = None,
) -> int:
    """Write the row of the longest n-gram of the trie ``slots`` that ends with each of the tokens ids[first:], if there
    is one, to ``out``; return how many.

    slots: uint64, shape (a power of two, 2), see csim.h; flashsim.layouts.matched makes it. depth: tokens of the
    longest n-gram. ids, first, starts: as for mix_address. out: uint32, room for one a token. counts: uint16, one a
    token, or None: receives 1 where it emitted a row. Raises ValueError where there is less room.
    """
    if slots.ndim != 2 or slots.shape[1] != 2 or (counts is not None and len(counts) < len(ids) - first):
        raise ValueError(f"slots of shape {slots.shape}, or counts too short for {len(ids) - first} tokens")
    written = lib.fs_match(
        pointer("uint64_t[]", slots, np.uint64),
        len(slots) - 1,
        depth,
        *stream_arguments(ids, first, starts, out),
        pointer("uint16_t[]", counts, np.uint16, writable=True),
    )
    if written < 0:
        raise ValueError(f"room for {len(out)} rows of tokens {first} to {len(ids)}, {len(slots)} slots, depth {depth}")
    return written
