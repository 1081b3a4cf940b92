"""How much RAM for so many reads a token? The exact miss-ratio curve of an LRU page cache, at every capacity.

One pass over the stack distances gives the misses of all capacities (Mattson et al., 1970): misses(C) = first touches +
references at a distance over C.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from flashsim.errors import UsageError
from flashsim.kernels import backend as kernels_of
from flashsim.studies.cells import Cell, Counted, names_of, steps, unit_bytes
from flashsim.studies.verdict import Doubling
from flashsim.units import number_of

POINTS_PER_OCTAVE = 16


def cache_of(reads_per_token: float, capacity: int | None, unit_bytes: int) -> dict[str, Any]:
    """Reads/token and the cache that brings them, as JSON has it. capacity: in pages; None = no cache does."""
    size = None if capacity is None else capacity * unit_bytes
    return {"reads_per_token": reads_per_token, "capacity_pages": capacity, "cache_bytes": size}


@dataclass(frozen=True)
class Curve:
    """The curve of one cell.

    misses: int64, shape (capacities + 1,): misses at each capacity in pages, [0] = no cache; the last one is the number
        of pages touched, beyond which nothing changes. names: what was run. counted: tokens, lookups and reads.
    cold_misses: first touches, which no cache saves.
    """

    names: dict[str, Any]
    counted: Counted
    misses: np.ndarray
    cold_misses: int
    unit_bytes: int

    @property
    def reads_per_token(self) -> np.ndarray:
        """float64, like ``misses``."""
        return self.misses / self.counted.tokens

    def capacity_for(self, target: float) -> int | None:
        """The fewest pages of cache that bring reads/token to ``target`` or below; None where none does."""
        enough = np.flatnonzero(self.reads_per_token <= target)
        return int(enough[0]) if len(enough) else None

    def answers(self, targets: Sequence[float]) -> dict[str, Any]:
        """What the JSON has of this curve: the least cache for each of ``targets`` in reads/token, the knee, if there
        is one, and what doublings of the cache save."""
        knee, reads = self.knee(), self.reads_per_token
        return {
            **{name: self.names[name] for name in ("corpus", "label", "workload")},
            "targets": [cache_of(target, self.capacity_for(target), self.unit_bytes) for target in targets],
            "first_touches_per_token": float(reads[-1]),
            "knee": None if knee is None else cache_of(float(reads[knee]), knee, self.unit_bytes),
            "doublings": [asdict(doubling) for doubling in self.doublings()],
        }

    def saved(self, smaller: int, larger: int) -> float:
        """Reads/token that a cache of ``larger`` pages saves over one of ``smaller``."""
        return float(self.reads_per_token[smaller] - self.reads_per_token[larger])

    def a_doubling(self, smaller: int, larger: int) -> float:
        """:meth:`saved` for each doubling of the cache from ``smaller`` to ``larger`` pages, on average; 0.0 where both
        are one."""
        return self.saved(smaller, larger) / np.log2(larger / smaller) if larger > smaller else 0.0

    def doublings(self) -> list[Doubling]:
        """What the doublings of the cache save: those to a power of two, in pages, that the text can fill."""
        capacities = [1 << octave for octave in range(1, (len(self.misses) - 1).bit_length())]
        return [Doubling(size * self.unit_bytes, self.saved(size // 2, size)) for size in capacities]

    def knee(self) -> int | None:
        """The capacity (pages) after which more cache pays less, or None where there is none.

        It is Kneedle's (Satopaa et al., "Finding a Kneedle in a haystack", 2011): the point of reads/token over
        log2(capacity) that lies farthest below the chord from the curve's first to its last point. On the chord each
        doubling saves the same, so past the knee they save less than on average. Kneedle's threshold, at sensitivity 1
        and points an octave apart, is what the average doubling saves: a point nearer to the chord is no knee. In the
        last octave all points are nearer, so the mere end of a curve, where first touches alone are left, is none.
        """
        last = len(self.misses) - 1
        if last < 2:
            return None
        capacities, average = self.log_spaced(), self.a_doubling(1, last)
        chord = self.reads_per_token[1] - average * np.log2(capacities)
        below = chord - self.reads_per_token[capacities]
        return int(capacities[np.argmax(below)]) if below.max() >= average > 0 else None

    def log_spaced(self) -> np.ndarray:
        """Capacities 1 to the last, POINTS_PER_OCTAVE an octave, both ends included."""
        last = len(self.misses) - 1
        if last < 1:
            return np.zeros(0, np.int64)
        points = np.round(2 ** np.arange(0, np.log2(last) + 1e-9, 1 / POINTS_PER_OCTAVE)).astype(np.int64)
        return np.unique(np.append(points[points <= last], last))

    def table(self, every: bool = False):
        """A DataFrame with a row a capacity: log-spaced ones, or with ``every`` all from 1."""
        import pandas as pd

        capacities = np.arange(1, len(self.misses)) if every else self.log_spaced()
        misses = self.misses[capacities]
        return pd.DataFrame(
            self.names
            | {
                "page_bytes": self.unit_bytes,
                "cache_bytes": capacities * self.unit_bytes,
                "capacity_pages": capacities,
                "tokens": self.counted.tokens,
                "lookups": self.counted.lookups,
                "reads": self.counted.reads,
                "misses": misses,
                "cold_misses": self.cold_misses,
                "reads_per_token": misses / self.counted.tokens,
                "hit_ratio": 1 - misses / max(self.counted.reads, 1),
            }
        )


def curve(
    cell: Cell, *, warmup: int = 0, backend: str = "c", progress: Callable[[int], None] = lambda tokens: None
) -> Curve:
    """The exact LRU curve of one source through one layout, cache empty at the start.

    warmup: the first tokens touch their pages but are not counted. Memory: 16 B for each page of the table (C), and
    nothing that grows with the trace. Raises UsageError where the warm-up leaves nothing to count.
    """
    if warmup >= cell.tokens:
        raise UsageError(
            f"--warmup {warmup} leaves nothing of {number_of(cell.tokens, 'token')} to count: warm up with fewer"
        )
    stack = kernels_of(backend).StackDistances(cell.ids_below)
    counted = Counted()
    for ids, step in steps(cell, cell.begin, cell.begin + warmup, backend):
        stack.run(ids)
        progress(step.tokens)
    before, touched = stack.histogram.copy(), stack.distinct
    for ids, step in steps(cell, cell.begin + warmup, cell.end, backend):
        stack.run(ids)
        counted += step
        progress(step.tokens)
    if not counted.reads:
        raise UsageError(
            f"none of the {number_of(counted.tokens, 'token')} reads anything: is every document 1 token "
            "long? check --eot, or take more --tokens"
        )
    histogram, cold = (stack.histogram - before)[: stack.distinct + 1], stack.distinct - touched
    beyond = np.concatenate((np.cumsum(histogram[:0:-1])[::-1], [0]))  # references at a distance over C
    return Curve(names_of(cell), counted, beyond + cold, cold, unit_bytes(cell))
