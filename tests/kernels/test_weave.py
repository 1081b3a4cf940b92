"""Weaving three ways, and what it refuses."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from flashsim.kernels import BACKENDS, backend
from flashsim.kernels.weave import Weaver


@st.composite
def woven(draw):
    """(ids of each token, order, step ends): few ids, so that they meet; a token may come more than once, or never."""
    ids = st.sampled_from([0, 1, 2, 3, 2**32 - 1]) | st.integers(0, 40)
    ids_of = draw(st.lists(st.lists(ids, max_size=5), min_size=1, max_size=20))
    order = draw(st.lists(st.integers(0, len(ids_of) - 1), max_size=30))
    cuts = draw(st.sets(st.integers(1, max(len(order), 1)), max_size=10))
    return ids_of, order, sorted({cut for cut in cuts if cut < len(order)} | ({len(order)} if order else set()))


def run(name, ids_of, order, step_ends, seen, stamp=1, room=0):
    ids = np.array([one for token in ids_of for one in token], np.uint32)
    ends = np.cumsum([len(token) for token in ids_of], dtype=np.int64)
    emitted = len(ids_of) if order is None else len(order)
    out, counts = np.empty(room or 5 * emitted, np.uint32), np.empty(emitted, np.uint16)
    order = None if order is None else np.array(order, np.int32)
    written = backend(name).weave(ids, ends, order, np.array(step_ends, np.int64), seen, stamp, out, counts)
    return out[:written].tolist(), counts.tolist()


@settings(max_examples=300)
@given(woven(), st.booleans(), st.sampled_from([256, 1 << 16]))
def test_three_ways(case, share, slots):
    ids_of, order, step_ends = case
    plain = reference.weave(ids_of, order, step_ends, share)
    for name in BACKENDS:
        assert run(name, ids_of, order, step_ends, np.zeros(slots, np.uint64) if share else None) == plain


@settings(max_examples=100)
@given(st.lists(st.lists(st.integers(0, 3), max_size=3), min_size=1, max_size=20))
def test_tokens_as_they_come(ids_of):
    ends, order = list(range(1, len(ids_of) + 1)), range(len(ids_of))
    for name in BACKENDS:
        assert run(name, ids_of, None, ends, np.zeros(8, np.uint64)) == reference.weave(ids_of, order, ends)


@pytest.mark.parametrize("name", BACKENDS)
def test_what_an_earlier_call_saw_is_forgotten(name):
    seen, ids_of = np.zeros(8, np.uint64), [[1, 2], [2, 1, 2]]
    for stamp in (1, 3, 5):
        assert run(name, ids_of, [0, 1], [1, 2], seen, stamp) == ([1, 2, 2, 1], [2, 2])


@settings(max_examples=200)
@given(st.lists(woven(), max_size=6), st.integers(1, 12), st.sampled_from(list(BACKENDS)))
def test_a_weaver_keeps_nothing_from_call_to_call(calls, left, name):
    """Of any sizes one after the other, and where the stamps run out."""
    weaver = Weaver(name)
    for at, (ids_of, order, step_ends) in enumerate(calls):
        if at == 1:
            weaver._stamp = 2**32 - 2 - left
        ids, counts = weaver(
            np.array([one for token in ids_of for one in token], np.uint32),
            np.array([len(token) for token in ids_of], np.uint8),
            np.array(order, np.int32),
            np.array(step_ends, np.int64),
        )
        assert (ids.tolist(), counts.tolist()) == reference.weave(ids_of, order, step_ends)


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize(
    ("order", "ends", "seen", "stamp", "room", "message"),
    [
        ([0, 2], [2], 8, 1, 0, "5 ids of 2 tokens"),  # no such token
        ([0, -1], [2], 8, 1, 0, "5 ids of 2 tokens"),
        ([0, 1], [2], 8, 1, 2, "room for 2"),
        ([0, 1], [2], 2, 1, 0, "5 ids of 2 tokens"),  # more different ids than slots
        ([0, 1], [1], 8, 1, 0, "2 tokens handed out"),
        ([0, 1], [2], 6, 1, 0, "6 slots: give a power of two"),
        ([0, 1], [2], 8, 2**32 - 1, 0, "stamp 4294967295"),
        ([0, 1], [2], 8, 0, 0, "stamp 0"),
    ],
)
def test_refusals(name, order, ends, seen, stamp, room, message):
    with pytest.raises(ValueError, match=message):
        run(name, [[1, 2, 3], [4, 5]], order, ends, np.zeros(seen, np.uint64), stamp, room)
