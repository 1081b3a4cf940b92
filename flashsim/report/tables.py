"""A result's CSV as tables to be read: numbers as text, what is the same in all rows said once, long ones cut."""

from itertools import islice
from math import isfinite, isnan, log10, nan
from numbers import Real
from statistics import median
from typing import NamedTuple

from flashsim.units import format_bytes, format_count, number_of

ROWS_MAX, ACROSS_MAX = 100, 24
_OCTAVES_LEAST = 4
_LEAST_BYTES = 1 << 20  # of many caches, those below are left out first


class View(NamedTuple):
    """A table as text. caption: what is in it, and what is not. same: what is the same in all rows. head: of each
    column. rows: a text for each column. words: the columns that hold words, which are set to the left. named: whether
    the first of them names the row."""

    caption: str
    same: str
    head: list[str]
    rows: list[list[str]]
    words: frozenset[int]
    named: bool = False


class Pivot(NamedTuple):
    """A column of figures (``value``), a line for each of ``down`` and a column for each of ``across``, which tell all
    rows apart, but for those that ``repeats`` does. alone: of ``down``, what names a line that is the only one. words:
    whether ``across`` holds words, not numbers."""

    value: str
    across: str
    down: tuple[str, ...]
    alone: str = "label"
    repeats: str | None = None
    words: bool = False


_OF_SIZES = Pivot("reads_per_token", "cache_bytes", ("corpus", "label", "workload", "policy"))
_OF_DRIVES = ("mode", "cache_bytes", "source", "drive", "corpus", "label")
PIVOTS = {  # by kind of result
    "cache sweep": _OF_SIZES,
    "curve": _OF_SIZES,
    "simulation": Pivot("miss_ratio", "cache_bytes", ("policy",), alone="policy"),
    "cold start": Pivot("reads_per_token", "cache_bytes", ("corpus", "label", "first_token")),
    "replay": Pivot("lookups_per_s", "in_flight", _OF_DRIVES, repeats="repeat"),
    "plan": Pivot("tokens_per_s", "workload", ("case",), alone="case", words=True),
}


def pivot_of(table, kind: str) -> View | None:
    """The figures of a result of this ``kind`` beside one another; None where it has no such table."""
    pivot = PIVOTS.get(kind)
    if pivot is None or not {pivot.value, pivot.across, pivot.alone} <= set(table):
        return None
    down = [name for name in pivot.down if name in table]
    repeats = [pivot.repeats] if pivot.repeats in table else []
    numbers = [pivot.value] if pivot.words else [pivot.value, pivot.across]
    numeric = all(table[name].dtype.kind in "iuf" for name in numbers)
    if not numeric or table.duplicated([*down, pivot.across, *repeats]).any():
        return None
    down = [name for name in down if table[name].nunique(dropna=False) > 1] or [pivot.alone]
    caption = f"{pivot.value} by {_spoken(pivot.across)}"
    if repeats and (rounds := table[pivot.repeats].nunique()) > 1:
        caption += f"; medians of {rounds} repeats"
    every = table[pivot.across].dropna().unique()
    every = list(every) if pivot.words else sorted(every)
    columns = _thinned(every)
    caption += _left_out(len(columns), len(every), "columns")
    table = table[table[pivot.across].isin(columns)]
    if pivot.value == "reads_per_token" and {"reads", "tokens"} <= set(table):
        table, columns = _with_no_cache(table, pivot), [0, *columns]
    lines: dict[tuple, dict[float, list[float]]] = {}
    for *key, at, figure in table[[*down, pivot.across, pivot.value]].itertuples(index=False):
        lines.setdefault(tuple(key), {}).setdefault(at, []).append(figure)
    shown = list(lines)[:ROWS_MAX]
    caption += _left_out(len(shown), len(lines), "lines")
    keys = [_texts(name, values) for name, values in zip(down, zip(*shown, strict=True), strict=True)]
    figures = iter(_texts(pivot.value, [median(lines[key].get(at, [nan])) for key in shown for at in columns]))
    rows = [[", ".join(key), *islice(figures, len(columns))] for key in _across(keys)]
    head = [", ".join(map(_spoken, down)), *_texts(pivot.across, columns)]
    return View(caption, "", head, rows, frozenset({0}), named=True)


def _with_no_cache(table, pivot: Pivot):
    """The table behind the same with caches of 0 bytes."""
    import pandas as pd

    return pd.concat([table.assign(**{pivot.across: 0, pivot.value: table["reads"] / table["tokens"]}), table])


def rows_of(table, name: str) -> View:
    """The rows of the CSV ``name``, as they are."""
    shown = table.head(ROWS_MAX)
    same = [column for column in table if len(table) > 1 and table[column].nunique(dropna=False) == 1]
    columns = [column for column in table if column not in same]
    empty = [column for column in same if table[column].isna().all()]
    said = [f"{_spoken(column)} {_texts(column, shown[column])[0]}" for column in same if column not in empty]
    said += [f"nothing in {', '.join(map(_spoken, empty))}"] if empty else []
    words = frozenset(at for at, column in enumerate(columns) if table[column].dtype.kind not in "iuf")
    cells = _across([_texts(column, shown[column]) for column in columns])
    caption = f"{number_of(len(table), 'row', ',')} of {name}"
    if len(shown) < len(table):
        caption = f"The first {len(shown):,} of {caption}; {len(table) - len(shown):,} left out"
    return View(caption, "; ".join(said), [_spoken(column) for column in columns], cells, words)


def _across(columns: list[list[str]]) -> list[list[str]]:
    return [list(row) for row in zip(*columns, strict=True)]


def _left_out(shown: int, all_of: int, what: str) -> str:
    return f"; {shown:,} of {all_of:,} {what}, {all_of - shown:,} left out" if shown < all_of else ""


def _thinned(values: list) -> list:
    """At most ACROSS_MAX of them: the powers of 2 where they are enough, or evenly spaced ones."""
    if len(values) > ACROSS_MAX:
        values = [value for value in values if value >= _LEAST_BYTES or values[-1] < _LEAST_BYTES]
    if len(values) <= ACROSS_MAX:
        return values
    octaves = [value for value in values if value == int(value) > 0 and int(value).bit_count() == 1]
    if _OCTAVES_LEAST <= len(octaves) <= ACROSS_MAX:
        return octaves
    return [values[round(at * (len(values) - 1) / (ACROSS_MAX - 1))] for at in range(ACROSS_MAX)]


def _spoken(column: str) -> str:
    """A column's name; sizes are shown with their unit."""
    return column.removesuffix("_bytes")


def _texts(column: str, values) -> list[str]:
    """The text of each of a column's values: sizes with their unit, floats to 3 decimals and 3 digits or more."""
    numbers = [value for value in values if isinstance(value, Real) and isfinite(value)]
    whole = all(value == int(value) for value in numbers)
    decimals = 0 if whole else max(0, min(3, 4 - int(log10(max(1, *map(abs, numbers))))))
    return [_text(column, value, whole, decimals) for value in values]


def _text(column: str, value, whole: bool, decimals: int) -> str:
    if value is None or (isinstance(value, Real) and isnan(value)):
        return ""
    if not isinstance(value, Real) or isinstance(value, bool) or not isfinite(value):
        return str(value)
    if whole:
        count = int(value)
        if column.endswith("_bytes"):
            return format_bytes(count) if count or column != "cache_bytes" else "no cache"
        text = format_count(count) if column == "params" else ""
        return text if text[-1:].isalpha() else f"{count:,}"
    if 0 < abs(value) < 100 / 10**decimals:
        return f"{value:#.3g}".rstrip(".")
    return f"{value:,.{decimals}f}"
