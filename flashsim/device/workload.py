"""The reads of a trace in *groups*: what a replay, or the model of a drive, sends together and waits for together.

A mode says what a group is: *stream* and *decode* take one token, *prefill* a chunk of tokens with each distinct page
of it once. How many groups may be in flight at a time is the rest of the difference; see :func:`limits`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from flashsim.errors import UsageError
from flashsim.kernels.drive import MAX_READS
from flashsim.kernels.weave import Weaver

GROUPS_MAX = 2**31 - 1  # as many as it takes


@dataclass(frozen=True)
class Groups:
    """pages: uint32, shape (reads,), page ids in the order in which they are sent. ends: int64, shape (groups,): group
    g's pages are pages[ends[g - 1] : ends[g]], none where a cache had them all. lookups: int64, shape (groups,), tokens
    of each group. page_bytes: bytes of a read."""

    pages: np.ndarray
    ends: np.ndarray
    lookups: np.ndarray
    page_bytes: int

    def part(self, first: int, last: int) -> "Groups":
        """Groups [first, last) alone."""
        begin = int(self.ends[first - 1]) if first else 0
        ends = self.ends[first:last]
        pages = self.pages[begin : int(ends[-1]) if len(ends) else begin]
        return Groups(pages, ends - begin, self.lookups[first:last], self.page_bytes)

    def lookups_of(self, groups: int, reads: int) -> float:
        """Lookups of the first ``groups`` groups, which are complete, and of the next one the share that the first
        ``reads`` reads hold. Past the last group comes the first again."""
        turns, at = divmod(groups, len(self.ends))
        begin = int(self.ends[at - 1]) if at else 0
        begun, size = reads - turns * len(self.pages) - begin, int(self.ends[at]) - begin
        share = begun / size * int(self.lookups[at]) if size else 0.0
        return turns * int(self.lookups.sum()) + int(self.lookups[:at].sum()) + share

    def some(self, groups: np.ndarray) -> "Groups":
        """Those groups alone: bool, shape (groups,)."""
        sizes = np.diff(self.ends, prepend=0)
        return Groups(
            self.pages[np.repeat(groups, sizes)], np.cumsum(sizes[groups]), self.lookups[groups], self.page_bytes
        )

    def only(self, kept: np.ndarray) -> "Groups":
        """The same groups with the reads where ``kept`` (bool, shape (reads,)) is true: what a cache let through."""
        before = np.concatenate((np.zeros(1, np.int64), np.cumsum(kept, dtype=np.int64)))
        return Groups(self.pages[kept], before[self.ends], self.lookups, self.page_bytes)


def joined(parts: Sequence[Groups]) -> Groups:
    """The groups of ``parts``, at least one, one after the other; arrays of their own."""
    before = np.cumsum([0, *(len(part.pages) for part in parts[:-1])])
    return Groups(
        np.concatenate([part.pages for part in parts]),
        np.concatenate([part.ends + reads for part, reads in zip(parts, before, strict=True)]),
        np.concatenate([part.lookups for part in parts]),
        parts[0].page_bytes,
    )


def by_token(ids: np.ndarray, counts: np.ndarray, page_bytes: int, tokens: int = 1, backend: str = "c") -> Groups:
    """Each token a group. ids: uint32, the pages that the tokens read, in order. counts: integers, shape (tokens,),
    how many each reads."""
    return Groups(ids, np.cumsum(counts, dtype=np.int64), np.ones(len(counts), np.int64), page_bytes)


def by_step(ids: np.ndarray, counts: np.ndarray, page_bytes: int, steps: np.ndarray) -> Groups:
    """Each step a group. steps: integers, tokens of each. Otherwise as :func:`by_token`."""
    ends = np.cumsum(counts, dtype=np.int64)
    return Groups(ids, ends[np.cumsum(steps, dtype=np.int64) - 1], steps.astype(np.int64), page_bytes)


def by_chunk(ids: np.ndarray, counts: np.ndarray, page_bytes: int, tokens: int = 2048, backend: str = "c") -> Groups:
    """Each ``tokens`` tokens a group, the last one what is left, with each distinct page once: where it is first used.
    Otherwise as :func:`by_token`. Memory: that of a :class:`flashsim.kernels.weave.Weaver` whose steps are chunks."""
    ends = np.minimum(np.arange(tokens, len(counts) + tokens, tokens), len(counts))
    pages, each = Weaver(backend)(ids, counts, None, ends)
    return by_step(pages, each, page_bytes, np.diff(ends, prepend=0))


class Mode(NamedTuple):
    """make: references to groups, called as :func:`by_token` is. chunked: whether a group is a chunk of tokens."""

    make: Callable[..., Groups]
    chunked: bool


MODES = {"stream": Mode(by_token, False), "decode": Mode(by_token, False), "prefill": Mode(by_chunk, True)}
UNITS = ("reads", "lookups")


def limits(mode: str, unit: str, in_flight: int) -> tuple[int, int]:
    """(most reads, most groups) in flight at a time for ``in_flight`` of ``unit``, one of UNITS.

    stream: D reads of however many tokens, or D tokens. decode: D reads of one token, or D tokens side by side, each
    of which waits for all of its reads. prefill: D reads of one chunk. Raises UsageError for what makes no sense.
    """
    if not 1 <= in_flight <= MAX_READS:
        raise UsageError(f"--in-flight {in_flight}: take 1 to {MAX_READS}")
    if unit == "reads":
        return in_flight, GROUPS_MAX if mode == "stream" else 1
    if MODES[mode].chunked:
        raise UsageError(f"--mode {mode} sends {in_flight} reads of 1 chunk at a time: take --in-flight-unit reads")
    return MAX_READS, in_flight
