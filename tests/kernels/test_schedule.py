"""Whose token comes next: the schedule against plain Python."""

from itertools import pairwise

import numpy as np
import reference
from hypothesis import example, given, settings
from hypothesis import strategies as st

from flashsim.kernels.nb.schedule import BODY, schedule

ONE_LONG = [2, 1, 40, *[1, 3, 2] * 20]  # soon every slot but one is idle


def scheduled(documents, streams, share, chunk, room):
    """The steps, as lists of tokens, over as many calls as it takes."""
    room = max(room, streams, chunk)
    clips = np.zeros(len(documents), np.int64)
    documents = np.column_stack((documents, clips))
    slots, cursor = np.zeros((streams, 4), np.int64), np.zeros(3, np.int64)
    segments, ends = np.empty((room, 4), np.int64), np.empty(room, np.int64)
    of, place, wasted = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, bool)
    found = []
    while True:
        tokens, steps, _ = schedule(
            slots, cursor, documents, share, chunk, 0, 0.0, 0, segments, of, place, wasted, ends
        )  # fmt: skip
        if not tokens:
            return found
        assert not wasted[:tokens].any()
        handed = segments[of[:tokens], BODY] + place[:tokens]
        found += [part.tolist() for part in np.split(handed, ends[: steps - 1])]


@settings(max_examples=200)
@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=30),
    st.integers(1, 40),
    st.none() | st.tuples(st.floats(0.01, 0.99), st.integers(1, 7)),
    st.integers(1, 60),
)
@example(ONE_LONG, len(ONE_LONG), None, 7)
@example(ONE_LONG, len(ONE_LONG) // 2, (0.5, 3), 7)
def test_steps_are_those_of_plain_python(lengths, streams, prompt, room):
    documents = list(pairwise(np.cumsum([0, *lengths]).tolist()))
    share, chunk = prompt or (0.0, 0)
    plain = list(reference.decoded([range(*document) for document in documents], streams, share, chunk))
    assert scheduled(documents, streams, share, chunk, room) == plain
