"""Which ids are pinned, against sorting."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from flashsim.cache import pin


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=40), st.integers(0, 45), st.sampled_from([1, 2, 5, 1 << 16]),
    st.sampled_from([np.uint32, np.int64]),
)  # fmt: skip
def test_the_most_read_are_pinned(counts, pinned, levels, dtype):
    """levels: how many counts are told apart without sorting; above, they are sorted."""
    order = sorted((one for one in range(len(counts)) if counts[one]), key=lambda one: (-counts[one], one))
    held, pin._LEVELS = pin._LEVELS, levels
    try:
        mask = pin.most_read(np.array(counts, dtype), pinned)
    finally:
        pin._LEVELS = held
    assert np.flatnonzero(mask).tolist() == sorted(order[:pinned])
