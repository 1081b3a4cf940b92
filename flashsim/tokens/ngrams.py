"""The distinct n-grams of a stream, in memory and exactly: how often each comes, and where first."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flashsim.errors import UsageError
from flashsim.tokens.stream import TokenStream

TOKENS_MAX = 2**32 - 16  # their positions are uint32, with the context of the largest order


@dataclass(frozen=True)
class Ngrams:
    """The distinct n-grams of one order that end in tokens [begin, end) and lie inside a document.

    first: int64, increasing: token at which each ends for the first time, counted from ``begin``. counts: uint32, like
    ``first``: lookups of each.
    """

    order: int
    first: np.ndarray
    counts: np.ndarray

    @property
    def lookups(self) -> int:
        return int(self.counts.sum(dtype=np.int64))


def distinct_ngrams(stream: TokenStream, orders: Sequence[int], begin: int, end: int) -> dict[int, Ngrams]:
    """The :class:`Ngrams` of each of ``orders`` (increasing), exactly.

    Each order up to the largest is sorted in turn, by 64-bit keys: the rank of an n-gram's first n - 1 tokens, and its
    last token. Memory: about 40 B a token. Raises DataError on an id out of range, UsageError for 2^32 tokens.
    """
    from flashsim.kernels.nb.ngrams import ngram_keys, number_ngrams, sort_pairs

    if end - begin > TOKENS_MAX:
        raise UsageError(f"{end - begin} tokens, over {TOKENS_MAX}, to tell n-grams apart in: take fewer --tokens")
    ids, context, starts = next(stream.chunks(orders[-1] - 1, begin, end, end - begin))
    reach = _reach(len(ids), starts, orders[-1])
    id_bits, numbers, distinct, found = int(ids.max()).bit_length(), np.zeros(len(ids), np.uint32), 0, {}
    for order in range(1, orders[-1] + 1):
        keys, ends = ngram_keys(ids, numbers, reach, order, id_bits)
        keys, ends = sort_pairs(keys, ends, int(distinct).bit_length() + id_bits)
        counts = np.zeros(len(ids), np.uint32)
        distinct = number_ngrams(keys, ends, context, numbers, counts)
        if order in orders:
            at = np.flatnonzero(counts)
            found[order] = Ngrams(order, at - context, counts[at])
    return found


def _reach(tokens: int, starts: np.ndarray, most: int) -> np.ndarray:
    """uint8: how many tokens back from each, itself included, its document goes, at most ``most``."""
    reach = np.full(tokens, most, np.uint8)
    for lag in range(most - 2, -1, -1):  # the nearest start counts: it is written last
        for at in (starts + lag, np.array([lag])):
            reach[at[at < tokens]] = lag + 1
    return reach
