"""Vocabulary maps: the id that a layout hashes for each id of the tokenizer, as a 1-D ``.npy`` of integers."""

from pathlib import Path

import numpy as np

from flashsim.errors import DataError
from flashsim.layouts.arrays import load_array


def load_map(path: str | Path) -> np.ndarray:
    """uint32, shape (token ids,): the map in ``path``. Raises UsageError or DataError."""
    ids = load_array("--vocab-map", path, "corpus vocab-map")
    if ids.ndim != 1 or ids.dtype.kind not in "iu" or not len(ids):
        raise DataError(f"--vocab-map {path}: shape {ids.shape}: 1-D integers expected, one an id of the tokenizer")
    low, high = int(ids.min()), int(ids.max())
    if low < 0 or high >= 2**31:
        raise DataError(f"--vocab-map {path}: ids from {low} to {high}: give 0 to 2^31 - 1")
    return ids.astype(np.uint32)
