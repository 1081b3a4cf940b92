"""describe: counts as a plain Counter would have them, however the work is cut; and every warning, but no other."""

import math
import pydoc_data.topics
import re
from collections import Counter
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashsim.errors import DataError
from flashsim.tokens import TokenStream, info
from flashsim.tokens.info import NgramCounts, describe

RNG = np.random.default_rng(2)


class Cut(TokenStream):
    """A stream that is always handed out in pieces of 7."""

    def chunks(self, context, begin=0, end=None, size=7):
        return super().chunks(context, begin, end, size)


def counted(documents, order):
    """NgramCounts of ``documents`` (lists of ids) in plain Python."""
    ngrams = [tuple(ids[at : at + order]) for ids in documents for at in range(len(ids) - order + 1)]
    counts = sorted(Counter(ngrams).values(), reverse=True)
    total = max(len(ngrams), 1)
    entropy = -sum(count / total * math.log2(count / total) for count in counts)
    return NgramCounts(len(ngrams), len(counts), entropy, *(sum(counts[:top]) / total for top in (1, 100, 10_000)))


def split_behind(ids, eot):
    documents = [[]]
    for at, token in enumerate(ids):
        documents[-1].append(token)
        if token == eot and at + 1 < len(ids):
            documents.append([])
    return documents


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=80),
    st.sampled_from([TokenStream, Cut]),
    st.sampled_from([4, 16, 1 << 25]),
    st.sampled_from([("uint16", 0), ("uint32", 70_000), ("int64", 2**31 - 5)]),
)
def test_counts_are_those_of_a_counter(ids, kind, pass_keys, dtype_and_offset):
    dtype, offset = dtype_and_offset
    stream = kind(np.array(ids, dtype) + np.array(offset, dtype), eot=offset)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(info, "_PASS_KEYS", pass_keys)
        found = describe(stream)
    documents = split_behind(ids, 0)
    for order, counts in ((1, found.unigrams), (2, found.bigrams), (3, found.trigrams)):
        assert astuple(counts) == pytest.approx(astuple(counted(documents, order)), abs=1e-9)
    assert (found.tokens, found.documents, found.largest_id) == (len(ids), len(documents), max(ids) + offset)
    assert found.mean_document_tokens == len(ids) / len(documents)


@pytest.mark.parametrize("pass_keys", [1000, 30_000, 1 << 25])
def test_many_distinct_ngrams_in_slices(monkeypatch, pass_keys):
    ids = (3000 * RNG.random(100_000) ** 2).astype(np.uint16)
    monkeypatch.setattr(info, "_PASS_KEYS", pass_keys)
    found = describe(TokenStream(ids, eot=7))
    documents = split_behind(ids.tolist(), 7)
    assert astuple(found.bigrams) == pytest.approx(astuple(counted(documents, 2)))
    assert astuple(found.trigrams) == pytest.approx(astuple(counted(documents, 3)))
    assert found.bigrams.top_10000 < 1 and found.trigrams.distinct > 90_000


def test_explicit_starts_and_a_prefix():
    ids, starts = np.array([1, 2, 1, 2, 3, 1, 2, 9], np.uint16), np.array([0, 2, 5])
    found = describe(TokenStream(ids, starts=starts, boundary="x", vocab_size=10, format="raw"), end=7)
    documents = [[1, 2], [1, 2, 3], [1, 2]]
    assert astuple(found.bigrams) == pytest.approx(astuple(counted(documents, 2)))
    assert (found.bigrams.positions, found.bigrams.distinct, found.trigrams.positions) == (4, 2, 1)
    assert (found.tokens, found.tokens_in_file, found.documents, found.largest_id) == (7, 8, 3, 3)
    assert (found.boundary, found.vocab_size, found.format, found.dtype) == ("x", 10, "raw", "uint16")
    assert describe(TokenStream(ids), end=100).tokens == 8


def test_ids_out_of_range_are_refused():
    with pytest.raises(DataError, match="token 1 is 7, outside the vocabulary of 7"):
        describe(TokenStream(np.array([1, 7], np.uint16), vocab_size=7))
    with pytest.raises(DataError, match="token 1 is -1"):
        describe(TokenStream(np.array([1, -1], np.int32)))


