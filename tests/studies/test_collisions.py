"""Collisions against plain Python over all pairs, draws against all, and both against the closed forms."""

from collections import defaultdict
from dataclasses import replace
from itertools import combinations
from math import isnan, sqrt

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from windows import windows

from flashsim.errors import UsageError
from flashsim.kernels import BACKENDS
from flashsim.kernels.nb.pairs import count_shared, draw_shared
from flashsim.layouts import layout
from flashsim.studies import collisions as module
from flashsim.studies.cells import cells_of
from flashsim.studies.collisions import COLUMNS, closed_forms, collisions, rows_of
from flashsim.tokens.ngrams import distinct_ngrams
from flashsim.tokens.stream import TokenStream
from flashsim.trace import trace_ids

SHARED = ("p_another", "extra_heads", "neighbours_relative")


def run(stream, made, begin=0, end=None):
    (cell,) = cells_of([stream], [made], begin, None if end is None else end - begin)
    return collisions(cell, distinct_ngrams(stream, made.orders, cell.begin, cell.end))


def by_hand(made, ids, starts, index):
    """The figures of order ``made.orders[index]``, from every lookup and every pair of n-grams."""
    heads, lookups = made.heads, []
    for grams, rows in zip(
        reference.ngrams(ids, starts, made.orders), reference.rows_of(made, ids, starts), strict=True
    ):
        if len(grams) > index:
            lookups.append((grams[index], rows[index * heads : (index + 1) * heads]))
    rows_of, updates = dict(lookups), [defaultdict(list) for _ in range(heads)]
    for gram, rows in lookups:
        for head, row in enumerate(rows):
            updates[head][row].append(gram)
    foreign = [
        sum(other != gram for other in updates[head][row]) / len(updates[head][row])
        for gram, rows in lookups
        for head, row in enumerate(rows)
    ]
    table_rows = [made.sizes[index] * made.rows_per_bucket // heads] * heads
    if made.name == "engram":
        table_rows = made.sizes[index * heads : (index + 1) * heads]
    occupancy = [
        [len(set(grams)) for grams in head.values()] + [0] * (size - len(head))
        for head, size in zip(updates, table_rows, strict=True)
    ]
    pairs = [sum(a == b for a, b in zip(one, other, strict=True)) for one, other in combinations(rows_of.values(), 2)]
    met = [shared for shared in pairs for _ in range(shared)]  # once in each head
    neighbours = 2 * sum(shared > 0 for shared in pairs) / len(rows_of)
    return {
        "lookups": len(lookups),
        "ngrams": len(rows_of),
        "rows_per_head": np.mean(table_rows),
        "ngrams_per_row": np.mean([np.mean(head) for head in occupancy]),
        "variance_over_mean": np.mean([np.var(head) / np.mean(head) for head in occupancy]),
        "foreign_share": np.mean(foreign),
        "collisions": len(met),
        "neighbours": neighbours,
    } | (
        {
            "p_another": np.mean([shared > 1 for shared in met]),
            "extra_heads": np.mean(met) - 1,
            "neighbours_relative": sum(shared > 0 for shared in pairs) / len(met),
            "shared_share": np.mean(met) / heads,
        }
        if met and heads > 1
        else {}
    )


LAYOUTS = [
    layout("flat", params="30k"), layout("engram", params="30k", heads=3), layout("pagegram", params="30k", S=1),
    layout("pagegram", params="40k", S=3), layout("pagegram", params="20k", S=2, heads=5, orders=(1, 2, 4)),
]  # fmt: skip


@settings(max_examples=150)
@given(
    st.sampled_from(LAYOUTS),
    st.lists(st.integers(0, 8), min_size=6, max_size=70),
    st.lists(st.integers(0, 69), max_size=4),
)
def test_every_figure_is_that_of_plain_python(made, ids, starts):
    starts = sorted({0, *(start for start in starts if start < len(ids) - 5)})  # the last holds every order
    found = run(TokenStream(np.array(ids, np.uint16), starts=np.array(starts)), made)
    assert [one.ngrams.order for one in found] == list(made.orders)
    for index, one in enumerate(found):
        row, wanted = one.row(), by_hand(made, ids, starts, index)
        assert tuple(row) == COLUMNS and one.exact and row["collisions_counted"] == row["collisions"]
        for name, value in wanted.items():
            assert row[name] == pytest.approx(value, abs=1e-12), name
        for name in set(SHARED) - set(wanted):
            assert isnan(row[name])
        assert all(row[f"{name}_error"] == 0 or name not in wanted for name in SHARED)


def test_the_window_counts_alone():
    ids = np.random.default_rng(0).integers(0, 9, 200).astype(np.uint16)
    made = layout("pagegram", params="300k")
    part = TokenStream(ids[48:150], starts=np.array([0]))  # 2 tokens of context for the trigram at 50
    whole = run(TokenStream(ids), made, 50, 150)
    for one, order in zip(whole, (2, 3), strict=True):
        assert one.tokens == 100 and one.ngrams.lookups == 100
        alike = run(part, made, 2, 102)[order - 2]
        assert one.row() | {"tokens": 0} == alike.row() | {"tokens": 0}


def test_closed_forms_of_the_report():
    """PageGram report, sections 3.2, 6.1 and 6.2."""
    fifteen, four, one = (closed_forms(8, S) for S in (15, 4, 1))
    assert round(fifteen.p_another, 3) == 0.383 and round(fifteen.extra_heads, 3) == 0.467
    assert round(four.p_another, 3) == 0.867 and four.extra_heads == 1.75
    assert round(four.neighbours_relative, 2) == 0.45
    assert one == (1, 7, 1 / 8)
    engram = closed_forms(8, 195_300)
    assert engram.p_another < 1e-4 and engram.neighbours_relative == pytest.approx(1, abs=1e-4)
    assert closed_forms(1, 50) == pytest.approx((0, 0, 1))


@pytest.mark.parametrize(
    "made",
    [layout("engram", params="2M"), *(layout("pagegram", params="2M", S=S) for S in (1, 4, 15, 60))],
    ids=lambda made: made.label,
)
def test_measured_is_the_closed_form_within_chance(stream, made):
    """What two n-grams of a bucket share is pairwise independent over pairs, so variances add; 5 standard errors."""
    for one in run(stream, made):
        row, counted = one.row(), one.counted.sum(axis=0)[1:]
        c = np.arange(1, 9)
        pairs = row["collisions"] * row["neighbours_relative"]
        for name, value in (("p_another", c > 1), ("extra_heads", c - 1), ("neighbours_relative", 1 / c)):
            mean = counted @ value / counted.sum()
            spread = sqrt(max(0, counted @ np.square(value, dtype=float) / counted.sum() - mean**2) / pairs)
            assert abs(row[name] - row[f"{name}_closed"]) <= 5 * spread + 1e-6, (name, row[name])
        assert row["variance_over_mean"] == pytest.approx(1, abs=5 * sqrt(2 / row["rows_per_head"]))


def test_flat_shares_everything(stream):
    for one in run(stream, layout("flat", params="2M")):
        row = one.row()
        assert row["shared_share"] == 1 and row["neighbours"] > 1
        assert all(isnan(row[f"{name}{ending}"]) for name in SHARED for ending in ("", "_error", "_closed"))


def test_one_head_is_like_any_other(stream):
    """Foreign shares and occupancy follow from the rows a head has, not from S."""
    engram = run(stream, layout("engram", params="2M"))
    for slots in (1, 4, 15):
        for one, other in zip(engram, run(stream, layout("pagegram", params="2M", S=slots)), strict=True):
            assert one.row()["foreign_share"] == pytest.approx(other.row()["foreign_share"], abs=0.01)


@settings(max_examples=100)
@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=40), st.integers(0, 2))
def test_drawing_every_pair_once_is_counting(rows, head):
    rows.sort(key=lambda row: row[head])
    wanted, counted, drawn, first = np.zeros((4, 4), np.int64)
    for one, other in combinations(rows, 2):
        if one[head] == other[head]:
            wanted[sum(a == b for a, b in zip(one, other, strict=True))] += 1
    rows = np.array(rows, np.uint32)
    count_shared(rows, head, counted)
    draw_shared(rows, head, np.arange(wanted.sum()), drawn)
    assert wanted.tolist() == counted.tolist() == drawn.tolist()
    if wanted.any():
        draw_shared(rows, head, np.zeros(5, np.int64), first)
        assert first.max() == first.sum() == 5


