"""Pages (or rows) pinned in RAM by how often another part of the stream read them."""

from collections.abc import Iterable

import numpy as np


def most_read(counts: np.ndarray, pinned: int) -> np.ndarray:
    """bool, shape (ids,): the ``pinned`` ids of the highest counts; ids that were never read are not pinned. Ties go to
    the smaller id."""
    mask = np.zeros(len(counts), bool)
    best = np.argsort(-counts, kind="stable")[:pinned]
    mask[best[counts[best] > 0]] = True
    return mask


def read_counts(traces: Iterable[np.ndarray], ids_below: int) -> np.ndarray:
    """int64, shape (ids_below,): how often the ids of ``traces`` were read."""
    counts = np.zeros(ids_below, np.int64)
    for ids in traces:
        counts += np.bincount(ids, minlength=ids_below)
    return counts
