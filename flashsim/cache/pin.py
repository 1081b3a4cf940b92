"""Pages (or rows) pinned in RAM by how often another part of the stream read them."""

from collections.abc import Iterable

import numpy as np

from flashsim.cache.lru import Marked
from flashsim.kernels.nb.counting import add_counts
from flashsim.kernels.nb.pinned import put_back, take_unpinned

_LEVELS = 1 << 16  # counts up to here are told apart without sorting


def most_read(counts: np.ndarray, pinned: int) -> np.ndarray:
    """bool, shape (ids,): the ``pinned`` ids of the highest counts; ids that were never read are not pinned. Ties go to
    the smaller id."""
    levels = np.cumsum(np.bincount(np.minimum(counts, _LEVELS), minlength=_LEVELS + 1)[::-1])[::-1]  # read that often
    if pinned >= levels[1]:
        return counts > 0
    least = (
        int(np.searchsorted(-levels, -pinned, side="right")) - 1
    )  # the last level that is more than there is room for
    if least == _LEVELS:
        least = np.partition(counts, len(counts) - pinned - 1)[len(counts) - pinned - 1]
    mask = counts > least
    mask[np.flatnonzero(counts == least)[: pinned - np.count_nonzero(mask)]] = True
    return mask


def read_counts(traces: Iterable[np.ndarray], ids_below: int) -> np.ndarray:
    """int64, shape (ids_below,): how often the ids of ``traces`` were read."""
    counts = np.zeros(ids_below, np.int64)
    for ids in traces:
        add_counts(ids, counts)
    return counts


def run_unpinned(sweep: Marked, ids: np.ndarray, pinned: np.ndarray | None, classes: np.ndarray | None = None) -> None:
    """Go on with those of ``ids`` that are not pinned: what is pinned never misses, and takes no place in the cache.

    sweep: of any policy, or split; with ``classes``, of LRU. ids: uint32, contiguous. pinned: bool, shape (every id,);
    None = nothing is. classes: uint8, one for each of ``ids``, or None: as of :meth:`LruSweep.run`, 0 where pinned.
    """
    if pinned is None:
        sweep.run(ids) if classes is None else sweep.run(ids, classes)
        return
    rest = np.empty(len(ids), np.uint32)
    count = take_unpinned(ids, pinned, rest)
    if classes is None:
        sweep.run(rest[:count])
        return
    missed = np.zeros(count + 1, np.uint8)  # one more than there are, see put_back
    sweep.run(rest[:count], missed[:count])
    put_back(ids, pinned, missed, classes)
