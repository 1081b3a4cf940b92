"""Ids without those that are pinned, and what became of them put back in place. Without a branch on what is pinned,
which is as good as random."""

from numba import njit


@njit(cache=True, nogil=True)
def take_unpinned(ids, pinned, rest):
    """Put those of ``ids`` that are not ``pinned`` (bool, shape (every id,)) into ``rest``, as long as ``ids``, in
    order; return how many they are."""
    count = 0
    for id in ids:
        rest[count] = id
        count += not pinned[id]
    return count


@njit(cache=True, nogil=True)
def put_back(ids, pinned, missed, classes):
    """Into ``classes``, as long as ``ids``, what ``missed`` has for those that are not pinned, in order; else 0.
    missed: at least one more than they are."""
    at = 0
    for index in range(len(ids)):
        free = not pinned[ids[index]]
        classes[index] = missed[at] * free
        at += free
