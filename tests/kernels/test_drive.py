"""The model of a drive: C, numba and the plain reference agree to the last nanosecond, and it obeys what must hold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashsim.kernels import BACKENDS, backend
from flashsim.kernels.drive import DriveRun, Stations
from flashsim.kernels.replay import bin_edges
from tests.kernels.drive_reference import Drive


def ns(most):
    return st.integers(0, 4) | st.integers(0, most)  # small ones make events at one time


@st.composite
def stations(draw):
    times = {name: draw(ns(3000)) for name in ("cpu", "wake", "read", "group", "delay", "sense", "bus", "link")}
    servers = {"dies": draw(st.integers(1, 9)), "channels": draw(st.integers(1, 4))}
    jitter = draw(st.integers(0, times["sense"]))
    return Stations(**times, **servers, jitter=jitter, seed=draw(st.integers(0, 2**64 - 1)))


@st.composite
def loads(draw):
    groups = draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=12))
    if not any(lookups for _, lookups in groups):
        groups.append((draw(st.integers(0, 2)), 1))
    sizes, lookups = np.array(groups, np.int64).T
    ids = st.integers(0, 2**32 - 1) | st.integers(0, 3)
    pages = draw(st.lists(ids, min_size=int(sizes.sum()), max_size=int(sizes.sum())))
    return np.array(pages, np.uint32), np.cumsum(sizes), np.ascontiguousarray(lookups)


def compared(run):
    """All that a run has come to, the order of the heap and of what is free aside."""
    state = {name: int(run.state[name][0]) for name in run.state.dtype.names}
    return state, run.read_bins.tolist(), run.lookup_bins.tolist(), run.die_free.tolist(), run.channel_free.tolist()


def histogram(ns_and_times):
    times = np.array([time for time, _ in ns_and_times], np.float64)
    return np.histogram(times, bin_edges(), weights=[count for _, count in ns_and_times])[0]


@settings(max_examples=300)
@given(
    stations(),
    loads(),
    st.integers(1, 9) | st.integers(1, 100),
    st.integers(1, 4) | st.just(2**31 - 1),
    st.just(0.0) | st.floats(1e4, 1e10),
    st.integers(0, 60),
    st.integers(0, 60),
)
def test_three_ways(stations, load, max_reads, max_groups, rate, first, more):
    plain = Drive(stations, *(array.tolist() for array in load), max_reads, max_groups, rate)
    plain.run(first + more)
    runs = [DriveRun(stations, *load, max_reads, max_groups, rate) for _ in range(3)]
    c, numba = (backend(name).drive_run for name in BACKENDS)
    for run, kernels in zip(runs, ([c, c], [numba, numba], [c, numba]), strict=True):
        for kernel, until in zip(kernels, (first, first + more), strict=True):
            kernel(run, until)
    assert compared(runs[0]) == compared(runs[1]) == compared(runs[2])
    state, read_bins, lookup_bins, *_ = compared(runs[0])
    assert (state["now"], state["in_flight_ns"]) == (plain.now, plain.area)
    assert (state["sent"], state["started"], state["in_flight"]) == (plain.sent, plain.started, len(plain.in_flight))
    assert (state["reads"], state["groups"]) == (len(plain.read_ns), len(plain.lookup_ns))
    assert state["lookups"] == sum(count for _, count in plain.lookup_ns)
    assert (state["read_sum"], state["read_max"]) == (sum(plain.read_ns), max(plain.read_ns, default=0))
    assert state["lookup_sum"] == sum(ns * count for ns, count in plain.lookup_ns)
    assert state["lookup_max"] == max((ns for ns, count in plain.lookup_ns if count), default=0)
    assert read_bins == histogram([(ns, 1) for ns in plain.read_ns]).tolist()
    assert lookup_bins == histogram(plain.lookup_ns).tolist()
    # every nanosecond in flight is a read's, complete or not
    assert state["in_flight_ns"] == state["read_sum"] + sum(plain.now - sent for sent, *_ in plain.in_flight.values())


def singles(count=1000):
    """Lookups of a read each."""
    return np.arange(count, dtype=np.uint32), np.arange(1, count + 1), np.ones(count, np.int64)


@pytest.mark.parametrize("name", BACKENDS)
def test_simulated_time_ends(name):
    run = DriveRun(Stations(delay=2**31 - 1), *singles(), 1)
    with pytest.raises(ValueError, match=r"2\^46 ns of simulated time.* after 32,7.. lookups"):
        backend(name).drive_run(run, 100_000)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stations": Stations(sense=-1)}, "sense -1: 0 to"),
        ({"stations": Stations(sense=5, jitter=6)}, "jitter 6: 0 to 5"),
        ({"stations": Stations(dies=0)}, "dies 0: 1 to"),
        ({"stations": Stations(seed=2**64)}, "seed 1844"),
        ({"max_reads": 0}, "0 reads and"),
        ({"max_reads": 4097}, "4097 reads and"),
        ({"max_groups": 0}, "0 groups in flight"),
        ({"rate": float("nan")}, "at rate nan"),
        ({"ends": np.arange(1000)[::-1].copy()}, "ends rise from 0 to 1000 pages, not from 999 to 0"),
        ({"ends": np.arange(2, 1002)}, "not from 2 to 1001"),
        ({"lookups": np.zeros(1000, np.int64)}, "nothing to run"),
        ({"lookups": np.ones(999, np.int64)}, "nothing to run"),
        ({"lookups": np.full(1000, -1)}, "-1 to -1 lookups a group"),
    ],
)
def test_what_cannot_be_run_is_refused(changes, message):
    pages, ends, lookups = singles()
    usual = {"stations": Stations(sense=9), "pages": pages, "ends": ends, "lookups": lookups, "max_reads": 8}
    with pytest.raises(ValueError, match=message):
        DriveRun(**usual | changes)
    with pytest.raises(TypeError, match="expected a 1-D uint32 array"):
        DriveRun(**usual | {"pages": pages.astype(np.int64)})
