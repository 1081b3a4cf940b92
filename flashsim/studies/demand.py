"""What workloads ask of a drive beyond a cache that is warm: the same tokens, asked for in several ways.

The text before them is read first and not counted. That leaves one state of the cache, from which every workload
starts, so what differs between them is how they ask.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from flashsim.cache.lru import LruSweep
from flashsim.cache.pin import most_read
from flashsim.device.workload import Groups, joined
from flashsim.errors import UsageError
from flashsim.kernels.nb.counting import add_counts
from flashsim.layouts import Layout
from flashsim.studies.cells import Cell, check_ids
from flashsim.tokens.stream import TokenStream
from flashsim.trace import pieces
from flashsim.workloads import Workload

KEPT_REFERENCES = 600_000  # before the cache, of the steps that are kept to be sent to a drive
KEPT_STEPS = 48  # at least, where there are as many
_PART = 16  # of the text, where not all of it may be needed: tried first, then four times as much
_COUNTED_EVERY = 4  # pieces of the text before, whose reads are counted for pinning


@dataclass(frozen=True)
class Demand:
    """What ``workload`` asks for. tokens, steps counted. references, reads: pages before and after the tokens of a step
    share them, no cache. misses: int64, shape (capacities,), in increasing order of capacity, and those of a cache of
    which half is ``pinned``. cold: first touches among the misses. kept, classes: some of the steps, before the cache,
    and for each of their pages at how many of the capacities it missed."""

    workload: Workload
    tokens: int
    steps: int
    references: int
    reads: int
    misses: np.ndarray
    cold: int
    kept: Groups
    classes: np.ndarray

    def sent(self, capacity: int) -> Groups:
        """Of the kept steps, what reaches the drive beyond the cache number ``capacity``."""
        return self.kept.only(self.classes > capacity)


class Warm:
    """The state of a cache after tokens [begin, start) of ``stream`` through ``layout``.

    recency: uint32, the pages touched, oldest last access first. counts: uint32, shape (pages,), how often some of the
    text read each, or None unless ``counted``. enough: the text is read from so far back that it touches this many
    pages, which is all that a cache of as many remembers; None = all of it. ``progress`` is told the tokens done.
    Raises UsageError where the kernels cannot number the pages.
    """

    def __init__(
        self, stream: TokenStream, layout: Layout, begin: int, start: int, *, counted: bool = False,
        enough: int | None = None, backend: str = "c", progress: Callable[[int], None] = lambda tokens: None,
    ) -> None:  # fmt: skip
        check_ids(Cell(stream, layout, begin, start))
        self._stream, self._layout, self._start, self._backend = stream, layout, start, backend
        self.counts = np.zeros(layout.pages, np.uint32) if counted else None
        back = start - begin if enough is None else max(1, (start - begin) // _PART)
        while True:
            first, sweep = max(begin, start - back), LruSweep([1], layout.pages, backend)
            for number, piece in enumerate(pieces(stream, layout, begin=first, end=start, backend=backend)):
                sweep.run(piece.ids)
                if counted and number % _COUNTED_EVERY == 0:
                    add_counts(piece.ids, self.counts)
                if enough is None:
                    progress(len(piece.counts))
            if first == begin or sweep.distinct >= enough:
                break
            back *= 4
        if enough is not None:
            progress(start - begin)
        self.recency = sweep.recency
        self._held: dict[int, np.ndarray | None] = {0: None}

    def _most_read(self, pinned: int) -> np.ndarray | None:
        """bool, shape (pages,): the pages to pin; None = none. Every workload asks for the same."""
        if pinned not in self._held:
            self._held[pinned] = most_read(self.counts, pinned)
        return self._held[pinned]

    def demand(
        self, workload: Workload, end: int, capacities: Sequence[int], *, pinned: int = 0,
        progress: Callable[[int], None] = lambda tokens: None,
    ) -> Demand:  # fmt: skip
        """The :class:`Demand` of tokens [start, end) by ``workload``, beyond caches of ``capacities`` pages. pinned: of
        each, the pages that the text before read most often, which never miss."""
        held = self._most_read(pinned)
        recency = self.recency if held is None else self.recency[~held[self.recency]]
        sweep = LruSweep([capacity - pinned for capacity in capacities], self._layout.pages, self._backend)
        sweep.run(recency)
        sweep.mark()
        tokens = steps = references = reads = 0
        share, kept, classes_kept = _share(self._layout, workload, end - self._start), [], []
        for piece in workload.steps(
            self._stream, self._layout, begin=self._start, end=end, backend=self._backend
        ):  # fmt: skip
            classes = np.zeros(len(piece.ids), np.uint8)
            if held is None:
                sweep.run(piece.ids, classes)
            else:
                free = ~held[piece.ids]
                missed = np.empty(int(free.sum()), np.uint8)
                sweep.run(piece.ids[free], missed)
                classes[free] = missed
            ends = np.cumsum(piece.counts, dtype=np.int64)[piece.ends - 1]
            groups = Groups(piece.ids, ends, np.diff(piece.ends, prepend=0), self._layout.page_bytes)
            numbers = steps + np.arange(len(ends) + 1)
            taken = np.diff(np.floor(numbers * share)) > 0  # evenly over the text
            kept.append(groups.some(taken))
            classes_kept.append(classes[np.repeat(taken, np.diff(ends, prepend=0))])
            tokens, steps = tokens + len(piece.counts), steps + len(ends)
            references, reads = references + int(piece.references.sum(dtype=np.int64)), reads + len(piece.ids)
            progress(len(piece.counts))
        misses = sweep.misses_since_mark
        return Demand(
            workload, tokens, steps, references, reads, misses, sweep.cold_since_mark, joined(kept),
            np.concatenate(classes_kept),
        )  # fmt: skip


def _share(layout: Layout, workload: Workload, tokens: int) -> float:
    """The share of the steps to keep."""
    each = workload.prefill if not workload.streams else workload.streams
    steps = max(1, tokens // each)
    return min(1.0, max(KEPT_REFERENCES / (tokens * max(layout.reads_per_token, 1e-9)), KEPT_STEPS / steps))


def counted_tokens(tokens: int, most: int = 500_000) -> int:
    """How many of ``tokens`` are counted; the rest comes before, to warm the cache. Raises UsageError for too few."""
    if tokens < 4:
        raise UsageError(f"{tokens} tokens: 4 or more are needed, to warm a cache with some and count the others")
    return min(tokens // 4, most)