def test_draws_agree_with_all_within_their_errors(stream, monkeypatch):
    made = layout("pagegram", params="2M")
    exact = run(stream, made)
    monkeypatch.setattr(module, "COUNTED_MOST", 0)
    monkeypatch.setattr(module, "DRAWN", 4000)
    drawn, again = run(stream, made), run(stream, made)
    for one, other, repeated in zip(exact, drawn, again, strict=True):
        one, row = one.row(), other.row()
        assert not other.exact and row["collisions_counted"] == 32_000 < row["collisions"] == one["collisions"]
        assert row == repeated.row()
        for name in SHARED:
            assert 0 < row[f"{name}_error"] < 0.01 and one[f"{name}_error"] == 0
            assert 0 < abs(row[name] - one[name]) < 5 * row[f"{name}_error"]
        assert row["foreign_share"] == one["foreign_share"]
        assert row["neighbours"] == pytest.approx(one["neighbours"], rel=0.05)


def test_draws_that_are_all_alike_have_no_error(stream):
    """These parts of 1 add up to a hair more than 1 in floating point."""
    one = run(stream, layout("pagegram", params="2M"))[0]
    counted = np.tile([0, 0, 319, 117, 379, 7, 899, 68, 646], (8, 1))
    shared, error = replace(one, counted=counted).shared()
    assert shared.p_another == pytest.approx(1) and error.p_another == 0 < error.extra_heads


