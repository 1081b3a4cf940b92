"""Distinct n-grams against plain Python: orders, windows, documents."""

from collections import Counter

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from windows import windows

from flashsim.errors import UsageError
from flashsim.kernels.nb.ngrams import sort_pairs
from flashsim.tokens import ngrams as module
from flashsim.tokens.ngrams import distinct_ngrams
from flashsim.tokens.stream import TokenStream


def occurrences(ids, starts, order):
    """(end, n-gram) of every token that has ``order`` tokens of its document behind it, itself included."""
    first = 0
    for document in reference.documents(ids, starts):
        for end in range(order - 1, len(document)):
            yield first + end, tuple(document[end - order + 1 : end + 1])
        first += len(document)


@settings(max_examples=300)
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


@settings(max_examples=60)
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
