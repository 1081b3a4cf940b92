"""Where documents begin: the call says, else the format, else the JSON beside the file, else nobody."""

import os
from pathlib import Path
from typing import Literal

import numpy as np

from flashsim.errors import DataError, UsageError
from flashsim.tokens import npy
from flashsim.tokens.sidecar import Sidecar
from flashsim.tokens.source import Payload, opened

_PIECE_ITEMS = 1 << 20  # document starts checked at a time


def find_boundaries(
    payload: Payload,
    eot: int | Literal["none"] | None,
    documents: str | os.PathLike | None,
    sidecar: Sidecar,
    vocab_size: int | None,
) -> tuple[int | None, np.ndarray | None, str]:
    """``eot``, ``starts`` and ``boundary`` of a TokenStream.

    Raises UsageError for an ``eot`` that no token can be, DataError for such a one in the sidecar, or for
    ``documents`` that are not increasing positions in the file, from 0.
    """
    if documents is not None:
        return None, document_starts(Path(documents), len(payload.ids)), f"--documents {documents}"
    overridden = f", overrides the {payload.boundary}" if payload.starts is not None else ""
    limit = min(int(np.iinfo(payload.ids.dtype).max) + 1, vocab_size or 2**64)
    held = f"0 to {limit - 1}, {'the vocabulary' if limit == vocab_size else payload.ids.dtype.name}"
    if eot == "none":
        return None, None, f"none (--eot none{overridden})"
    if eot is not None:
        if not 0 <= eot < limit:
            raise UsageError(f"--eot {eot} is outside the ids ({held}): give the EOT id of the file's tokenizer")
        return eot, None, f"--eot {eot}{overridden}"
    if payload.starts is not None:
        return None, payload.starts, payload.boundary
    if sidecar.eot is not None:
        if sidecar.eot >= limit:
            raise DataError(f"{sidecar.path}: eot {sidecar.eot} is outside the ids ({held}): mend it, or pass --eot")
        return sidecar.eot, None, f"eot {sidecar.eot} ({sidecar.path.name})"
    return None, None, "none"


def document_starts(path: Path, tokens: int) -> np.ndarray:
    """int64 document starts out of ``path``; DataError unless first 0, increasing and below ``tokens``."""
    with opened(path) as source:
        starts = npy.read(source, None, None).ids
    if len(starts) == 0 or starts[0] != 0:
        found = f"is {starts[0]}" if len(starts) else "is missing (0 entries)"
        raise DataError(f"{path}: its first document start {found}, not 0: add the start of the first document")
    for first in range(0, len(starts), _PIECE_ITEMS):
        piece = starts[max(first - 1, 0) : first + _PIECE_ITEMS]
        falls = piece[1:] <= piece[:-1]
        if falls.any():
            at = max(first - 1, 0) + int(np.argmax(falls)) + 1
            raise DataError(f"{path}: start {at} is {starts[at]} after {starts[at - 1]}: sort them and drop repeats")
    if starts[-1] >= tokens:
        at = int(np.searchsorted(starts, np.asarray(tokens, starts.dtype)))
        raise DataError(f"{path}: start {at} is {starts[at]}, but there are {tokens} tokens: starts of another build?")
    return np.asarray(starts, np.int64)
