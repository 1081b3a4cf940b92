"""Vocabulary maps: the id that a layout hashes for each id of the tokenizer, as a 1-D ``.npy`` of integers."""

import operator
from pathlib import Path

import numpy as np

from flashsim.errors import DataError, UsageError


def load_map(path: str | Path) -> np.ndarray:
    """uint32, shape (token ids,): the map in ``path``. Raises UsageError or DataError."""
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"--vocab-map {path}: 0 files of that name: `flashsim corpus vocab-map` makes one")
    try:
        ids = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        reason = " ".join(str(error).split())
        raise DataError(f"--vocab-map {path}: no .npy ({reason}); 0 ids read: make it again") from None
    if not isinstance(ids, np.ndarray) or ids.ndim != 1 or ids.dtype.kind not in "iu" or not len(ids):
        shape = getattr(ids, "shape", "several arrays")
        raise DataError(f"--vocab-map {path}: shape {shape}: 1-D integers expected, one an id of the tokenizer")
    low, high = operator.index(ids.min()), operator.index(ids.max())
    if low < 0 or high >= 2**31:
        raise DataError(f"--vocab-map {path}: ids from {low} to {high}: give 0 to 2^31 - 1")
    return ids.astype(np.uint32)
