"""Reading a result CSV to draw it: every cell that a figure needs is checked first."""

from collections.abc import Sequence
from math import inf, isnan
from numbers import Real
from pathlib import Path

from flashsim.errors import DataError
from flashsim.units import number_of

_TEXTS = (
    "corpus", "layout", "label", "unit", "workload", "case", "policy", "trace", "mode", "source", "drive", "engine",
    "in_flight_unit", "flags", "orders",
)  # fmt: skip
_POSITIVE = (
    "params", "cache_bytes", "capacity_pages", "tokens", "in_flight", "lookups_per_s", "order", "heads",
    "hottest_bytes",
)  # fmt: skip
_NEWER = {"warm_pages": 0, "workload": "plain"}  # columns that older tables lack, and what they are there
# no buckets; nothing that collides, or 1 head
_MAY_BE_EMPTY = (
    "S", "extra_heads", "p_another", "neighbours_relative", "gain", "reads_per_token_least", "reads_per_token_most",
)  # fmt: skip


def read_rows(csv: Path, hint: str):
    """The DataFrame in ``csv``, as it stands there. Raises DataError, which ends in ``hint``, where there is none."""
    import pandas as pd

    if csv.exists() and not csv.is_file():
        raise DataError(f"{csv}: 0 rows read (not a regular file): {hint}")
    try:
        return pd.read_csv(csv, dtype=dict.fromkeys(_TEXTS, "str"), keep_default_na=False, na_values=[""])
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise DataError(f"{csv}: 0 rows read ({reason}): {hint}") from None


def read_table(csv: Path, needed: Sequence[str], of: str, none: Sequence[str] = ()):
    """The DataFrame in ``csv``. needed: columns that have to be there, drawable in every row. of: what the CSV is of.
    none: sizes among them that may be 0.

    Raises DataError naming what is wrong, and the row.
    """
    hint = f"give the CSV of a {of}"
    table = read_rows(csv, hint)
    table = table.assign(**{column: value for column, value in _NEWER.items() if column not in table})
    missing = [column for column in needed if column not in table]
    if missing or table.empty:
        raise DataError(f"{csv}: {number_of(len(table), 'row')}, without {', '.join(missing) or 'data'}: {hint}")
    for column in needed:
        bad = table.index[[not _fits(column, value, column in none) for value in table[column]]]
        if len(bad):
            value = table[column][bad[0]]
            raise DataError(f"{csv}: row {bad[0] + 1} has {column} {value!s}: {hint}, uncut")
    return table


def warm_start(table) -> list[str]:
    """What a title has to say of the cache at the start of a sweep, where it was not empty."""
    held = int(table["warm_pages"].max())
    return [f"{number_of(held, table['unit'].iloc[0], ',')} cached at the start"] if held else []


def also(workload: str) -> str:
    """What a legend adds to a layout that runs under a workload."""
    return "" if workload == _NEWER["workload"] else f", {workload}"


def _fits(column: str, value, zero: bool) -> bool:
    """Whether a cell of the table can be drawn; an empty one is NaN, which only some columns may hold."""
    if column in _TEXTS:
        return isinstance(value, str)
    if column == "synthetic":
        return value in (True, False)
    if not isinstance(value, Real):
        return False
    if isnan(value):
        return column.removesuffix("_error").removesuffix("_closed") in _MAY_BE_EMPTY
    return 0 < value < inf if column in _POSITIVE and not zero else 0 <= value < inf
