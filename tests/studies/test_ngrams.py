"""Distinct n-grams and their rows against plain Python: orders, windows, documents, back ends."""

from collections import Counter

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from flashsim.errors import UsageError
from flashsim.kernels import BACKENDS
from flashsim.kernels.nb.ngrams import sort_pairs
from flashsim.layouts import layout
from flashsim.studies import ngrams as module
from flashsim.studies.ngrams import distinct_ngrams, rows_of
from flashsim.tokens.stream import TokenStream
from flashsim.trace import trace_ids


def occurrences(ids, starts, order):
    """(end, n-gram) of every token that has ``order`` tokens of its document behind it, itself included."""
    first = 0
    for document in reference.documents(ids, starts):
        for end in range(order - 1, len(document)):
            yield first + end, tuple(document[end - order + 1 : end + 1])
        first += len(document)


@st.composite
def windows(draw):
    """(stream, its ids, starts, begin, end), ids few enough to repeat, or of 31 bits."""
    scale = draw(st.sampled_from([1, 7, 2**31 // 5]))
    ids = [scale * one for one in draw(st.lists(st.integers(0, 4), min_size=1, max_size=60))]
    starts = sorted({0, *draw(st.lists(st.integers(0, len(ids) - 1), max_size=6))})
    begin = draw(st.integers(0, len(ids) - 1))
    end = draw(st.integers(begin + 1, len(ids)))
    return TokenStream(np.array(ids, np.uint32), starts=np.array(starts)), ids, starts, begin, end


@settings(max_examples=300, deadline=None)
@given(windows(), st.sets(st.integers(1, 6), min_size=1))
def test_every_ngram_is_counted(window, orders):
    stream, ids, starts, begin, end = window
    found = distinct_ngrams(stream, sorted(orders), begin, end)
    assert set(found) == orders
    for order, made in found.items():
        inside = [(at - begin, gram) for at, gram in occurrences(ids, starts, order) if begin <= at < end]
        counts, first = Counter(gram for _, gram in inside), {}
        for at, gram in inside:
            first.setdefault(gram, at)
        assert made.first.tolist() == list(first.values())
        assert made.counts.tolist() == [counts[gram] for gram in first]
        assert (made.order, made.lookups) == (order, len(inside))


@settings(max_examples=60, deadline=None)
@given(windows(), st.sampled_from(["flat", "engram", "pagegram"]), st.sampled_from(list(BACKENDS)))
def test_rows_are_those_of_the_formulas(window, name, backend):
    stream, ids, starts, begin, end = window
    made = layout(name, params="300k", orders=(1, 3))
    ngrams = distinct_ngrams(stream, (1, 2, 3), begin, end)
    rows = rows_of(stream, made, ngrams, begin, end, backend)
    by_token = list(reference.rows_of(made, ids, starts))
    assert set(rows) == {1, 3}
    for index, order in enumerate((1, 3)):
        at = slice(index * made.heads, (index + 1) * made.heads)
        assert rows[order].tolist() == [by_token[begin + first][at] for first in ngrams[order].first]


@pytest.mark.parametrize("name", ["qwen3.8-flash-next", "engram-demo", "longcat-flash-lite"])
def test_tokens_that_emit_every_row(name):
    """Published layouts read rows for n-grams that are not whole, too: those are no n-grams of the stream."""
    ids, starts = [5, 6, 7, 5, 6, 7, 8], np.array([0, 4])
    made = layout(name, raw_ids=True if name == "engram-demo" else None)
    stream = TokenStream(np.array(ids, np.uint16), starts=starts)
    ngrams = distinct_ngrams(stream, made.orders, 0, len(ids))
    rows = rows_of(stream, made, ngrams, 0, len(ids))
    tables = trace_ids(stream, made, unit="row").reshape(len(ids), made.layers, len(made.orders), made.heads)
    assert len(ngrams[2].first) == 4  # (5, 6), (6, 7), (7, 5), (7, 8); not (5, 6) across the start
    for index, order in enumerate(made.orders):
        wanted = tables[ngrams[order].first, :, index].reshape(len(ngrams[order].first), -1)
        assert (rows[order] == wanted).all() and rows[order].shape[1] == made.layers * made.heads


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 2**40 - 1) | st.integers(0, 3), max_size=50))
def test_sorting_is_stable(keys):
    keys = np.array(keys, np.uint64)
    order = np.argsort(keys, kind="stable")
    in_order, values = sort_pairs(keys, np.arange(len(keys), dtype=np.uint32), 40)
    assert in_order.tolist() == keys[order].tolist() and values.tolist() == order.tolist()


def test_too_many_tokens(monkeypatch):
    monkeypatch.setattr(module, "TOKENS_MAX", 3)
    with pytest.raises(UsageError, match="4 tokens, over 3"):
        distinct_ngrams(TokenStream(np.arange(9)), (2,), 1, 5)
