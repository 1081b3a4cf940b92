"""Misses over others' traces: any ids, every policy, the capacities that are chosen."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashsim.cache.engine import POLICIES, sweep_of
from flashsim.errors import UsageError
from flashsim.studies import foreign
from flashsim.studies.foreign import COLUMNS, Pages, simulate

IDS = st.lists(st.one_of(st.integers(0, 20), st.integers(0, 2**64 - 1)), min_size=1, max_size=120)


@pytest.mark.parametrize("step", [5, 1 << 22])
@given(ids=IDS)
@settings(max_examples=60)
def test_numbered_anew_or_not_pages_are_told_apart(step, ids):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(foreign, "_STEP", step)
        pages = Pages.of(np.array(ids, np.uint64))
        numbers = np.concatenate(list(pages.steps()))
    assert numbers.dtype == np.uint32 and pages.distinct == len(set(ids)) and numbers.max() < pages.below
    assert len(set(zip(ids, numbers.tolist(), strict=True))) == len(set(numbers.tolist())) == len(set(ids))
    assert (pages.known is not None) == (max(ids) > 4 * len(ids) + (1 << 20))
    if pages.known is None:
        assert numbers.tolist() == ids
    else:
        assert pages.known.tolist() == sorted(set(ids)) and pages.below == pages.distinct


def test_capacities():
    assert Pages.of(np.array([7])).capacities() == [1]
    assert Pages.of(np.arange(4)).capacities() == [1, 2, 4]
    assert Pages.of(np.arange(5)).capacities() == [1, 2, 4, 5]
    assert Pages.of(np.arange(3000)).capacities() == [2**power for power in range(2, 12)] + [3000]


@pytest.mark.parametrize(("backend", "policies"), [("c", POLICIES), ("numba", ("sieve", "lru"))])
def test_policies_miss_as_in_the_sweep(backend, policies, monkeypatch):
    monkeypatch.setattr(foreign, "_STEP", 700)
    ids = (np.random.default_rng(2).zipf(1.3, 3000) % 400).astype(np.int64)
    told = []
    rows = simulate(Pages.of(ids), [50, 5, 50], policies, backend=backend, progress=told.append)
    assert sum(told) == 3000 and [row["policy"] for row in rows] == [name for name in policies for _ in range(2)]
    for policy in policies:
        sweep = sweep_of(policy, [5, 50], 400, backend)
        sweep.run(ids.astype(np.uint32))
        found = [(row["capacity_pages"], row["misses"]) for row in rows if row["policy"] == policy]
        assert found == [(5, sweep.misses[0]), (50, sweep.misses[1])]
    assert set(rows[0]) == set(COLUMNS) and rows[0]["miss_ratio"] == rows[0]["misses"] / 3000
    assert rows[0]["distinct_pages"] == len(set(ids.tolist())) and rows[0]["references"] == 3000


def test_wishes_that_cannot_be_met():
    pages = Pages.of(np.arange(5))
    for capacities, policies in (([0], ["lru"]), ([], ["lru"]), ([4], ["lru", "lru"]), ([4], ["mru"])):
        with pytest.raises(UsageError):
            simulate(pages, capacities, policies)
