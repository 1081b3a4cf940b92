"""Exact LRU: OrderedDict, numba and C agree to the last miss; the laws of LRU hold."""

import sys
from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from flashsim.cache.lru import LruSweep, lru_misses
from flashsim.errors import UsageError
from flashsim.kernels import BACKENDS, backend

traces = st.one_of(
    st.lists(st.integers(0, 30), max_size=600),
    st.builds(
        lambda seed, pages, skew: (pages * np.random.default_rng(seed).random(3000) ** skew).astype(int).tolist(),
        st.integers(0, 2**32 - 1), st.integers(1, 900), st.sampled_from([1, 3, 8]),
    ),
    st.builds(lambda pages, laps: list(range(pages)) * laps, st.integers(1, 300), st.integers(1, 6)),
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 200)), max_size=20)
    .map(lambda runs: [page for page, times in runs for _ in range(times)]),
)  # fmt: skip
capacity_lists = st.lists(st.integers(1, 1000), min_size=1, max_size=40)


@settings(max_examples=60)
@given(traces, capacity_lists)
def test_ordereddict_numba_and_c_agree(trace, capacities):
    wanted = [sum(reference.lru(trace, capacity)) for capacity in capacities]
    for name in BACKENDS:
        assert lru_misses(np.array(trace, np.uint32), capacities, name).tolist() == wanted, name


@settings(max_examples=30)
@given(traces, st.lists(st.integers(1, 1000), min_size=1, max_size=20), st.integers(1, 500))
def test_classes_and_pieces(trace, capacities, piece):
    """Fed in pieces, every reference gets the number of capacities that it missed in."""
    capacities = sorted(set(capacities))
    wanted = (
        np.sum([reference.lru(trace, capacity) for capacity in capacities], axis=0, dtype=int).tolist() if trace else []
    )
    for name in BACKENDS:
        lru, classes = backend(name).Lru(capacities, 1000), np.zeros(len(trace), np.uint8)
        for at in range(0, len(trace), piece):
            lru.run(np.array(trace[at : at + piece], np.uint32), classes[at : at + piece])
        assert classes.tolist() == wanted
        assert lru.distinct == len(set(trace))
        assert lru.misses.tolist() == [int((classes > k).sum()) for k in range(len(capacities))]


