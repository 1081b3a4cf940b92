"""Shares of reads against plain Python, a Zipf stream's closed form, and laws."""

from collections import Counter
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from flashsim.cache.pin import most_read
from flashsim.errors import UsageError
from flashsim.kernels import BACKENDS
from flashsim.layouts import layout
from flashsim.studies import hot_set as hot_set_module
from flashsim.studies.cells import cells_of
from flashsim.studies.hot_set import COLUMNS, PERCENTS, Ranking, hot_set
from flashsim.tokens.stream import TokenStream
from flashsim.trace import Trace, write_trace

LAYOUTS = [layout(name, params="2M") for name in ("flat", "engram", "pagegram")]


def mean_share(chosen: Counter, scored: Counter, pages: int) -> Fraction:
    """The share of ``scored`` that the ``pages`` most frequent of ``chosen`` take, those of equal counts in any order
    with equal chance."""
    taken = Fraction(0)
    for count in sorted(set(chosen.values()), reverse=True):
        group = [page for page in chosen if chosen[page] == count]
        of_group = min(pages, len(group))
        taken += Fraction(sum(scored[page] for page in group) * of_group, len(group))
        pages -= of_group
    return taken / scored.total()


def fewest(chosen: Counter, percent: int) -> int:
    """Pages, most frequent first, until they take ``percent`` of the reads."""
    taken = 0
    for pages, (_, count) in enumerate(chosen.most_common(), 1):
        taken += count
        if 100 * taken >= percent * chosen.total():
            return pages
    raise AssertionError


streams = st.builds(
    lambda seed, tokens, kinds, documents: (
        np.random.default_rng(seed).integers(0, kinds, tokens).astype(np.uint16),
        np.unique(np.append(0, np.random.default_rng(seed + 1).integers(0, tokens, documents))),
    ),
    st.integers(0, 2**31), st.integers(50, 300), st.sampled_from([2, 9, 400]), st.integers(0, 8),
)  # fmt: skip


