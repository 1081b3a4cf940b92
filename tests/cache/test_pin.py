"""Which ids are pinned, against sorting."""

import numpy as np
import policies_reference
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from flashsim.cache import pin
from flashsim.cache.engine import sweep_of
from flashsim.cache.lru import LruSweep


@settings(max_examples=300)
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


@settings(max_examples=100)
@given(st.lists(st.integers(0, 9), max_size=60), st.none() | st.sets(st.integers(0, 9)))
def test_what_is_pinned_never_misses_and_takes_no_place(ids, held):
    """Classes and misses are those of a cache that never sees the pinned ids."""
    pinned = None if held is None else np.isin(np.arange(10), list(held))
    free = [one for one in ids if one not in (held or ())]
    misses = [reference.lru(free, capacity) for capacity in (1, 3)]
    missed = map(sum, zip(*misses, strict=True))  # how many of the two each reference missed
    expected = [0 if one in (held or ()) else next(missed) for one in ids]
    sweep, classes = LruSweep([1, 3], 10), np.full(len(ids), 255, np.uint8)
    pin.run_unpinned(sweep, np.array(ids, np.uint32), pinned, classes)
    assert classes.tolist() == expected
    fifo = sweep_of("fifo", [3], 10)  # which tells no classes
    pin.run_unpinned(fifo, np.array(ids, np.uint32), pinned)
    assert fifo.misses.tolist() == [sum(policies_reference.fifo(free, 3))]
