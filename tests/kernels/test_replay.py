"""The replay: which reads are sent when, and what is counted."""

import os

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from mounts import direct_folder

from flashsim.kernels.replay import BINS, bin_edges, percentiles
from tests.kernels.replays import ENDED, PAGES, READING, SEED, Faults, arrays, finished, replayer_of, stamps_of


def simulate(sizes, lookups, max_reads, max_groups, limit, seed):
    """Events (a read's index as it is sent, and 2^63 more as it completes), lookups and groups that complete, where
    the reads in flight complete one by one in an order drawn by SplitMix64."""
    ends = np.cumsum(sizes).tolist()
    events, flying, left, to_send, draws, turn, started, done = [], [], {}, [], 0, 0, 0, [0, 0]

    def complete(group):
        done[0] += lookups[group % len(sizes)]
        done[1] += 1

    while True:
        while len(flying) < max_reads:
            if not to_send:
                if len(left) == max_groups or started >= limit:
                    break
                size, end = sizes[turn % len(sizes)], ends[turn % len(sizes)]
                to_send = [(turn, read) for read in range(end - size, end)]
                started += lookups[turn % len(sizes)]
                if size:
                    left[turn] = size
                else:
                    complete(turn)
                turn += 1
            else:
                flying.append(to_send.pop(0))
                events.append(flying[-1][1])
        if not flying:
            return events, done[0], done[1]
        draws += 1
        group, read = flying.pop(reference.mix13((seed + draws * 0x9E3779B97F4A7C15) % 2**64) % len(flying))
        events.append(ENDED + read)
        left[group] -= 1
        if not left[group]:
            del left[group]
            complete(group)


@st.composite
def plans(draw):
    groups = draw(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 4)), min_size=1, max_size=12))
    sizes, lookups = zip(*groups, strict=True)
    max_groups = draw(st.none() | st.integers(1, 5))
    return (
        sizes,
        lookups,
        draw(st.integers(1, 9)),
        max_groups,
        draw(st.integers(0, 150)),
        draw(st.integers(0, 2**64 - 1)),
    )


