"""A synthetic token stream with the repetition of text: ranks, topics, successors, quotations.

For tests, and for sizes and vocabularies that no text at hand has. It is labelled synthetic wherever it goes:
what a cache does on it shows that a method works, not what text costs.
"""

import math
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from flashsim.corpora.write import ids_dtype, write_tokens
from flashsim.errors import UsageError

EOT = 0
_BLOCK_TOKENS = 1 << 22  # made at a time; documents and quotations do not cross blocks
_LANE_TOKENS = 512  # steps of the successor chain that run one after another, a block's lanes side by side
_MANDELBROT_SHIFT = 4.0
_TOPICS = 256
_COMMON_WORDS = 64  # ranks that belong to no topic
_TOPIC_SHARE = 0.3
_SUCCESSOR_SHARE = 0.8
_SUCCESSOR_SLOTS = 4096
_SUCCESSOR_DECAY = 0.67
_LEAST_SUCCESSORS = 2
_QUOTE_TOKENS = 20
_MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_SHIFT = np.uint64(32)


def synthesise(
    tokens: int,
    vocabulary: int = 65_536,
    seed: int = 0,
    *,
    documents_mean: float = 800,
    exponent: float = 1.05,
    quoted: float = 0.2,
) -> tuple[np.ndarray, np.ndarray]:
    """Make ``tokens`` ids of a synthetic stream.

    Returns (ids, starts): ids uint16 where ``vocabulary`` fits 65,536 ids and uint32 otherwise, shape
    (tokens,), id 0 at the end of each document; starts int64, shape (documents,), where documents start, the
    first 0.

    The model, with W = vocabulary - 1 words (ids 1 to W, in an order shuffled by ``seed``):

    - Rank r of a word drawn afresh: r = floor(F^-1(u)) with u uniform and F the distribution on [1, W + 1)
      whose density is proportional to (x + 4)^-exponent. That is Zipf's law (G. K. Zipf, 1935 and 1949) with
      the shift of B. Mandelbrot ("An informational theory of the statistical structure of language", 1953),
      which flattens the head.
    - Topics: a document has one of 256. With probability 0.3 a fresh rank over 64 moves on to
      65 + (r - 65 + topic * floor((W - 64) / 256)) mod (W - 64): a document keeps returning to its own words.
    - Successors: with probability 0.8 a token is not fresh but follows from the one before, except at the
      start of a document. The word of rank r has J = 2 + 4096 r^-0.67 slots, many for a common word and a few
      for a rare one; slot j is taken with probability log(1 + 1/j) / log(1 + J) and holds rank
      floor(F^-1(h(r, j))), h a hash to [0, 1). Successors thus keep about the rank distribution, and pairs
      and triples come back as they do in text. The chain starts afresh every 512 tokens.
    - Quotations: spans of geometric length (mean 20) that amount to the share ``quoted`` of all tokens repeat
      what stood 20 tokens to 4 M tokens before, uniform in the logarithm of the distance.
    - Documents: lengths are 2 + an exponential of mean ``documents_mean`` - 2, rounded down.

    At 65,536 ids and the default figures, 20 M tokens hold about 0.15 distinct pairs and 0.50 distinct triples
    a token; a mixed corpus of text holds 0.15 and 0.44. The same arguments give the same stream. Raises
    UsageError for an argument out of range.
    """
    ids = np.concatenate(list(_blocks(tokens, vocabulary, seed, documents_mean, exponent, quoted)))
    return ids, np.append(0, np.flatnonzero(ids[:-1] == EOT) + 1).astype(np.int64)


def write_synthetic(
    output: str | os.PathLike, tokens: int, vocabulary: int, seed: int, **model: float
) -> dict[str, Any]:
    """Write the stream of :func:`synthesise` as a token file, a block at a time; returns its facts.

    model: keyword arguments of :func:`synthesise`, all of them.
    """
    from tqdm import tqdm

    facts = {"synthetic": True, "documents": 0, "eot": EOT, "tokenizer": "none (synthetic)", "seed": seed}
    facts |= {"model": model, "sources": []}

    def counted() -> Iterator[np.ndarray]:
        with tqdm(desc="synthesising", unit="token", unit_scale=True, total=tokens, disable=None) as progress:
            for block in _blocks(tokens, vocabulary, seed, **model):
                facts["documents"] += int(np.count_nonzero(block == EOT))
                yield block
                progress.update(len(block))

    return write_tokens(output, counted(), tokens, vocabulary, facts)


