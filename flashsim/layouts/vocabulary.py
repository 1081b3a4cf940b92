"""Vocabularies: how many ids a layout's own tokenizer has, and maps, the id that a layout hashes for each id of the
tokenizer, as a 1-D ``.npy`` of integers."""

from pathlib import Path

import numpy as np

from flashsim.errors import DataError
from flashsim.layouts.arrays import load_array
from flashsim.layouts.spec import LayoutSpec

_PADDING = 64  # a model's vocabulary is padded: up to 1/64 more or fewer ids may be the same tokenizer


def ids_elsewhere(spec: LayoutSpec, ids: int) -> str | None:
    """How many ids the tokenizer of ``spec``'s model has, for people, where one of ``ids`` cannot be it; else None.

    A spec that does not say how many has its filler among them, and as many as are hashed, or more.
    """
    known = spec.vocabulary.raw or (0 if spec.vocabulary.mapped else spec.vocabulary.size)
    if known:
        return f"{known:,}" if abs(ids - known) * _PADDING > known else None
    least = max(spec.vocabulary.size, spec.ngrams.filler + 1)
    return f"{least:,} or more" if ids < least else None


def load_map(path: str | Path) -> np.ndarray:
    """uint32, shape (token ids,): the map in ``path``. Raises UsageError or DataError."""
    ids = load_array("--vocab-map", path, "corpus vocab-map")
    if ids.ndim != 1 or ids.dtype.kind not in "iu" or not len(ids):
        raise DataError(f"--vocab-map {path}: shape {ids.shape}: 1-D integers expected, one an id of the tokenizer")
    low, high = int(ids.min()), int(ids.max())
    if low < 0 or high >= 2**31:
        raise DataError(f"--vocab-map {path}: ids from {low} to {high}: give 0 to 2^31 - 1")
    return ids.astype(np.uint32)
