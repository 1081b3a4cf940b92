"""How often do caches miss over a trace that another tool made? Page ids in, misses by policy and capacity out."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from flashsim.cache.engine import POLICIES, sweep_of
from flashsim.errors import UsageError
from flashsim.studies.ledger import Row

COLUMNS = ("policy", "capacity_pages", "references", "distinct_pages", "misses", "miss_ratio")
OCTAVES = 10  # of capacities where none are given
_STEP = 1 << 22  # references taken at a time


@dataclass(frozen=True)
class Pages:
    """A trace's ids as the page numbers that caches take.

    ids: integers >= 0, shape (references,). distinct: how many different ones. known: all of them, sorted, where they
    lie so far apart that each goes by its rank; None where they are page numbers as they are. below: all page numbers
    are below this.
    """

    ids: np.ndarray
    distinct: int
    known: np.ndarray | None
    below: int

    @classmethod
    def of(cls, ids: np.ndarray) -> "Pages":
        """Look at all ``ids`` once. Memory: 1 B for each number up to the largest, or 8 B for each different id."""
        largest = max(int(piece.max()) for piece in _pieces(ids))
        if largest > 4 * len(ids) + (1 << 20):
            known = _different(ids)
            return cls(ids, len(known), known, len(known))
        touched = np.zeros(largest + 1, bool)
        for piece in _pieces(ids):
            touched[piece] = True
        return cls(ids, int(np.count_nonzero(touched)), None, largest + 1)

    def steps(self) -> Iterator[np.ndarray]:
        """The page numbers in access order, uint32, in pieces."""
        for piece in _pieces(self.ids):
            if self.known is not None:
                different, inverse = np.unique(piece, return_inverse=True)
                piece = np.searchsorted(self.known, different)[inverse]
            yield np.ascontiguousarray(piece, np.uint32)

    def capacities(self) -> list[int]:
        """The powers of two of the last octaves below ``distinct``, and ``distinct``, where all pages fit."""
        powers = [1 << power for power in range((self.distinct - 1).bit_length())]
        return [*powers[-OCTAVES:], self.distinct]


def _pieces(ids: np.ndarray) -> Iterator[np.ndarray]:
    for at in range(0, len(ids), _STEP):
        yield ids[at : at + _STEP]


def _different(ids: np.ndarray) -> np.ndarray:
    """The different ``ids``, sorted. New ones wait until they are as many as the old, so merging stays cheap."""
    known, waiting = _unique(ids[:_STEP]), []
    for piece in _pieces(ids[_STEP:]):
        different = _unique(piece)
        at = np.minimum(np.searchsorted(known, different), len(known) - 1)
        waiting.append(different[known[at] != different])
        if sum(map(len, waiting)) >= len(known):
            known, waiting = _unique(np.concatenate([known, *waiting])), []
    return _unique(np.concatenate([known, *waiting]))


def _unique(ids: np.ndarray) -> np.ndarray:
    """As np.unique, which hashes where it has no inverse to make: several times slower on ids that are far apart."""
    ordered = np.sort(ids)
    return ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))]


def simulate(
    pages: Pages,
    capacities: Sequence[int],
    policies: Sequence[str] = ("lru",),
    *,
    backend: str = "c",
    progress: Callable[[int], None] = lambda references: None,
) -> list[Row]:
    """Rows of COLUMNS: misses of each policy (see ``flashsim.cache.engine``) at each capacity in pages, cache empty at
    the start. ``progress`` is told the references of each step. Raises UsageError for wishes that cannot be met."""
    for policy in policies:
        if policy not in POLICIES or list(policies).count(policy) > 1:
            names = ", ".join(POLICIES)
            raise UsageError(f"--policy {policy}: give each of the {len(POLICIES)} policies at most once: {names}")
    sizes = sorted(set(capacities))
    sweeps = {policy: sweep_of(policy, sizes, pages.below, backend) for policy in policies}
    for piece in pages.steps():
        for sweep in sweeps.values():
            sweep.run(piece)
        progress(len(piece))
    rows = []
    for policy, sweep in sweeps.items():
        misses = sweep.misses.tolist()
        sweep.check()
        rows += [
            {
                "policy": policy,
                "capacity_pages": size,
                "references": len(pages.ids),
                "distinct_pages": pages.distinct,
                "misses": missed,
                "miss_ratio": missed / len(pages.ids),
            }
            for size, missed in zip(sizes, misses, strict=True)
        ]
    return rows
