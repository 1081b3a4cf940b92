"""A sweep from a saved state: of LRU exactly what the saved run would have had next; of others, as if they had read
its pages first."""

from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashsim.cache.engine import POLICIES, sweep_of
from flashsim.cache.lru import LruSweep
from flashsim.errors import DataError, UsageError
from flashsim.kernels import BACKENDS
from flashsim.layouts import layout
from flashsim.studies import cells as cells_module
from flashsim.studies.cache_state import load_state, save_state
from flashsim.studies.cache_sweep import Ways, sweep_cache
from flashsim.studies.cells import cells_of
from flashsim.tokens.stream import TokenStream
from flashsim.trace import Trace, trace_ids, write_trace

LAYOUT = layout("pagegram", params="2M")
PAGE = LAYOUT.page_bytes
EVERY = [capacity * PAGE for capacity in range(1, LAYOUT.pages + 2)]


def saved(path, stream, tokens, made=LAYOUT, unit="page"):
    """The state after ``tokens`` of ``stream``, from ``path``."""
    (cell,) = cells_of([stream], [made], 0, tokens, unit)
    sweep = LruSweep([1], cell.ids_below)
    sweep.run(trace_ids(stream, made, unit=unit, end=tokens))
    save_state(path, cell, sweep.recency)
    return load_state(path, cell)


def assert_goes_on(warm, whole, state):
    """``warm`` has every number of ``whole``, which counted from where the state was saved."""
    assert set(warm["warm_pages"]) == {len(state.pages)} and set(whole["warm_pages"]) == {0}
    rest = [column for column in warm if column not in ("warm_pages", "warmup_tokens")]
    pd.testing.assert_frame_equal(warm[rest], whole[rest])


@settings(max_examples=25)
@given(st.integers(2, 500), st.sampled_from([3, 40, 5000]), st.integers(0, 2**31), st.integers(0, 40), st.data())
def test_it_goes_on_where_the_saved_run_ended(tmp_path_factory, count, kinds, seed, documents, data):
    """At every capacity there is; cut anywhere; in C and numba; from a stream, and from its trace in any steps."""
    made = np.random.default_rng(seed)
    starts = np.unique(np.append(0, made.integers(0, count, documents)))
    stream = TokenStream(made.integers(0, kinds, count).astype(np.uint16), starts=starts, boundary="test")
    cut = data.draw(st.integers(1, count - 1))
    end = data.draw(st.integers(cut + 1, count))
    warmup = data.draw(st.integers(0, end - cut - 1))
    folder = tmp_path_factory.mktemp("warm")
    write_trace(folder / "t.npy", stream, LAYOUT)
    state = saved(folder / "s.npy", stream, cut)
    with mock.patch.object(cells_module, "_TRACE_STEP", data.draw(st.integers(1, 50))):
        for source, layouts in ((stream, LAYOUT), (Trace.open(folder / "t.npy"), ())):
            for backend in BACKENDS:
                whole = sweep_cache(source, layouts, EVERY, tokens=end, warmup=cut + warmup, backend=backend)
                warm = sweep_cache(
                    source, layouts, EVERY, skip=cut, tokens=end - cut, warm=state, warmup=warmup, backend=backend
                )
                assert_goes_on(warm, whole, state)
                assert set(warm["warmup_tokens"]) == {warmup}


@pytest.mark.parametrize(
    "ways",
    [
        {"unit": "row", "entry_bytes": 14},
        {"unit": "row", "per_token": True},
        {"pin_bytes": 8 << 10},
        {"split": "order"},
        {"split": "head"},
        {"entry_bytes": 100, "per_token": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("backend", BACKENDS)
def test_every_way_to_use_the_cache_goes_on_too(stream, tmp_path, ways, backend):
    """A state is the recency of all that was read: that of a part of the ids, or without the pinned, lies in it."""
    if "pin_bytes" in ways:
        ways = ways | {"pin_from": TokenStream(stream.ids[4000:9000])}
    engram, small = layout("engram", params="2M"), TokenStream(stream.ids[:4000], boundary="test")
    state = saved(tmp_path / "s.npy", small, 2500, engram, ways.get("unit", "page"))
    run = {"caches": ["64KiB", "200KiB", "1MiB"], "ways": Ways(**ways), "backend": backend}
    whole = sweep_cache(small, engram, warmup=2500, **run)
    warm = sweep_cache(small, engram, skip=2500, warm=state, **run)
    assert_goes_on(warm, whole, state)
    cold = sweep_cache(small, engram, skip=2500, **run)
    assert (cold["misses"] > warm["misses"]).any()


@pytest.mark.parametrize(("backend", "policies"), [("c", POLICIES), ("numba", ("lru", "fifo", "min"))])
def test_other_policies_read_the_saved_pages_first(stream, tmp_path, backend, policies):
    """What is saved is read once each, so each is a miss; the rest of the misses are those counted. MIN stays the
    bound: it knows what comes after the saved pages."""
    small = TokenStream(stream.ids[:6000], boundary="test")
    state = saved(tmp_path / "s.npy", small, 4000)
    trace = np.concatenate((state.pages, trace_ids(small, LAYOUT, begin=4000)))
    capacities = [3, 40, 150]
    table = sweep_cache(
        small, LAYOUT, [capacity * PAGE for capacity in capacities], policies=policies, skip=4000,
        warm=tmp_path / "s.npy", backend=backend,
    )  # fmt: skip
    for policy, rows in table.groupby("policy"):
        sweep = sweep_of(policy, capacities, LAYOUT.pages, backend)
        sweep.run(trace)
        assert rows["misses"].tolist() == (sweep.misses - len(state.pages)).tolist(), policy
    assert (table.groupby("cache_bytes")["misses"].min() == table[table["policy"] == "min"]["misses"].to_numpy()).all()


def test_a_state_is_only_taken_by_its_own_layout_and_unit(stream, tmp_path):
    small, other = TokenStream(stream.ids[:2000]), layout("pagegram", params="3M")
    state, seen = saved(tmp_path / "s.npy", small, 1000), []
    for layouts, ways, message in (
        ([other], Ways(), r"pagegram-S4-2M, ids below 326; this run is of pagegram-S4-3M, ids below"),
        ([LAYOUT, other], Ways(), r"this run is of pagegram-S4-3M, .*run the state's layout alone"),
        ([LAYOUT], Ways(unit="row"), r"this run is of pagegram-S4-2M-row"),
    ):
        for given_state in (state, str(tmp_path / "s.npy")):
            with pytest.raises(UsageError, match=message):
                sweep_cache(small, layouts, EVERY[9:], ways=ways, warm=given_state, progress=seen.append)
    with pytest.raises(DataError, match="0 pages of a cache state read"):
        sweep_cache(small, LAYOUT, EVERY, warm="none.npy", progress=seen.append)
    assert seen == []
