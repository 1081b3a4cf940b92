"""The LRU curve from a sample of the pages, with its error beside it, for streams too long to run whole.

SHARDS (Waldspurger et al., "Efficient MRC construction with SHARDS", FAST 2015): keep a reference if and only if its
page's hash falls below a threshold, so that a share R of the *pages* is kept with all of its references. A stack
distance among them is R times the true one on average. As in SHARDS-adj, misses are scaled to the true number of
references, so the luck of the hottest pages does not matter: they hit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flashsim.errors import UsageError
from flashsim.kernels import backend as kernels_of
from flashsim.studies.cells import Cell, Counted, names_of, steps, unit_bytes
from flashsim.studies.curve import cache_of

GROUPS = 16  # parts of the sample, whose scatter tells the error
T_QUANTILE = 4.07  # Student's t, 15 degrees of freedom, 99.9 % within
LEAST_DISTANCE = 4  # pages of a group's sample: smaller capacities are too coarse at this rate
_POINTS_PER_OCTAVE = 4


@dataclass(frozen=True)
class SampledCurve:
    """capacities: pages, log-spaced. misses, error: float64 of the same shape: the estimate and the half-width of its
    99.9 % interval, from the scatter of GROUPS parts of the sample. rate: share of the pages kept."""

    names: dict[str, Any]
    counted: Counted
    capacities: np.ndarray
    misses: np.ndarray
    error: np.ndarray
    unit_bytes: int
    rate: float

    def place_for(self, target: float) -> int | None:
        """The first place in ``capacities`` where reads/token are at ``target`` or below surely, not only perhaps."""
        enough = np.flatnonzero(self.misses + self.error <= target * self.counted.tokens)
        return int(enough[0]) if len(enough) else None

    def answers(self, targets: Sequence[float]) -> dict[str, Any]:
        """What the JSON has of this curve: a cache that is surely enough for each of ``targets`` in reads/token."""
        places = [self.place_for(target) for target in targets]
        sizes = [None if at is None else int(self.capacities[at]) for at in places]
        return {
            **{name: self.names[name] for name in ("corpus", "label", "workload")},
            "targets": [cache_of(*pair, self.unit_bytes) for pair in zip(targets, sizes, strict=True)],
        }

    def table(self):
        """A DataFrame with a row a capacity."""
        import pandas as pd

        tokens = self.counted.tokens
        return pd.DataFrame(
            self.names
            | {
                "page_bytes": self.unit_bytes,
                "cache_bytes": self.capacities * self.unit_bytes,
                "capacity_pages": self.capacities,
                "tokens": tokens,
                "lookups": self.counted.lookups,
                "reads": self.counted.reads,
                "misses": np.round(self.misses).astype(np.int64),
                "reads_per_token": self.misses / tokens,
                "reads_per_token_error": self.error / tokens,
                "hit_ratio": 1 - self.misses / max(self.counted.reads, 1),
                "sample_rate": self.rate,
            }
        )


class _Part:
    """Stack distances of one part of the pages, numbered densely."""

    def __init__(self, kept: np.ndarray, backend: str) -> None:
        self._number = np.zeros(len(kept), np.uint32)
        self._number[kept] = np.arange(np.count_nonzero(kept), dtype=np.uint32)
        self._stack = kernels_of(backend).StackDistances(max(1, int(np.count_nonzero(kept))))

    def run(self, ids: np.ndarray) -> None:
        self._stack.run(self._number[ids])

    def misses(self, distances: np.ndarray) -> np.ndarray:
        """References at a distance over each of ``distances`` (not whole numbers), first touches included."""
        at_least = np.append(np.cumsum(self._stack.histogram[::-1])[::-1], 0)
        beyond = at_least[np.minimum(np.floor(distances).astype(np.int64) + 1, len(at_least) - 1)]
        return (beyond + self._stack.distinct).astype(np.float64)


def page_hash(pages: int) -> np.ndarray:
    """uint64, shape (pages,): Stafford's Mix13 of each page id."""
    z = np.arange(1, pages + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def sampled_curve(
    cell: Cell, rate: float, *, backend: str = "c", progress: Callable[[int], None] = lambda tokens: None
) -> SampledCurve:
    """The LRU curve of one cell from a share ``rate`` of its pages, cache empty at the start.

    Memory: 80 B for each page of the table, and 32 B more for each one kept. Raises UsageError for a rate outside
    (0, 1) or one that keeps too few pages to tell an error.
    """
    pages = cell.ids_below
    if not 0 < rate < 1 or pages * rate < GROUPS * 100:
        least = 1.05 * GROUPS * 100 / pages  # enough when it is rounded to two digits
        way_out = f"give {least:.2g} or more, below 1" if least < 0.99 else "leave it out, the whole is small"
        raise UsageError(f"--sample {rate:g} of {pages} pages: {way_out}")
    hashed = page_hash(pages)
    kept = (hashed >> np.uint64(11)).astype(np.float64) < rate * 2.0**53
    group = np.where(kept, hashed & np.uint64(GROUPS - 1), GROUPS).astype(np.uint8)
    whole = _Part(kept, backend)
    parts = [_Part(group == index, backend) for index in range(GROUPS)]
    counted = Counted()
    for ids, step in steps(cell, cell.begin, cell.end, backend):
        groups = group[ids]
        chosen = np.flatnonzero(groups < GROUPS)
        ids, groups = ids[chosen], groups[chosen]
        whole.run(ids)
        for index, part in enumerate(parts):
            part.run(ids[groups == index])
        counted += step
        progress(step.tokens)
    share = np.count_nonzero(kept) / pages
    shares = [np.count_nonzero(group == index) / pages for index in range(GROUPS)]
    least = LEAST_DISTANCE / min(shares)
    octaves = np.arange(0, np.log2(max(pages / least, 1)) + 1e-9, 1 / _POINTS_PER_OCTAVE)
    capacities = np.unique(np.append(np.round(least * 2**octaves), pages)).astype(np.int64)
    scattered = [
        part.misses(capacities * part_share) / part_share for part, part_share in zip(parts, shares, strict=True)
    ]
    error = T_QUANTILE * np.std(scattered, axis=0, ddof=1) / np.sqrt(GROUPS)
    misses = whole.misses(capacities * share) / share
    return SampledCurve(names_of(cell), counted, capacities, misses, error, unit_bytes(cell), rate)
