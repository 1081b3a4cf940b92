"""``Workload``: the order in which lookups come, and which of them share their reads.

A text through a layout has one trace. What a server or a laptop asks of the drive is that trace in another order, and
in *steps*: the tokens of a step are computed together, so a page that several of them need is read once. A workload
changes order and sharing, never which rows a token reads.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from flashsim.errors import UsageError
from flashsim.kernels.nb.schedule import feed, schedule
from flashsim.kernels.weave import Weaver
from flashsim.layouts import Layout
from flashsim.layouts.addressing import Hashing
from flashsim.tokens.stream import CHUNK_TOKENS, TokenStream
from flashsim.trace import pieces
from flashsim.units import number_of

PLAIN = "plain"  # no workload: the text as it stands, no token sharing reads with another
STREAMS_MAX, CHUNK_MAX, DRAFT_MAX = 1 << 16, 1 << 20, 64
_BLOCK_IDS = 1 << 22  # handed out at a time, or those of a step: arrays of them are reused, larger ones mapped anew


@dataclass(frozen=True)
class Workload:
    """Who asks for tokens, and how many at a time. Raises UsageError for what cannot be.

    streams: documents that are decoded side by side, a token of each in a step; a stream that ends its document takes
    the next one. 0 = none is decoded, all is prefill. prefill: tokens of a chunk, which is one step; chunks follow one
    another through the text, whatever documents lie in it. prompt_share: with both, the share of each document that is
    its prompt: prefilled, in chunks of its own, when a stream takes it, while the others wait. draft: tokens that a
    stream guesses in each step (speculative decoding); each is right with probability ``accept`` if those before it
    were. What follows a wrong guess is thrown away, after its rows were read. No draft model is here: a wrong draft is
    text from elsewhere in the file. seed: of those draws.
    """

    streams: int = 1
    prefill: int = 0
    prompt_share: float = 0.0
    draft: int = 0
    accept: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value, least, most in (
            ("--streams", self.streams, 0 if self.prefill else 1, STREAMS_MAX),
            ("--prefill", self.prefill, 0, CHUNK_MAX),
            ("--draft", self.draft, 0, DRAFT_MAX),
            ("--accept", self.accept, 0, 1),
        ):  # fmt: skip
            if not least <= value <= most:
                raise UsageError(f"{name} {value}: take {least} to {most}")
        if self.streams and self.prefill and not 0 < self.prompt_share < 1:
            raise UsageError(
                f"--prompt {self.prompt_share:g} of {number_of(self.streams, 'stream')} with prefill: take "
                "a share between 0 and 1"
            )
        if self.prompt_share and not (self.streams and self.prefill):
            raise UsageError(f"--prompt {self.prompt_share:g}: a share of what? give --streams and --prefill with it")
        if self.draft and not self.streams:
            raise UsageError(f"--draft {self.draft}: 0 streams decode: give --streams")
        if self.accept and not self.draft:
            raise UsageError(f"--accept {self.accept:g}: 0 drafts to accept: give --draft")

    @property
    def label(self) -> str:
        """What tables and figures call it."""
        parts = [number_of(self.streams, "stream")] if self.streams else []
        if self.prefill:
            share = f" of {100 * self.prompt_share:g} %" if self.streams else ""
            parts.append(f"prefill {self.prefill}{share}")
        if self.draft:
            parts.append(f"{number_of(self.draft, 'draft')} at {self.accept:g}")
        return ", ".join(parts)

    @property
    def in_order(self) -> bool:
        """Whether tokens come as they stand in the text."""
        return not self.streams or (self.streams == 1 and not self.prefill and not self.draft)

    def check(self, stream: TokenStream, begin: int, end: int) -> None:
        """Raise UsageError where tokens [begin, end) have fewer documents than there are streams."""
        if self.in_order:
            return
        tokens, cut = end - begin, stream.eot is None and stream.starts is None  # then any token may begin a part
        documents = tokens if cut else 1 + len(stream.document_starts(begin + 1, end))
        if documents < self.streams:
            each = " of 1 token each at best" if cut else ""
            other = ", or --eot none, without --documents, to cut the text into equal parts"
            raise UsageError(
                f"--streams {self.streams}: {stream.path or 'the tokens'}, tokens {begin} to {end}, have "
                f"{number_of(documents, 'document')}{each}: take as many streams or fewer"
                f"{other if not cut and tokens >= self.streams else ''}"
            )

    def steps(
        self,
        stream: TokenStream,
        layout: Layout,
        *,
        unit: str = "page",
        begin: int = 0,
        end: int | None = None,
        first: int = 0,
        last: int | None = None,
        backend: str = "c",
    ) -> Iterator["Steps"]:
        """Tokens [begin, end) of ``stream`` as this workload asks for them, in pieces; of them only those from the
        ``first`` on that is handed out, up to the ``last``. Memory: the steps of a piece, and 32 B for each document.
        Raises UsageError where there are fewer documents than streams."""
        end = len(stream) if end is None else end
        last = end - begin if last is None else last
        self.check(stream, begin, end)
        made = self._in_order if self.in_order else self._out_of_order
        at = 0
        for piece in made(stream, layout, unit, begin, end, first, backend):
            if at >= last:
                return
            if isinstance(piece, int):  # tokens before the first that is wanted, which were not hashed
                at += piece
                continue
            tokens = len(piece.counts)
            if at + tokens > first:
                yield piece.part(max(first - at, 0), min(last - at, tokens))
            at += tokens

    def _in_order(self, stream, layout, unit, begin, end, first, backend) -> Iterator["Steps | int"]:
        each = self.prefill if not self.streams else 1
        size = -(-_block(layout.addressing(unit, backend)) // each) * each
        skipped, weaver = first // size * size, Weaver(backend)
        if skipped:
            yield skipped
        for piece in pieces(stream, layout, unit=unit, begin=begin + skipped, end=end, backend=backend, size=size):
            tokens = len(piece.counts)
            steps = np.append(np.arange(each, tokens, each), tokens)
            ids, counts = weaver(piece.ids, piece.counts, None, steps)
            yield Steps(ids, piece.orders, counts, piece.counts, np.zeros(tokens, np.int64), steps)

    def _out_of_order(self, stream, layout, unit, begin, end, first, backend) -> Iterator["Steps | int"]:
        hashing, weaver = layout.addressing(unit, backend), Weaver(backend)
        context = hashing.context + 1  # so that a place where a segment begins is no document's start to any n-gram
        documents = _documents(stream, layout, self.streams, begin, end, context)
        slots, cursor = np.zeros((self.streams, 4), np.int64), np.zeros(3, np.int64)
        room = max(_block(hashing), self.streams * (1 + self.draft), self.prefill)
        segments, step_ends = np.empty((room, 4), np.int64), np.empty(room, np.int64)
        of, place, wasted = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, bool)
        handed = 0
        while True:
            count, steps, used = schedule(
                slots, cursor, documents, self.prompt_share, self.prefill, self.draft, self.accept, self.seed,
                segments, of, place, wasted, step_ends,
            )  # fmt: skip
            if not count:
                return
            true = np.flatnonzero(~wasted[:count])
            handed += len(true)
            if handed <= first:
                yield len(true)
                continue
            positions = np.empty(count + used * context, np.int64)
            firsts, starts = np.empty(used, np.int64), np.empty(used, np.int64)
            fed, met = feed(segments[:used], context, positions, firsts, starts)
            piece = hashing(stream.take(positions[:fed]), 0, starts[:met])
            order = (firsts[of[:count]] + place[:count]).astype(np.int32)
            ids, counts = weaver(piece.ids, piece.counts, order, step_ends[:steps])
            # what a wrong draft reads is its stream's last token's
            yield Steps(
                ids,
                piece.orders[order[true]],
                np.add.reduceat(counts, true, dtype=np.int64),
                np.add.reduceat(piece.counts[order], true, dtype=np.int64),
                np.add.reduceat(counts * wasted[:count], true, dtype=np.int64),
                np.searchsorted(true, step_ends[:steps]),
            )


def _block(hashing: Hashing) -> int:
    """Tokens to hand out at a time."""
    return max(1, min(CHUNK_TOKENS, _BLOCK_IDS // hashing.ids_per_token))


class Steps(NamedTuple):
    """Some steps of a workload. All arrays but the last four are reused: they hold until the next ones are asked for.

    ids: uint32, page or row ids in access order, each once a step. orders: uint8, one a token: how many of the layout's
    orders it had in reach. counts: integers, one a token: how many of ``ids`` it brought. references: likewise before
    ids were shared. wasted: likewise of ``counts``, what wrong drafts brought, which count with the token before them.
    ends: int64, increasing: where each step ends, in tokens.
    """

    ids: np.ndarray
    orders: np.ndarray
    counts: np.ndarray
    references: np.ndarray
    wasted: np.ndarray
    ends: np.ndarray

    def part(self, low: int, high: int) -> "Steps":
        """Tokens [low, high) alone; a step that is cut counts where it ends."""
        if low == 0 and high == len(self.counts):
            return self
        before, through = int(self.counts[:low].sum(dtype=np.int64)), int(self.counts[:high].sum(dtype=np.int64))
        tokens = slice(low, high)
        ends = self.ends[(self.ends > low) & (self.ends <= high)] - low
        return Steps(
            self.ids[before:through], self.orders[tokens], self.counts[tokens], self.references[tokens],
            self.wasted[tokens], ends,
        )  # fmt: skip


def _documents(
    stream: TokenStream, layout: Layout, streams: int, begin: int, end: int, context: int
) -> np.ndarray:  # fmt: skip
    """int64, shape (documents, 3): begin, end and clip of each, see :mod:`flashsim.kernels.nb.schedule`. A text without
    boundaries is cut into as many equal parts as there are streams; n-grams cross the cuts."""
    if stream.eot is None and stream.starts is None:
        cuts = np.unique(np.linspace(begin, end, streams + 1).astype(np.int64))
        begins, clips = cuts[:-1], np.zeros(len(cuts) - 1, np.int64)
    else:
        inside = stream.document_starts(begin + 1, end)
        begins = np.append(begin, inside)
        before = stream.document_starts(max(begin - context, 0), begin + 1)  # the first may be cut
        clips = np.append(before[-1] if len(before) else 0, inside)
    if layout.across_documents:
        clips = np.zeros_like(clips)
    return np.stack((begins, np.append(begins[1:], end), clips), axis=1)
