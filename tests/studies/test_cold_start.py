"""Windows against an OrderedDict, the verdict against its definition, and starts from a saved state."""

from unittest import mock

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from flashsim.errors import UsageError
from flashsim.kernels import BACKENDS
from flashsim.layouts import layout
from flashsim.studies import cells as cells_module
from flashsim.studies.cells import cells_of
from flashsim.studies.cold_start import COLD_SHARE, COLUMNS, ColdStart, cold_start
from flashsim.tokens.stream import TokenStream
from flashsim.trace import Trace, write_trace

LAYOUT = layout("pagegram", params="2M")
PAGE = LAYOUT.page_bytes


def windows_of(reads_by_token, capacity, window, held=()):
    """By plain Python: (tokens, reads, misses, first touches) of each window, and tokens until full."""
    trace = [*held, *(page for pages in reads_by_token for page in pages)]
    missed, at, seen, full, made = reference.lru(trace, capacity), len(held), set(held), None, []
    if len(seen) >= capacity:
        full = 0
    for first in range(0, len(reads_by_token), window):
        part, misses, cold = reads_by_token[first : first + window], 0, 0
        for token, pages in enumerate(part, first):
            for page in pages:
                misses += missed[at]
                cold += page not in seen
                seen.add(page)
                at += 1
            if full is None and len(seen) >= capacity:
                full = token + 1
        made.append((len(part), sum(map(len, part)), misses, cold))
    return made, full


def used_of(reads_by_token, capacity, window, held):
    """In each window, by plain Python: the pages loaded beforehand that are read for the first time while they are
    still there."""
    cache = dict.fromkeys(held[-capacity:], True)  # page -> loaded and not yet read; least recent first
    made = []
    for first in range(0, len(reads_by_token), window):
        made.append(0)
        for page in (page for pages in reads_by_token[first : first + window] for page in pages):
            made[-1] += cache.pop(page, False)
            cache[page] = False
            if len(cache) > capacity:
                del cache[next(iter(cache))]
    return made


def check_against_reference(made, pages, window, held=()):
    for index, capacity in enumerate(made.capacities):
        assert made.loaded[index] == min(capacity, len(held)) >= made.saved[:, index].sum()
        assert made.saved[:, index].tolist() == used_of(pages, capacity, window, held)
        wanted, full = windows_of(pages, capacity, window, held)
        got = zip(made.tokens, made.reads, made.misses[:, index], made.cold, strict=True)
        assert [tuple(map(int, one)) for one in got] == wanted
        assert made.tokens_to_full[index] == full


streams = st.builds(
    lambda seed, tokens, kinds, documents: (
        np.random.default_rng(seed).integers(0, kinds, tokens).astype(np.uint16),
        np.unique(np.append(0, np.random.default_rng(seed + 1).integers(0, tokens, documents))),
    ),
    st.integers(0, 2**31), st.integers(8, 400), st.sampled_from([2, 9, 400]), st.integers(0, 60),
)  # fmt: skip


