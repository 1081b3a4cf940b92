"""Chunks: however a stream is cut, its n-grams and document starts are the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashsim.tokens import TokenStream

IDS = st.lists(st.integers(0, 5), min_size=1, max_size=60)


def joined(stream, context, size, begin=0):
    """(ids, starts) put together again; starts of context are dropped, as are those at position 0."""
    ids, starts, at = [], [], begin
    for chunk in stream.chunks(context, begin=begin, size=size):
        assert chunk.ids.dtype == np.uint32 and chunk.starts.dtype == np.int64
        assert chunk.context == min(context, at) and len(chunk.ids) - chunk.context <= size
        assert chunk.ids[: chunk.context].tolist() == stream.ids[at - chunk.context : at].tolist()
        ids += chunk.ids[chunk.context :].tolist()
        starts += [at + start - chunk.context for start in chunk.starts.tolist() if start >= max(chunk.context, 1)]
        at += len(chunk.ids) - chunk.context
    return ids, starts


@given(IDS, st.integers(1, 4), st.integers(1, 70), st.sampled_from(["uint8", "uint16", "int32", "uint64"]))
def test_cutting_changes_nothing(ids, context, size, dtype):
    array = np.array(ids, dtype)
    assert joined(TokenStream(array), context, size) == (ids, [])
    behind_eot = [at + 1 for at in range(len(ids) - 1) if ids[at] == 0]
    assert joined(TokenStream(array, eot=0), context, size) == (ids, behind_eot)
    starts = np.array([0, *behind_eot], np.int64)
    assert joined(TokenStream(array, starts=starts), context, size) == (ids, behind_eot)


@given(IDS, st.integers(0, 60))
def test_a_later_begin_keeps_its_context(ids, begin):
    begin = min(begin, len(ids))
    assert joined(TokenStream(np.array(ids, np.uint16)), 3, 7, begin)[0] == ids[begin:]


@pytest.mark.parametrize("name", ["corpus.bin", "corpus.bin.zst", "corpus.npy", "corpus"])
def test_name(tmp_path, name):
    assert TokenStream(np.zeros(1, np.uint16), path=tmp_path / name).name == "corpus"
    assert TokenStream(np.zeros(1, np.uint16)).name == "tokens"