def words_of_real_text():
    """About 130,000 words of English, each topic of Python's manual a document behind which EOT 0 stands."""
    numbers, ids = {"": 0}, []
    for text in pydoc_data.topics.topics.values():
        ids += [numbers.setdefault(word, len(numbers)) for word in re.findall(r"\w+|[^\w\s]", text)] + [0]
    return np.array(ids, np.uint16)


def test_real_text_raises_no_warning():
    ids = words_of_real_text()
    assert len(ids) > info.SHORT_TOKENS
    assert describe(TokenStream(ids, eot=0)).warnings == ()
    (short,) = describe(TokenStream(ids[:99_999], eot=0)).warnings
    assert short.startswith("only 99,999 tokens: under 100,000")
    (unbounded,) = describe(TokenStream(ids)).warnings
    assert re.match(r"0 document boundaries in 1\d\d,\d\d\d tokens \(boundary: none\).*--eot", unbounded)
    (synthetic,) = describe(TokenStream(ids, eot=0, synthetic=True)).warnings
    assert synthetic.startswith("synthetic, says its JSON: none of its 1")


@pytest.mark.parametrize("size", [1000, 5000, 30_000])
def test_a_piece_of_real_text_is_not_taken_for_random(size):
    ids = words_of_real_text()
    for first in range(0, len(ids) - size, 20_000):
        warnings = describe(TokenStream(ids[first : first + size], eot=0)).warnings
        assert not [warning for warning in warnings if not warning.startswith(("only ", "synthetic"))]


def test_eot_that_never_comes():
    (warning,) = describe(TokenStream(words_of_real_text(), eot=60_000, boundary="--eot 60000")).warnings
    assert re.match(r"only 1 document in .* \(boundary: --eot 60000\): .*EOT", warning)


STARTS = np.arange(0, 200_000, 1000)


@pytest.mark.parametrize(("ids", "message"), [
    (np.full(200_000, 7), "one token is 100.0% of the stream"),
    (np.where(RNG.random(200_000) < 0.6, 7, RNG.integers(0, 5000, 200_000)), r"one token is \d\d\.\d% of the stream"),
    (np.arange(200_000) % 10, "the stream repeats itself: 10 distinct trigrams in 199,600"),
    (np.resize([1000, 5], 200_000), "the stream repeats itself: 2 distinct trigrams"),
    (np.resize(RNG.integers(0, 50_000, 1000), 200_000), r"the stream repeats itself: 998 distinct trigrams"),
    (RNG.integers(0, 50_257, 200_000), r"ids look uniformly random .15\.\d\d of at most 15\.\d\d bits"),
    (RNG.integers(0, 129_280, 200_000), "ids look uniformly random"),
    (RNG.integers(0, 500, 200_000), "ids look uniformly random"),
    (np.arange(200_000), "ids look uniformly random"),
])  # fmt: skip
def test_traps(ids, message):
    (warning,) = describe(TokenStream(np.asarray(ids, np.uint32), starts=STARTS)).warnings
    assert re.match(message, warning) and "measure real text instead" in warning


@pytest.mark.parametrize("vocabulary", [8, 60, 250])
def test_few_but_skewed_ids_are_no_trap(vocabulary):
    # as with bytes, all bigrams come, and many times
    ids = (vocabulary * RNG.random(200_000) ** 2).astype(np.uint8)
    assert describe(TokenStream(ids, starts=STARTS)).warnings == ()


def test_evenly_spread_ids_in_a_long_cycle_are_not_random():
    ids = np.resize(RNG.permutation(20_000), 200_000).astype(np.uint16)
    assert describe(TokenStream(ids, starts=STARTS)).warnings == ()


def test_one_token():
    found = describe(TokenStream(np.array([5], np.uint16), eot=5))
    assert astuple(found.unigrams) == (1, 1, 0.0, 1.0, 1.0, 1.0)
    assert astuple(found.bigrams) == astuple(found.trigrams) == (0, 0, 0.0, 0.0, 0.0, 0.0)