@given(plans(), st.integers(20_000, 200_000))
def test_reads_are_sent_as_a_plain_simulation_sends_them(plan, slice_ns):
    sizes, lookups, max_reads, max_groups, limit, seed = plan
    expected, done, groups = simulate(sizes, lookups, max_reads, max_groups, limit, seed)
    pages = np.arange(sum(sizes), dtype=np.uint32)
    faults = Faults(len(expected) + 10, seed=seed)
    limits = {"page_bytes": 4096, "max_reads": max_reads, "max_groups": max_groups}
    with faults.replayer(pages, *arrays(sizes, lookups), **limits) as replayer:
        while (counters := replayer.slice(slice_ns, limit)).lookups < done:
            pass
    events = faults.events
    assert events == expected
    assert (counters.lookups, counters.groups, counters.reads) == (done, groups, len(expected) // 2)
    assert counters.lookup.count == counters.lookup.bins.sum() == done
    assert counters.read.count == counters.read.bins.sum() == counters.reads
    assert counters.bytes == 4096 * counters.reads
    in_flight = np.cumsum([1 if event < ENDED else -1 for event in events])
    assert max(in_flight, default=0) <= max_reads and counters.mean_in_flight <= max_reads


@given(st.lists(st.integers(0, 2**36), max_size=50), st.lists(st.floats(0, 100), max_size=5))
def test_percentiles_are_those_of_the_values_within_a_bin(values, qs):
    bins = np.searchsorted(bin_edges()[:-1], values, side="right") - 1
    found = percentiles(np.bincount(bins, minlength=BINS).astype(np.uint64), qs)
    if not values:
        assert np.isnan(found).all()
        return
    exact = np.minimum(np.percentile(values, qs, method="inverted_cdf"), bin_edges()[-1] - 1)
    assert (np.abs(found - exact) <= exact / 64).all()


def test_bins_of_the_loop_are_those_of_python():
    """A read that takes t ns must fall in the bin of t: with the sum exact, few reads pin their bins down."""
    pages, one = np.zeros(1, np.uint32), arrays([1])
    for delay in (1, 1000, 77_777, 1_000_000):
        with Faults(delay_ns=delay).replayer(pages, *one, page_bytes=512, max_reads=1) as replayer:
            latency = finished(replayer, 1).read
        assert latency.count == 1 and latency.sum_ns == latency.max_ns >= delay
        assert np.flatnonzero(latency.bins) == np.searchsorted(bin_edges(), latency.sum_ns, side="right") - 1


def test_a_read_is_counted_from_sent_to_complete():
    """Little's law: reads in flight on average = reads a second x their latency."""
    pages, groups = np.arange(8, dtype=np.uint32), arrays([4, 0, 3, 1])
    with Faults(delay_ns=200_000).replayer(pages, *groups, page_bytes=4096, max_reads=6) as replayer:
        last = 0
        while (done := replayer.slice(500_000, 400)).lookups < 400:
            assert last <= done.in_flight_ns <= 6 * done.wall_ns
            assert done.read.sum_ns <= done.in_flight_ns < done.read.sum_ns + 6 * done.wall_ns
            last = done.in_flight_ns
    assert done.mean_in_flight == pytest.approx(done.reads_per_s * done.read.mean_ns / 1e9, rel=1e-9)
    assert done.read.percentiles_ns([0])[0] > 190_000
    assert 0 < done.mean_in_flight <= 6
    assert done.lookup.sum_ns >= 300 * 200_000  # the empty groups take no time
    assert done.lookup.percentiles_ns([25])[0] < 190_000 < done.lookup.percentiles_ns([26])[0]


def test_differences_are_what_came_in_between():
    pages, groups = np.arange(6, dtype=np.uint32), arrays([3, 2, 1])
    with Faults(delay_ns=20_000).replayer(pages, *groups, page_bytes=4096, max_reads=4) as replayer:
        first = finished(replayer, 30)
        second = finished(replayer, 90)
    between = second - first
    assert (between.lookups, between.groups, between.reads) == (60, 60, 120)
    assert between.read.count == between.read.bins.sum() == 120
    assert between.read.sum_ns == second.read.sum_ns - first.read.sum_ns
    assert between.read.sum_ns / 120 <= between.read.max_ns <= second.read.max_ns
    assert between.wall_ns == second.wall_ns - first.wall_ns > 0
    assert (second - second).read.max_ns == 0


def test_lookups_of_an_open_loop_are_counted_from_when_they_were_due():
    """Reads of 2 ms, one at a time, due every 0.5 ms: the last of n is done 2 n ms after the start at the soonest."""
    pages, groups, count = np.arange(5, dtype=np.uint32), arrays([1] * 5), 20
    with Faults(delay_ns=2_000_000).replayer(pages, *groups, page_bytes=4096, max_reads=1, rate=2000) as replayer:
        done = finished(replayer, count)
    late = [2_000_000 * n - 500_000 * (n - 1) for n in range(1, count + 1)]
    assert done.lookup.sum_ns >= sum(late) and done.lookup.max_ns >= late[-1]
    assert done.read.sum_ns < done.lookup.sum_ns


@pytest.mark.parametrize("engine", ["null", *READING])
def test_no_lookup_of_an_open_loop_is_sent_before_it_is_due(engine, stamped):
    """The last of n lookups is due n - 1 times 0.25 ms after the start; waits, and slices, are longer and shorter."""
    pages, groups, count = np.arange(4, dtype=np.uint32), arrays([2, 0, 1, 1]), 60
    with replayer_of(engine, stamped, pages, *groups, max_reads=4, rate=4000.0) as replayer:
        while (done := replayer.slice(700_000, count)).lookups < count:
            pass
    assert done.wall_ns >= (count - 1) * 250_000
    assert (done.lookups, done.groups, done.reads) == (60, 60, 60)


@pytest.mark.parametrize("engine", READING)
@pytest.mark.parametrize("page_bytes", [4096, 8192])
@pytest.mark.parametrize(("max_reads", "max_groups"), [(1, None), (7, None), (64, 1), (64, 3)])
def test_every_engine_reads_the_pages_that_were_asked_for(engine, page_bytes, max_reads, max_groups, stamped):
    rng = np.random.default_rng(max_reads)
    groups = arrays(rng.integers(0, 20, 50), rng.integers(1, 4, 50))
    pages = rng.integers(0, 2**32, groups[0][-1], dtype=np.uint32)
    limits = {"page_bytes": page_bytes, "max_reads": max_reads, "max_groups": max_groups}
    where = {"base": 4096 * 3, "fold": (PAGES - 3) * 4096 // page_bytes}
    turn = int(groups[1].sum())
    with replayer_of(engine, stamped, pages, *groups, **limits, **where, verify=1, seed=SEED) as replayer:
        done = finished(replayer, 3 * turn)
    assert (done.lookups, done.groups, done.reads) == (3 * turn, 150, 3 * len(pages))
    assert (done.checked, done.bad, done.short_reads, done.retries) == (done.reads, 0, 0, 0)
    assert done.enters > 0 or engine == "test"
    assert done.cpu_ns > 0 and done.gap_ns < done.wall_ns


@pytest.mark.parametrize("engine", [name for name in READING if name != "test"])
def test_the_drive_has_the_reads_in_flight_that_were_asked_for(engine, tmp_path):
    path = direct_folder(tmp_path) / "target"
    path.write_bytes(stamps_of(PAGES).tobytes())
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    os.fsync(fd)
    pages, groups = np.arange(PAGES, dtype=np.uint32), arrays([1] * PAGES)
    with replayer_of(engine, fd, pages, *groups, max_reads=8) as replayer:
        assert 4 < finished(replayer, 4000).mean_in_flight <= 8
    groups = arrays([16] * (PAGES // 16))
    with replayer_of(engine, fd, pages, *groups, max_reads=8, max_groups=1) as replayer:
        assert 3 < finished(replayer, 300).mean_in_flight <= 8
    os.close(fd)