def _blocks(
    tokens: int, vocabulary: int, seed: int, documents_mean: float, exponent: float, quoted: float
) -> Iterator[np.ndarray]:
    if tokens < 1:
        raise UsageError(f"--tokens {tokens}: a stream has 1 token at least (100k, 20M ...)")
    if not 2 * _COMMON_WORDS <= vocabulary <= 2**32:
        raise UsageError(f"--vocab {vocabulary}: give {2 * _COMMON_WORDS} to {2**32} ids (65536 is usual)")
    if not 2 <= documents_mean < math.inf:
        raise UsageError(f"--documents-mean {documents_mean}: a document has 2 tokens at least (800 is usual)")
    if not 0 < exponent <= 4:
        raise UsageError(f"--exponent {exponent}: give a number over 0 and up to 4 (text is near 1)")
    if not 0 <= quoted <= 0.9:
        raise UsageError(f"--quoted {quoted}: give a share of 0 to 0.9 (0.2 is usual)")
    words = np.random.Generator(np.random.PCG64(seed)).permutation(vocabulary - 1).astype(ids_dtype(vocabulary))
    words += 1
    salt = np.uint64(int(_MIX[1]) * seed % 2**64)
    for index, first in enumerate(range(0, tokens, _BLOCK_TOKENS)):
        random = np.random.Generator(np.random.PCG64([seed, 1 + index]))
        count = min(_BLOCK_TOKENS, tokens - first)
        ends = _document_ends(random, count, documents_mean)
        ranks = _ranks(random, count, ends, vocabulary - 1, exponent, salt)
        ids = words[_quote(random, ranks, quoted) - 1]
        ids[ends] = EOT
        yield ids


def _document_ends(random: np.random.Generator, count: int, mean: float) -> np.ndarray:
    """Positions of the last token of each document; the last is ``count`` - 1."""
    enough = int(1.2 * count / mean + 100)
    ends = np.cumsum(2 + random.exponential(mean - 2, enough).astype(np.int64)) - 1
    while ends[-1] < count - 1:
        more = np.cumsum(2 + random.exponential(mean - 2, enough).astype(np.int64))
        ends = np.append(ends, ends[-1] + more)
    return np.append(ends[ends < count - 1], count - 1)


def _inverse(uniform: np.ndarray, words: int, shift: float, exponent: float) -> np.ndarray:
    """floor(F^-1(uniform)): int64 ranks 1 ... ``words`` of density (x + shift)^-exponent."""
    low, high = 1 + shift, words + 1 + shift
    if abs(exponent - 1) < 1e-9:
        x = low * np.exp(uniform * math.log(high / low))
    else:
        power = 1 - exponent
        x = (low**power + uniform * (high**power - low**power)) ** (1 / power)
    return np.clip((x - shift).astype(np.int64), 1, words)


def _ranks(
    random: np.random.Generator, count: int, ends: np.ndarray, words: int, exponent: float, salt: np.uint64
) -> np.ndarray:
    """Ranks of ``count`` tokens: fresh draws by topic, then the chain of successors, all lanes at a time."""
    lanes = -(-count // _LANE_TOKENS)
    padded = lanes * _LANE_TOKENS
    fresh = _inverse(random.random(padded), words, _MANDELBROT_SHIFT, exponent)
    document = np.searchsorted(ends, np.arange(count))
    topic = np.resize(random.integers(_TOPICS, size=len(ends))[document], padded)
    rare = words - _COMMON_WORDS
    moved = (fresh > _COMMON_WORDS) & (random.random(padded) < _TOPIC_SHARE)
    shifted = _COMMON_WORDS + 1 + (fresh - _COMMON_WORDS - 1 + topic * (rare // _TOPICS)) % rare
    fresh = np.where(moved, shifted, fresh)
    follows = random.random(padded) < _SUCCESSOR_SHARE
    follows[0] = False
    follows[ends[:-1] + 1] = False

    by_step = (fresh, follows, random.random(padded))
    chain, follows, uniform = (np.ascontiguousarray(part.reshape(lanes, _LANE_TOKENS).T) for part in by_step)
    for step in range(1, _LANE_TOKENS):
        before = chain[step - 1]
        slots = _SUCCESSOR_SLOTS * before**-_SUCCESSOR_DECAY + _LEAST_SUCCESSORS
        slot = ((slots + 1) ** uniform[step]).astype(np.int64)
        np.copyto(
            chain[step],
            _inverse(_hash(before, slot, salt), words, _MANDELBROT_SHIFT, exponent),
            where=follows[step],
        )
    return chain.T.ravel()[:count]


def _hash(rank: np.ndarray, slot: np.ndarray, salt: np.uint64) -> np.ndarray:
    """A hash of (rank, slot, salt) to [0, 1): two rounds of multiply and xor-shift in 64 bits."""
    value = (rank.astype(np.uint64) << _SHIFT) ^ slot.astype(np.uint64)
    value += salt
    for factor in _MIX:
        value *= factor
        value ^= value >> _SHIFT
    return (value >> np.uint64(11)) * 2.0**-53


def _quote(random: np.random.Generator, ranks: np.ndarray, share: float) -> np.ndarray:
    """``ranks`` with spans of it replaced by what stood before them, be that a quotation itself."""
    count = len(ranks)
    spans = int(-math.log1p(-share) * count / _QUOTE_TOKENS)  # they overlap: a share of 1 - exp(-...) is covered
    start = random.integers(_QUOTE_TOKENS, max(count, _QUOTE_TOKENS + 1), spans)
    length = np.minimum(random.geometric(1 / _QUOTE_TOKENS, spans), count - start)
    distance = (_QUOTE_TOKENS * (start / _QUOTE_TOKENS) ** random.random(spans)).astype(np.int64)
    target = np.arange(length.sum()) + np.repeat(start - np.cumsum(length) + length, length)
    source = np.arange(count)
    source[target] = target - np.repeat(distance, length)
    # follow quotations of quotations to what was not quoted, twice as far each time
    while not np.array_equal(further := source[source], source):
        source = further
    return ranks[source]
