"""Tables as text: what is shown, how numbers look, and that nothing is left out unsaid."""

from math import nan

import pandas as pd
import pytest

from flashsim.report.tables import ACROSS_MAX, PIVOTS, ROWS_MAX, pivot_of, rows_of

KEYS = {"corpus": "c", "label": "l", "workload": "plain", "policy": "lru"}


def sweep(**columns):
    return pd.DataFrame(KEYS | columns)


@pytest.mark.parametrize(
    ("column", "values", "texts"),
    [
        ("misses", [1, 1234567], ["1", "1,234,567"]),
        ("S", [4.0, nan], ["4", ""]),
        ("cache_bytes", [0, 4096, 3 << 29], ["no cache", "4 KiB", "1.5 GiB"]),
        ("table_bytes", [0, 1000], ["0 B", "1000 B"]),
        ("params", [3_200_000_000, 312500086], ["3.2B", "312,500,086"]),
        ("reads_per_token", [1.31152, 0.0004567, 0.06, 0.0, nan], ["1.312", "0.000457", "0.0600", "0.000", ""]),
        ("reads_per_token", [15.97295, 0.45512], ["15.973", "0.455"]),
        ("mb_per_s", [123.456, 0.5], ["123.46", "0.500"]),
        (
            "lookups_per_s",
            [131651.49, 6450.5, 99.96, 0.25],
            ["131,651", "6,450", "100", "0.250"],
        ),  # even, as floats round
        ("shift", [-1234.5678, 2.0], ["-1,234.6", "2.00"]),
        ("far", [float("inf"), 1.5], ["inf", "1.500"]),
        ("synthetic", [True, False], ["True", "False"]),
        ("label", ["a_b", "1"], ["a_b", "1"]),
    ],
)
def test_numbers(column, values, texts):
    view = rows_of(pd.DataFrame({column: values}), "a.csv")
    assert [row[0] for row in view.rows] == texts
    assert view.words == ({0} if isinstance(values[0], str | bool) else set())


def test_what_is_the_same_is_said_once():
    table = sweep(tokens=[5000] * 2, misses=[1, 2], S=[nan] * 2, page_bytes=[4096] * 2, none=[nan] * 2)
    view = rows_of(table, "a.csv")
    assert (view.caption, view.head, view.rows) == ("2 rows of a.csv", ["misses"], [["1"], ["2"]])
    same = "corpus c; label l; workload plain; policy lru; tokens 5,000; page 4 KiB; nothing in S, none"
    assert view.same == same
    assert rows_of(table[:1], "a.csv").same == ""  # a row alone is shown


def test_long_tables_are_cut_and_say_so():
    count = ROWS_MAX + 1234
    view = rows_of(pd.DataFrame({"a": range(count)}), "a.csv")
    assert len(view.rows) == ROWS_MAX and view.rows[-1] == [str(ROWS_MAX - 1)]
    assert view.caption == f"The first {ROWS_MAX} of {count:,} rows of a.csv; 1,234 left out"
    table = sweep(first_token=range(count), cache_bytes=4096, reads_per_token=1.5)
    view = pivot_of(table, "cold start")
    assert len(view.rows) == ROWS_MAX and view.rows[1] == ["1", "1.500"]
    assert view.caption == f"reads_per_token by cache; {ROWS_MAX} of {count:,} lines, 1,234 left out"


def test_figures_beside_one_another():
    rows = [
        (label, policy, size, size / 4096 + at)
        for at, (label, policy) in enumerate([("b", "min"), ("a", "lru"), ("b", "lru")])
        for size in (8192, 4096)
    ]
    table = pd.DataFrame(rows, columns=["label", "policy", "cache_bytes", "reads_per_token"])
    table = table.assign(corpus="c", reads=30, tokens=8)[: len(rows) - 1]  # one is missing
    view = pivot_of(table, "cache sweep")
    assert (view.caption, view.named) == ("reads_per_token by cache", True)
    assert view.head == ["label, policy", "no cache", "4 KiB", "8 KiB"]
    assert view.rows == [
        ["b, min", "3.750", "1.000", "2.000"], ["a, lru", "3.750", "2.000", "3.000"], ["b, lru", "3.750", "", "4.000"],
    ]  # fmt: skip
    alone = pivot_of(table[:2].drop(columns="reads"), "curve")
    assert (alone.head, alone.rows) == (["label", "4 KiB", "8 KiB"], [["b", "1", "2"]])


def test_medians_of_repeats():
    columns = ["repeat", "mode", "cache_bytes", "in_flight", "lookups_per_s"]
    rows = [
        (at, "stream", size, flight, size + flight * rate)
        for at, rate in enumerate([10, 3000, 20])
        for size in (0, 4096)
        for flight in (1, 16)
    ]
    table = pd.DataFrame(rows, columns=columns).assign(source="measured", drive="d", corpus="c", label="l")
    view = pivot_of(table, "replay")
    assert view.caption == "lookups_per_s by in_flight; medians of 3 repeats"
    assert view.head == ["cache", "1", "16"]
    assert view.rows == [["no cache", "20", "320"], ["4 KiB", "4,116", "4,416"]]
    # rows that more than the repeat tells apart are no repeats: none of them may be hidden in a median
    assert pivot_of(pd.concat([table, table]), "replay") is None


def test_no_pivot_where_there_is_none():
    table = sweep(cache_bytes=[4096, 8192], reads_per_token=[1.5, 1.0])
    assert pivot_of(table, "cache sweep").rows == [["l", "1.500", "1.000"]]
    assert pivot_of(table, "another kind") is None
    for without in ("label", "cache_bytes", "reads_per_token"):
        assert pivot_of(table.drop(columns=without), "cache sweep") is None
    for name in ("cache_bytes", "reads_per_token"):
        assert pivot_of(table.assign(**{name: ["4096", "eight"]}), "cache sweep") is None
    assert pivot_of(table.assign(cache_bytes=4096), "cache sweep") is None  # two figures for one place


@pytest.mark.parametrize(
    ("sizes", "shown"),
    [
        (range(1, ACROSS_MAX + 1), list(range(1, ACROSS_MAX + 1))),
        (range(1, 1001), [1 << octave for octave in range(10)]),
        (range(9000, 10001), [9000 + round(at * 1000 / (ACROSS_MAX - 1)) for at in range(ACROSS_MAX)]),
    ],
)
def test_many_columns_are_thinned(sizes, shown):
    view = pivot_of(sweep(capacity_pages=sizes, cache_bytes=sizes, reads_per_token=1.5), "curve")
    assert len(view.head) - 1 == len(view.rows[0]) - 1 == len(shown)
    assert [text.split(" B")[0] for text in view.head[1:4]] == [str(size) for size in shown[:3]] or shown[0] == 9000
    left = len(sizes) - len(shown)
    assert view.caption.endswith(f"; {len(shown)} of {len(sizes):,} columns, {left:,} left out" if left else "by cache")


def test_every_kind_has_figures_beside_one_another(results):
    held = {"cache sweep": "sweep", "curve": "curve", "simulation": "sim", "cold start": "cold-start",
            "replay": "replay", "plan": "plan"}  # fmt: skip
    assert set(held) == set(PIVOTS)
    for kind, name in held.items():
        view = pivot_of(pd.read_csv(results / f"{name}.csv"), kind)
        assert len(view.head) > 2 and all(len(row) == len(view.head) for row in view.rows), kind