@settings(max_examples=30)
@given(streams, st.sampled_from(LAYOUTS), st.sampled_from(["page", "row"]), st.data())
def test_shares_are_those_of_plain_python(tmp_path_factory, made, layout, unit, data):
    """Of a stream and of its stored trace, of the whole table and of each order."""
    ids, starts = made
    stream = TokenStream(ids, starts=starts, boundary="test")
    skip = data.draw(st.integers(0, 20))
    of_unit = reference.pages_of if unit == "page" else reference.rows_of
    reads = list(of_unit(layout, ids.tolist(), starts.tolist()))[skip:]
    half, edge = len(reads) // 2, layout.table_starts("order", unit)[1]
    path = tmp_path_factory.mktemp("trace") / "t.npy"
    write_trace(path, stream, layout, unit=unit)
    slices, sparse = data.draw(st.sampled_from([1 << 10, 1 << 22])), data.draw(st.sampled_from([1, 1 << 40]))
    with mock.patch.multiple(hot_set_module, _SLICE=slices, _READS_SPARSE=sparse):
        for source in (stream, Trace.open(path)):
            (cell,) = cells_of([source], [layout], skip, unit=unit)
            for backend in BACKENDS:
                got = hot_set(cell, backend=backend)
                belongs = {"2+3": lambda page: True, "2": lambda page: page < edge, "3": lambda page: page >= edge}
                assert [part.orders for part in got.parts] == (["2+3"] if source is not stream else [*belongs])
                for part in got.parts:
                    of_part = belongs[part.orders]
                    first, second = (
                        Counter(page for token in tokens for page in token if of_part(page))
                        for tokens in (reads[:half], reads[half:])
                    )
                    both = first + second
                    assert (part.distinct, part.whole.total) == (len(both), both.total())
                    assert [part.whole.pages_for(percent) for percent in PERCENTS] == (
                        [fewest(both, percent) for percent in PERCENTS]
                    )
                    some = sorted({1, 2, 3, len(both) // 3, len(both), len(first)})
                    pairs = ((part.whole, both, both), (part.later, first, second), (part.bound, second, second))
                    for ranking, chosen, scored in pairs:
                        wanted = [float(mean_share(chosen, scored, pages)) for pages in some]
                        assert ranking.share(some) == pytest.approx(wanted, abs=1e-12)


def test_zipf():
    """Ids of frequency 1 / rank: the first k take H(k) / H(n) of the reads."""
    n, scale = 200, 3_603_600
    counts = np.random.default_rng(1).permutation(np.round(scale / np.arange(1, n + 1)).astype(np.uint32))
    harmonic = np.cumsum(1 / np.arange(1, n + 1))
    ranking = Ranking.of(counts, counts)
    assert ranking.share(np.arange(n + 1)) == pytest.approx([0, *harmonic / harmonic[-1]], abs=1e-5)
    for percent in PERCENTS:
        assert ranking.pages_for(percent) == int(np.searchsorted(harmonic, percent / 100 * harmonic[-1])) + 1


def test_equal_counts():
    """All alike: k of n ids take k / n of the reads, chosen by them or by others."""
    counts = np.full(70, 3, np.uint32)
    other = np.arange(70, dtype=np.uint32)
    for scored in (counts, other):
        assert Ranking.of(counts, scored).share(np.arange(71)) == pytest.approx(np.arange(71) / 70)
    assert [Ranking.of(counts, counts).pages_for(percent) for percent in PERCENTS] == [7, 18, 35, 53, 63, 67, 70]
    assert Ranking.of(np.array([5], np.uint32), np.array([5], np.uint32)).pages_for(10) == 1


@pytest.mark.parametrize("name", ["flat", "engram", "pagegram"])
def test_laws(stream, name):
    """Shares rise, ever more slowly, to 1; the whole is the sum of the orders; no choice made before beats the bound;
    the table has the fewest pages for each percentage."""
    made = layout(name, params="200M")
    got = hot_set(cells_of([stream], [made], 7)[0])
    table = got.table()
    assert list(table.columns) == list(COLUMNS)
    assert list(dict.fromkeys(table["orders"])) == [part.orders for part in got.parts] == ["2+3", "2", "3"]
    for part in got.parts:
        rows = table[table["orders"] == part.orders]
        rising = ["hottest_pages", "touched_share", "table_share", "read_share", "later_read_share", "later_bound"]
        for column in rising:
            assert (np.diff(rows[column]) >= 0).all(), column
        slopes = np.diff(rows["read_share"]) / np.diff(rows["hottest_pages"])
        assert (np.diff(slopes) <= 1e-15).all()
        last = rows.iloc[-1]
        assert last["read_share"] == last["later_bound"] == last["touched_share"] == 1
        assert last["hottest_pages"] == last["distinct_pages"] and last["table_share"] <= 1
        assert (rows["later_read_share"] <= rows["later_bound"] + 1e-12).all()
        assert set(map(part.whole.pages_for, PERCENTS)) <= set(rows["hottest_pages"])
        assert (rows["hottest_bytes"] == rows["hottest_pages"] * 4096).all()
    whole, *orders = got.parts
    assert whole.whole.total == sum(part.whole.total for part in orders) == got.counts.sum()
    assert whole.ids == sum(part.ids for part in orders) == made.pages
    assert whole.distinct == sum(part.distinct for part in orders)


def test_what_is_saved_ends_with_what_would_be_pinned(stream):
    (cell,) = cells_of([stream], [layout("pagegram", params="200M")], 0, 5000)  # most pages are read once
    got = hot_set(cell)
    saved = got.coldest_first
    counts = np.zeros(cell.ids_below, np.int64)
    counts[got.ids] = got.counts
    assert saved.dtype == np.uint32 and len(saved) == np.count_nonzero(counts) == len(got.ids)
    assert (np.diff(counts[saved]) >= 0).all()
    for pinned in (1, 2, 30, 333, len(saved)):
        assert sorted(saved[-pinned:]) == np.flatnonzero(most_read(counts, pinned)).tolist()


def test_orders_of_layers_and_of_one_table(stream):
    """Each order of a layout with layers is its heads' tables of every layer; where orders share a table, or pages,
    only the whole is shown."""
    made = layout("engram-27b", raw_ids=True)
    (cell,) = cells_of([stream], [made], 0, 300)
    whole, second, third = hot_set(cell).parts
    assert (whole.orders, second.orders, third.orders) == ("2+3", "2", "3") and made.layers > 1
    assert whole.ids == second.ids + third.ids == made.pages
    assert second.whole.total == pytest.approx(whole.whole.total / 2, rel=0.05)
    starts, edges = made.table_starts("head"), []
    for orders in range(2 * made.layers):
        edges.append(starts[orders * made.heads])
    edges.append(made.pages)
    assert second.ids == sum(edges[at + 1] - edges[at] for at in range(0, 2 * made.layers, 2))
    (cell,) = cells_of([stream], [layout("gemma-3n")], 0, 300)
    assert [part.orders for part in hot_set(cell).parts] == ["1"]


def test_refusals(stream):
    with pytest.raises(UsageError, match="1 token has no 2 halves"):
        hot_set(cells_of([stream], LAYOUTS, 0, 1)[0])
    every = TokenStream(np.arange(40, dtype=np.uint16), starts=np.arange(40), boundary="test")
    with pytest.raises(UsageError, match="20 of 40 tokens read nothing"):
        hot_set(cells_of([every], LAYOUTS)[0])
    with pytest.raises(UsageError, match="2\\^32"), mock.patch.object(hot_set_module, "add_counts") as add:
        add.side_effect = lambda ids, counts: counts.__setitem__(0, 2**32 - 5)
        hot_set(cells_of([stream], LAYOUTS)[0])