def test_heads_weigh_by_their_collisions(stream, monkeypatch):
    """Some heads counted, some drawn: the average is over collisions, the error that of the drawn ones."""
    made = layout("engram", params="200k", heads=2)
    exact = run(stream, made)[0]
    monkeypatch.setattr(module, "COUNTED_MOST", int(exact.collisions.min()))
    monkeypatch.setattr(module, "DRAWN", 1000)
    mixed = run(stream, made)[0]
    drawn = int(exact.collisions.argmax())
    part = mixed.counted[drawn] / 1000
    counted = mixed.counted[1 - drawn]
    total, weight = exact.collisions.sum(), exact.collisions[drawn] / exact.collisions.sum()
    extra, error = (shared.extra_heads for shared in mixed.shared())
    assert extra == pytest.approx(weight * part[2] + counted[2] / total)
    assert error == pytest.approx(weight * sqrt(part[2] * (1 - part[2]) / 1000))


@settings(max_examples=60)
@given(windows(), st.sampled_from(["flat", "engram", "pagegram"]), st.sampled_from(list(BACKENDS)))
def test_rows_are_those_of_the_formulas(window, name, backend):
    stream, ids, starts, begin, end = window
    made = layout(name, params="300k", orders=(1, 3))
    ngrams = distinct_ngrams(stream, (1, 2, 3), begin, end)
    rows = rows_of(stream, made, ngrams, begin, end, backend)
    by_token = list(reference.rows_of(made, ids, starts))
    assert set(rows) == {1, 3}
    for index, order in enumerate((1, 3)):
        at = slice(index * made.heads, (index + 1) * made.heads)
        assert rows[order].tolist() == [by_token[begin + first][at] for first in ngrams[order].first]


@pytest.mark.parametrize("name", ["qwen3.8-flash-next", "engram-demo", "longcat-flash-lite"])
def test_tokens_that_emit_every_row(name):
    """Published layouts read rows for n-grams that are not whole, too: those are no n-grams of the stream."""
    ids, starts = [5, 6, 7, 5, 6, 7, 8], np.array([0, 4])
    made = layout(name, raw_ids=True if name == "engram-demo" else None)
    stream = TokenStream(np.array(ids, np.uint16), starts=starts)
    ngrams = distinct_ngrams(stream, made.orders, 0, len(ids))
    rows = rows_of(stream, made, ngrams, 0, len(ids))
    tables = trace_ids(stream, made, unit="row").reshape(len(ids), made.layers, len(made.orders), made.heads)
    assert len(ngrams[2].first) == 4  # (5, 6), (6, 7), (7, 5), (7, 8); not (5, 6) across the start
    for index, order in enumerate(made.orders):
        wanted = tables[ngrams[order].first, :, index].reshape(len(ngrams[order].first), -1)
        assert (rows[order] == wanted).all() and rows[order].shape[1] == made.layers * made.heads


def test_refusals(stream):
    with pytest.raises(UsageError, match=r"0 n-grams of order 3 in 2 tokens"):
        run(TokenStream(np.arange(9, dtype=np.uint16)), layout("flat", params="30k"), 0, 2)
    with pytest.raises(UsageError, match=f"rows, over {2**32}: take a smaller --params"):
        run(stream, layout("engram", params="300B"))
