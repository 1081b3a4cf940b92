"""Longest match: C, numba and plain Python agree on any set; sets from a corpus; what is no set."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import documents

from flashsim.corpora.ngram_set import frequent_ngrams
from flashsim.errors import DataError, UsageError
from flashsim.kernels import backend as kernels_of
from flashsim.layouts import layout
from flashsim.layouts.matched import NO_TOKEN, trie_of
from flashsim.tokens.stream import TokenStream
from flashsim.trace import pieces, trace_ids

TOKENS = st.lists(st.integers(0, 4), min_size=1, max_size=60)


def as_set(grams, largest=5):
    """uint32: n-grams given oldest token first."""
    out = np.full((len(grams), largest), NO_TOKEN, np.uint32)
    for at, gram in enumerate(grams):
        out[at, : len(gram)] = gram[::-1]
    return out


def expected_rows(ids, starts, grams):
    """For each token the row of the longest n-gram that ends there inside its document, or None."""
    rows = {tuple(gram): row for row, gram in enumerate(grams)}
    for document in documents(ids, starts):
        for end in range(1, len(document) + 1):
            found = [rows.get(tuple(document[end - n : end])) for n in range(2, 6) if n <= end]
            yield next((row for row in reversed(found) if row is not None), None)


@settings(max_examples=150)
@given(
    TOKENS, st.sets(st.lists(st.integers(0, 4), min_size=2, max_size=5).map(tuple), min_size=1, max_size=30), st.data()
)
def test_longest_match_three_ways(ids, grams, data):
    grams = sorted(grams)
    starts = sorted(data.draw(st.sets(st.integers(0, len(ids) - 1), max_size=4)))
    first = data.draw(st.integers(0, len(ids)))
    rows = list(expected_rows(ids, starts, grams))[first:]
    slots = trie_of(as_set(grams))
    for backend in ("c", "numba"):
        out, counts = np.empty(len(ids) - first, np.uint32), np.empty(len(ids) - first, np.uint16)
        written = kernels_of(backend).match(
            slots, 5, np.array(ids, np.uint32), first, np.array(starts, np.int64), out, counts
        )
        assert out[:written].tolist() == [row for row in rows if row is not None]
        assert counts.tolist() == [row is not None for row in rows]


@settings(max_examples=60)
@given(TOKENS, st.data())
def test_the_set_is_what_is_most_frequent(ids, data):
    starts = sorted({0, *data.draw(st.sets(st.integers(0, len(ids) - 1), max_size=4))})
    seen = Counter()
    for document in documents(ids, starts):
        for n in range(2, 5):
            seen.update(tuple(document[end - n : end]) for end in range(n, len(document) + 1))
    frequent = {gram: count for gram, count in seen.items() if count > 1}
    stream = TokenStream(np.array(ids), starts=np.array(starts))
    if not frequent:
        with pytest.raises(UsageError, match="0 n-grams come twice"):
            frequent_ngrams(stream, 1000, 4)
        return
    grams = [tuple(row[row != NO_TOKEN][::-1].tolist()) for row in frequent_ngrams(stream, 1000, 4)]
    assert set(grams) == set(frequent) and len(grams) == len(set(grams))
    counts = [frequent[gram] for gram in grams]
    assert counts == sorted(counts, reverse=True)
    few = frequent_ngrams(stream, 2, 4)
    assert (few == frequent_ngrams(stream, 1000, 4)[:2]).all()


def test_scone_end_to_end(flashsim, corpus_file, stream):
    code, out, err = flashsim("corpus", "ngram-set", corpus_file, "--eot", 0, "--count", "5k")
    assert code == 0 and "5,000 n-grams" in out, err
    code, out, err = flashsim("layouts", "show", "scone", "--ngram-set", "corpus.ngrams.npy")
    assert code == 0 and "longest-match" in out and "UNCERTAIN" in out
    arguments = ["--layout", "scone", "--ngram-set", "corpus.ngrams.npy", "--eot", 0]
    code, out, err = flashsim("trace", corpus_file, *arguments)
    assert code == 0 and "tokens that no n-gram of the set ends with" in out
    code, out, err = flashsim(
        "sweep-cache", corpus_file, *arguments, "--layout", "engram", "--params", "1M", "--cache", "64KiB"
    )
    assert code == 0 and "scone" in out and "engram-1M" in out


def test_pages_follow_the_rows(stream, tmp_path):
    np.save(tmp_path / "set.npy", frequent_ngrams(stream, 2000))
    made = layout("scone", ngram_set=tmp_path / "set.npy", row_format="mlx-4bit-g32")
    assert made.rows == 2000 and made.row_bytes == 2048 // 2 + 2048 // 32 * 4
    short = TokenStream(stream.ids[:5000], starts=stream.starts[stream.starts < 5000])
    rows = trace_ids(short, made, unit="row").tolist()
    wanted = [page for row in rows for page in sorted({row * 1280 // 4096, (row * 1280 + 1279) // 4096})]
    assert trace_ids(short, made).tolist() == wanted == trace_ids(short, made, backend="numba").tolist()
    counts = np.concatenate([piece.counts.copy() for piece in pieces(short, made, unit="row")])
    assert set(counts.tolist()) == {0, 1} and counts.sum() == len(rows)


@pytest.mark.parametrize(("array", "message"), [
    (np.zeros(4, np.uint32), "shape"),
    (np.zeros((4, 2), np.int64), "uint32 of shape"),
    (as_set([(1,)]), "n-gram 0 is none"),
    (np.array([[1, NO_TOKEN, 2]], np.uint32), "n-gram 0 is none"),
    (np.array([[1, 2**31]], np.uint32), "n-gram 0 is none"),
    (as_set([(1, 2), (3, 4), (1, 2)]), "n-gram 2 is there twice"),
    (as_set([(1, 2, 3, 4, 5, 6)], 6), "n-grams of 6 tokens, the layout's largest is 5"),
])  # fmt: skip
def test_what_is_no_set(tmp_path, array, message):
    np.save(tmp_path / "set.npy", array)
    with pytest.raises((UsageError, DataError), match=message):
        layout("scone", ngram_set=tmp_path / "set.npy")


@pytest.mark.parametrize(("name", "values", "message"), [
    ("scone", {}, "0 given"), ("scone", {"ngram_set": "none.npy"}, "0 files"), ("scone", {"params": "1B"}, "--params"),
    ("engram", {"ngram_set": "none.npy"}, "1 set is no use"), ("scone", {"heads": 2}, "2 heads"),
])  # fmt: skip
def test_options_that_do_not_fit(name, values, message):
    with pytest.raises(UsageError, match=message):
        layout(name, **values)