@settings(max_examples=100)
@given(
    traces,
    st.lists(st.one_of(st.integers(1, 6), st.integers(120, 140), st.integers(1, 1000)), min_size=1, max_size=16),
    st.lists(st.integers(0, 3000), max_size=12),
    st.sets(st.integers(0, 12)),
)
def test_batches_wherever_their_edges_fall(trace, capacities, cuts, refused):
    """Pieces cut anywhere, some ended by an id that is out of range, and so few time slots that they are renumbered
    every few hundred references: what came before such an id counts, and nothing after it."""
    capacities, pages = sorted(set(capacities)), max(trace, default=0) + 1
    edges = sorted({0, len(trace), *(cut for cut in cuts if cut < len(trace))})
    wanted = np.sum([reference.lru(trace, capacity) for capacity in capacities], axis=0, dtype=int)
    for name in BACKENDS:
        kernel = backend(name).Lru
        with mock.patch.object(sys.modules[kernel.__module__], "lru_slots", lambda pages: (pages + 383) // 128 * 128):
            lru = kernel(capacities, pages)
        classes = np.zeros(len(trace), np.uint8)
        for at, (first, end) in enumerate(pairwise(edges)):
            piece, out = np.array(trace[first:end], np.uint32), classes[first:end]
            if at in refused:
                tail = np.array([pages, *trace[:100]], np.uint32)
                with pytest.raises(ValueError, match="below"):
                    lru.run(np.append(piece, tail), more := np.zeros(len(piece) + len(tail), np.uint8))
                out[:] = more[: len(piece)]
                assert not more[len(piece) :].any()
            else:
                lru.run(piece, out)
        assert classes.tolist() == wanted.tolist(), name
        assert lru.misses.tolist() == [int((wanted > k).sum()) for k in range(len(capacities))]
        assert lru.distinct == len(set(trace))
        assert lru.recency.tolist() == list(reversed(dict.fromkeys(reversed(trace))))


@settings(max_examples=40)
@given(traces, st.integers(1, 700))
def test_stack_distances(trace, piece):
    """Each reference's distance is the smallest capacity that hits, and the histogram is their count."""
    wanted, stack = [], []
    for page in trace:
        wanted.append(stack.index(page) + 1 if page in stack else 0)
        if page in stack:
            stack.remove(page)
        stack.insert(0, page)
    for name in BACKENDS:
        made, distances = backend(name).StackDistances(1000), np.zeros(len(trace), np.uint32)
        for at in range(0, len(trace), piece):
            made.run(np.array(trace[at : at + piece], np.uint32), distances[at : at + piece])
        assert distances.tolist() == wanted, name
        assert made.distinct == len(stack)
        assert made.histogram.tolist() == np.bincount([d for d in wanted if d], minlength=1001).tolist()


@pytest.mark.parametrize("name", BACKENDS)
def test_the_histogram_gives_the_misses_of_every_capacity(name):
    """Stack distances over 9 M references (renumbered twice) against the multi-capacity LRU, to the last miss."""
    trace = (50_000 * np.random.default_rng(11).random(9_000_000) ** 2).astype(np.uint32)
    made = backend(name).StackDistances(50_000)
    for at in range(0, len(trace), 777_777):
        made.run(trace[at : at + 777_777])
    capacities = [1, 2, 3, 100, 5000, 20_000, 49_999, 50_000, 60_000]
    at_least = np.concatenate((np.cumsum(made.histogram[::-1])[::-1], np.zeros(60_000)))  # references at distance >= d
    assert [made.distinct + int(at_least[c + 1]) for c in capacities] == lru_misses(trace, capacities).tolist()
    with pytest.raises(ValueError, match="below 50000"):
        made.run(np.array([50_000], np.uint32))


@pytest.mark.parametrize("name", BACKENDS)
def test_time_slots_are_renumbered(name):
    """A trace far longer than the slots: 12 M references over 3,000 pages, 4 Mi slots."""
    rng = np.random.default_rng(7)
    trace = (3000 * rng.random(12_000_000) ** 3).astype(np.uint32)
    capacities = [1, 5, 100, 1000, 2999, 3000]
    lru = backend(name).Lru(capacities, 3000)
    for at in range(0, len(trace), 1_000_003):
        lru.run(trace[at : at + 1_000_003])
    # the OrderedDict takes the part around the second renumbering, from a state that capacity decides: 3,000 pages
    # all touched long before, so a run over the last 2 M references differs by cold misses alone
    tail = trace[-2_000_000:]
    whole, head = backend(name).Lru(capacities, 3000), backend(name).Lru(capacities, 3000)
    head.run(trace[:-2_000_000])
    whole.run(trace)
    assert (whole.misses == lru.misses).all()
    warmed = reference.lru(trace[-2_400_000:].tolist(), 100)
    assert sum(warmed[400_000:]) == whole.misses[2] - head.misses[2]
    assert len(tail) and whole.misses[-1] == 3000


def test_inclusion_more_cache_never_misses_more(stream):
    misses = lru_misses(stream.ids, range(1, 4000, 37))
    assert (np.diff(misses) <= 0).all()
    assert misses[0] > misses[-1]


def test_cyclic_scan_defeats_every_cache_smaller_than_the_cycle():
    scan = np.tile(np.arange(1000), 5)
    assert lru_misses(scan, [1, 999, 1000, 2000]).tolist() == [5000, 5000, 1000, 1000]


def test_uniform_draws_hit_by_the_share_of_pages_that_are_cached():
    """Independent uniform draws: hit ratio = capacity / pages once the cache is full, within 5 standard errors."""
    pages, draws = 20_000, 2_000_000
    trace = np.random.default_rng(8).integers(0, pages, draws, dtype=np.uint32)
    for capacity in (500, 5000, 15_000):
        lru = LruSweep([capacity], pages)
        lru.run(trace[:400_000])
        before = lru.misses[0]
        lru.run(trace[400_000:])
        counted = draws - 400_000
        hit_ratio, expected = 1 - (lru.misses[0] - before) / counted, capacity / pages
        assert abs(hit_ratio - expected) < 5 * np.sqrt(expected * (1 - expected) / counted)


@pytest.mark.parametrize("name", BACKENDS)
def test_edges(name):
    assert lru_misses(np.zeros(0, np.uint32), [1, 2], name).tolist() == [0, 0]
    assert lru_misses([5], [1], name).tolist() == [1]
    assert lru_misses([5] * 1000, [1, 10**12], name).tolist() == [1, 1]
    assert lru_misses([1, 2, 1, 2], [2, 1, 2], name).tolist() == [2, 4, 2]  # any order, repeated
    assert lru_misses(np.array([2**40, 3, 2**40], np.int64), [2], name).tolist() == [2]  # ids far apart
    with pytest.raises(ValueError, match="below 10"):
        backend(name).Lru([1], 10).run(np.array([3, 10], np.uint32))


@pytest.mark.parametrize("bad", [[], [0], [3, -1], [2.7], "12", 5])
def test_bad_capacities(bad):
    with pytest.raises(UsageError, match="1 page or more"):
        lru_misses([1], bad)


@pytest.mark.parametrize("bad", [np.array([-1]), np.array([0.5]), np.array([[1]])])
def test_bad_pages(bad):
    with pytest.raises(UsageError, match="1-D integers"):
        lru_misses(bad, [1])


@settings(max_examples=60)
@given(traces, capacity_lists, st.integers(0, 700))
def test_the_order_of_recency_is_the_state_of_every_capacity(trace, capacities, cut):
    """Saved after a part of the trace and run through an empty sweep, it goes on as if nothing had happened."""
    head, tail = np.array(trace[:cut], np.uint32), np.array(trace[cut:], np.uint32)
    for name in BACKENDS:
        straight, warm = LruSweep(capacities, 1000, name), LruSweep(capacities, 1000, name)
        straight.run(head)
        order = straight.recency
        assert order.dtype == np.uint32 and order.tolist() == list(reversed(dict.fromkeys(reversed(trace[:cut])))), name
        warm.run(order)
        for sweep in (straight, warm):
            sweep.mark()
            sweep.run(tail)
        assert straight.misses_since_mark.tolist() == warm.misses_since_mark.tolist()
        assert straight.cold_since_mark == warm.cold_since_mark
        assert straight.recency.tolist() == warm.recency.tolist()


@pytest.mark.parametrize("name", BACKENDS)
def test_recency_outlives_the_renumbering_of_time_slots(name):
    """9 M references over 3,000 pages, 4 Mi slots; 20 capacities are two groups of the C kernel."""
    trace = (3000 * np.random.default_rng(5).random(9_000_000) ** 3).astype(np.uint32)
    straight, warm = (LruSweep(range(1, 3001, 150), 3000, name) for _ in range(2))
    straight.run(trace)
    order, first = np.unique(trace[::-1], return_index=True)
    assert (straight.recency == order[np.argsort(-first)]).all()
    warm.run(straight.recency)
    for sweep in (straight, warm):
        sweep.mark()
        sweep.run(trace[:5_000_000])
    assert (straight.misses_since_mark == warm.misses_since_mark).all()
    assert (straight.recency == warm.recency).all()
