"""What a token stream is made of: documents, distinct n-grams and how few make up most of it, and warnings.

The counts are exact and memory is bounded: n-grams are counted in as many passes over the stream as keep the
keys of one pass in memory, each pass taking one slice of the (mixed) key space.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from flashsim.tokens.stream import Chunk, TokenStream

SHORT_TOKENS = 100_000  # below this a stream does not stand for real text
TOPS = (1, 100, 10_000)

_PASS_KEYS = 1 << 25  # keys of one order in memory at a time: 256 MiB, and as much again while they are sorted
_KEY_BITS = 64


@dataclass(frozen=True)
class NgramCounts:
    """How the occurrences of one order spread over its distinct n-grams.

    positions: occurrences, all inside a document.
    distinct: different n-grams among them.
    entropy_bits: of their distribution.
    top_1, top_100, top_10000: share (0 to 1) of the positions that so many most frequent ones take.
    """

    positions: int
    distinct: int
    entropy_bits: float
    top_1: float
    top_100: float
    top_10000: float


@dataclass(frozen=True)
class TokenInfo:
    """Facts about the first ``tokens`` of a stream of ``tokens_in_file``; see :func:`describe`."""

    name: str
    format: str
    dtype: str
    tokens: int
    tokens_in_file: int
    boundary: str
    documents: int
    mean_document_tokens: float
    vocab_size: int | None
    largest_id: int
    synthetic: bool
    unigrams: NgramCounts
    bigrams: NgramCounts
    trigrams: NgramCounts
    warnings: tuple[str, ...]


def describe(stream: TokenStream, end: int | None = None) -> TokenInfo:
    """Count the first ``end`` tokens (default: all) of ``stream``, n-grams within documents only.

    Takes one pass over the stream for every 2^25 tokens. Three ids of 2^21 and over do not fit a 64-bit key:
    their trigrams are told apart by a 64-bit hash instead. Raises DataError on an id out of range.
    """
    end = len(stream) if end is None else min(end, len(stream))
    id_bits = _id_bits(stream, end)
    passes = -(-end // _PASS_KEYS)
    spreads = {order: _Spread() for order in (1, 2, 3)}
    documents, largest_id = 1, 0
    for index, tallies in ((index, {2: _Tally(), 3: _Tally()}) for index in range(passes)):
        if index == 0:
            tallies[1] = _Tally()  # few enough to need no slices
        for chunk in _progress(stream, end, f"pass {index + 1} of {passes}"):
            for order, keys in _ngrams(chunk, id_bits):
                tallies[order].add(_slice(keys, index, passes))
            if index == 0:
                tallies[1].add(chunk.ids[chunk.context :])
                largest_id = max(largest_id, int(chunk.ids.max()))
                # position 0 with no context is the start of the stream, which is counted already
                documents += int(np.count_nonzero(chunk.starts >= max(chunk.context, 1)))
        for order, tally in tallies.items():
            spreads[order].add(tally.counts())
    unigrams, bigrams, trigrams = (spreads[order].result() for order in (1, 2, 3))
    return TokenInfo(
        name=stream.name,
        format=stream.format,
        dtype=stream.ids.dtype.name,
        tokens=end,
        tokens_in_file=len(stream),
        boundary=stream.boundary,
        documents=documents,
        mean_document_tokens=end / documents,
        vocab_size=stream.vocab_size,
        largest_id=largest_id,
        synthetic=stream.synthetic,
        unigrams=unigrams,
        bigrams=bigrams,
        trigrams=trigrams,
        warnings=tuple(_warnings(stream, documents, unigrams, bigrams, trigrams)),
    )


def _id_bits(stream: TokenStream, end: int) -> int:
    """Bits that hold every id: known from the dtype or the vocabulary, else looked up in one pass."""
    if stream.ids.dtype.itemsize <= 2:
        return 16
    limit = stream.vocab_size or 1 + max(int(chunk.ids.max()) for chunk in stream.chunks(0, 0, end))
    return max(1, (limit - 1).bit_length())


def _progress(stream: TokenStream, end: int, label: str) -> Iterator[Chunk]:
    from tqdm import tqdm

    with tqdm(total=end, desc=label, unit="token", unit_scale=True, leave=False, disable=None) as bar:
        for chunk in stream.chunks(2, 0, end):
            yield chunk
            bar.update(len(chunk.ids) - chunk.context)


def _ngrams(chunk: Chunk, id_bits: int) -> Iterator[tuple[int, np.ndarray]]:
    """(2, keys) and (3, keys): uint64, of the n-grams that end in this chunk and lie inside one document."""
    # the chunk has at most 2 ids of context, so every trigram in it is its own, and all but one bigram
    ids, shift = chunk.ids.astype(np.uint64), np.uint64(id_bits)
    begins = np.zeros(len(ids), bool)  # this id is the first of its document
    begins[chunk.starts] = True
    pairs = ids[:-1] << shift | ids[1:]
    last = max(chunk.context, 1)  # first position at which a bigram of this chunk can end
    yield 2, pairs[last - 1 :][~begins[last:]]
    prefixes = pairs[:-1] << shift if 3 * id_bits <= _KEY_BITS else _mixed(pairs[:-1])
    yield 3, (prefixes + ids[2:])[~(begins[2:] | begins[1:-1])]


def _mixed(keys: np.ndarray) -> np.ndarray:
    """The finalizer of splitmix64: one-to-one on 64 bits, so mixed keys are as distinct as the keys were."""
    keys = (keys ^ keys >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ keys >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return keys ^ keys >> np.uint64(31)


def _slice(keys: np.ndarray, index: int, slices: int) -> np.ndarray:
    """Those ``keys`` in slice ``index`` of the key space, mixed first so that slices are alike in size."""
    if slices == 1:
        return keys
    keys = _mixed(keys)
    first, last = (2**_KEY_BITS * edge // slices for edge in (index, index + 1))
    return keys[(keys >= np.uint64(first)) & (keys <= np.uint64(last - 1))]


class _Tally:
    """Counts of distinct keys; folds what is pending into sorted counts, so that repeats take no memory."""

    def __init__(self) -> None:
        self._pending: list[np.ndarray] = []
        self._pending_count = 0
        self._keys, self._counts = np.zeros(0, np.uint64), np.zeros(0, np.int64)

    def add(self, keys: np.ndarray) -> None:
        self._pending.append(keys)
        self._pending_count += len(keys)
        if self._pending_count >= _PASS_KEYS:
            self._fold()

    def counts(self) -> np.ndarray:
        """int64, shape (distinct,), in no useful order."""
        self._fold()
        return self._counts

    def _fold(self) -> None:
        if not self._pending:
            return
        keys = np.concatenate(self._pending)
        self._pending, self._pending_count = [], 0
        keys.sort()
        firsts = _run_starts(keys)
        keys, counts = keys[firsts], np.diff(firsts, append=len(keys))
        if len(self._keys):
            keys, counts = np.concatenate((self._keys, keys)), np.concatenate((self._counts, counts))
            order = np.argsort(keys, kind="stable")  # merges two sorted runs in linear time
            keys, counts = keys[order], counts[order]
            firsts = _run_starts(keys)
            keys, counts = keys[firsts], np.add.reduceat(counts, firsts)
        self._keys, self._counts = keys, counts


def _run_starts(keys: np.ndarray) -> np.ndarray:
    """Positions in sorted ``keys`` at which a new key begins."""
    return np.flatnonzero(np.concatenate((np.ones(min(1, len(keys)), bool), keys[1:] != keys[:-1])))


class _Spread:
    """Sums over slices of the key space what :class:`NgramCounts` needs."""

    def __init__(self) -> None:
        self._positions, self._distinct, self._log_sum = 0, 0, 0.0
        self._top = np.zeros(0, np.int64)

    def add(self, counts: np.ndarray) -> None:
        self._positions += int(counts.sum())
        self._distinct += len(counts)
        self._log_sum += float(counts @ np.log2(counts))
        top = np.concatenate((self._top, counts))
        if len(top) > TOPS[-1]:
            top = np.partition(top, -TOPS[-1])[-TOPS[-1] :]
        self._top = top

    def result(self) -> NgramCounts:
        positions = max(self._positions, 1)  # no n-gram at all: shares and entropy are 0
        top = np.cumsum(np.sort(self._top)[::-1])
        shares = (float(top[min(rank, len(top)) - 1]) / positions if len(top) else 0.0 for rank in TOPS)
        entropy = max(0.0, math.log2(positions) - self._log_sum / positions)
        return NgramCounts(self._positions, self._distinct, entropy, *shares)


def _warnings(
    stream: TokenStream, documents: int, unigrams: NgramCounts, bigrams: NgramCounts, trigrams: NgramCounts
) -> Iterator[str]:
    """One line for every trap that the stream would lead into: its name, its number, and what to do."""
    tokens = unigrams.positions
    if unigrams.top_1 > 0.5:
        yield (
            f"one token is {unigrams.top_1:.1%} of the stream: a repeated-token prompt hits in any cache; "
            "measure real text instead"
        )
    elif trigrams.distinct < 0.01 * trigrams.positions and trigrams.distinct < 2 * bigrams.distinct:
        yield (
            f"the stream repeats itself: {trigrams.distinct:,} distinct trigrams in {trigrams.positions:,}; "
            "a repeated prompt hits in any cache; measure real text instead"
        )
    elif _looks_uniform(unigrams, bigrams):
        yield (
            f"ids look uniformly random ({unigrams.entropy_bits:.2f} of at most "
            f"{math.log2(unigrams.distinct):.2f} bits a token): the hit rate is the cache's share of the "
            "table by construction; measure real text instead"
        )
    if tokens < SHORT_TOKENS:
        yield f"only {tokens:,} tokens: under {SHORT_TOKENS:,} do not stand for real text, nor warm a cache"
    if stream.synthetic:
        yield f"synthetic, says its JSON: none of its {tokens:,} tokens is real text"
    if stream.eot is None and stream.starts is None:
        yield (
            f"0 document boundaries in {tokens:,} tokens (boundary: {stream.boundary}): n-grams run on "
            "between texts; pass --eot or --documents"
        )
    elif documents == 1:
        yield f"only 1 document in {tokens:,} tokens (boundary: {stream.boundary}): is this the right EOT id?"


def _looks_uniform(unigrams: NgramCounts, bigrams: NgramCounts) -> bool:
    """True where tokens are near their largest entropy and bigrams repeat as independent draws would."""
    if unigrams.positions < 1000 or unigrams.distinct < 2:
        return False
    cells = float(unigrams.distinct) ** 2
    expected = cells * -math.expm1(-bigrams.positions / cells)
    return unigrams.entropy_bits > 0.98 * math.log2(unigrams.distinct) and bigrams.distinct > 0.97 * expected