@settings(max_examples=60)
@given(streams, st.lists(st.integers(1, 300), min_size=1, max_size=5, unique=True), st.data())
def test_windows_are_those_of_plain_python(tmp_path_factory, made, capacities, data):
    """From the stream, and from its stored trace, whose steps fall anywhere; from any token on; empty and warm."""
    ids, starts = made
    stream = TokenStream(ids, starts=starts, boundary="test")
    skip = data.draw(st.integers(0, len(ids) - 4))
    window = data.draw(st.integers(1, (len(ids) - skip) // 4))
    pages = list(reference.pages_of(LAYOUT, ids.tolist(), starts.tolist()))
    sizes = [capacity * PAGE for capacity in sorted(capacities)]
    path = tmp_path_factory.mktemp("trace") / "t.npy"
    write_trace(path, stream, LAYOUT)
    held = data.draw(st.lists(st.integers(0, LAYOUT.pages - 1), max_size=200, unique=True))
    with mock.patch.object(cells_module, "_TRACE_STEP", data.draw(st.integers(1, 50))):
        for source in (stream, Trace.open(path)):
            (cell,) = cells_of([source], [LAYOUT], skip)
            for backend in BACKENDS:
                check_against_reference(cold_start(cell, sizes, window, backend=backend), pages[skip:], window)
            warm = cold_start(cell, sizes, window, warm=np.array(held, np.uint32))
            check_against_reference(warm, pages[skip:], window, held)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_run_in_two_parts_is_a_straight_run(stream, backend):
    """300,000 tokens cut at a window's edge: the second part, warm, has the straight run's misses in every window."""
    cut, sizes = 140_000, [capacity * PAGE for capacity in (1, 50, 300, LAYOUT.pages)]
    (whole,), (head,) = cells_of([stream], [LAYOUT]), cells_of([stream], [LAYOUT], 0, cut)
    (tail,) = cells_of([stream], [LAYOUT], cut)
    straight, first = (cold_start(cell, sizes, 20_000, backend=backend) for cell in (whole, head))
    second = cold_start(tail, sizes, 20_000, warm=first.recency, backend=backend)
    for name in ("misses", "cold", "reads", "first_token"):
        parts = np.concatenate((getattr(first, name), getattr(second, name)))
        assert (parts == getattr(straight, name)).all(), name
    assert (second.recency == straight.recency).all()


def from_windows(misses, cold, window=100, last=None):
    """A ColdStart with these misses and first touches a window; a shorter one of ``last`` tokens at the end."""
    tokens = np.full(len(misses), window)
    if last:
        tokens[-1] = last
    edges = np.concatenate(([0], np.cumsum(tokens)[:-1]))
    return ColdStart(
        {}, PAGE, [PAGE], [1], edges, tokens, tokens * 2, np.array(cold), np.array(misses)[:, None],
        np.zeros((len(misses), 1), int), [0], [7],
        np.zeros(0, np.uint32),
    )  # fmt: skip


def test_steady_state_begins_where_every_later_window_is_within():
    verdict = from_windows([200, 150, 111, 100, 110, 95, 100, 100], [9] * 8).verdict(0)
    assert (verdict.first, verdict.steady, verdict.tokens_to_full, verdict.tokens_to_steady) == (2.0, 1.0, 7, 300)
    assert verdict.cold_share == 0.09 and verdict.off == 0
    assert from_windows([200, 150, 111, 100, 110, 95, 100, 100], [9] * 8).verdict(0, 0.2).tokens_to_steady == 200
    assert from_windows([100] * 8, [0] * 8).verdict(0).tokens_to_steady == 0
    assert from_windows([90, 0, 0, 0], [90, 0, 0, 0]).verdict(0).tokens_to_steady == 100  # all fits, all hits


def test_no_steady_state():
    """Out of it in the last quarter; or steady, but of first touches: a cache that never meets a page twice."""
    jumping = from_windows([100] * 6 + [130, 70], [0] * 8).verdict(0)
    assert jumping.tokens_to_steady is jumping.steady is None
    assert jumping.last_quarter == 1.0 and jumping.off == pytest.approx(0.3)
    for cold, steady in ((COLD_SHARE, 0), (COLD_SHARE + 0.01, None), (1, None)):
        verdict = from_windows([100] * 8, [round(100 * cold)] * 8).verdict(0)
        assert verdict.tokens_to_steady == steady and verdict.cold_share == pytest.approx(cold)


def test_a_shorter_window_at_the_end_is_not_judged():
    assert from_windows([100] * 8 + [60], [0] * 9, last=30).verdict(0) == from_windows([100] * 8, [0] * 8).verdict(0)


def test_table(stream):
    (cell,) = cells_of([stream], [LAYOUT], 10, 10_050)
    made = cold_start(cell, [64 * PAGE, 8 * PAGE, 8 * PAGE], 1000)
    table = made.table()
    assert list(table.columns) == list(COLUMNS) and len(table) == 2 * 11
    assert table["cache_bytes"].tolist() == [8 * PAGE] * 11 + [64 * PAGE] * 11
    assert table["window"].tolist() == 2 * list(range(11))
    assert table["first_token"].tolist() == 2 * list(range(10, 10_011, 1000))
    assert table["tokens"].tolist() == 2 * ([1000] * 10 + [50])
    assert (table["reads_per_token"] == table["misses"] / table["tokens"]).all() and table["synthetic"].all()


@pytest.mark.parametrize(("sizes", "window", "tokens", "message"), [
    ([], 10, 100, "0 caches"), ([PAGE - 1], 10, 100, "a cache of 4095 B"), ([PAGE], 0, 100, "take 1 to 25"),
    ([PAGE], 26, 100, "take 1 to 25"), ([PAGE], 1, 40_004, "take 5 to 10001"), ([PAGE], 1, 3, "3 tokens"),
])  # fmt: skip
def test_what_cannot_run(stream, sizes, window, tokens, message):
    (cell,) = cells_of([stream], [LAYOUT], 0, tokens)
    with pytest.raises(UsageError, match=message):
        cold_start(cell, sizes, window)
