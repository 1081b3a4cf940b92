"""What colliding n-grams share against S, from the CSV of ``collisions`` alone: marks are measured, lines the closed
forms. Layouts whose heads have tables of their own stand at the right, where S is all rows. The axis covers S from 1 to
64, whatever was measured."""

from pathlib import Path

import numpy as np

from flashsim.errors import DataError
from flashsim.figures.style import COLOURS, MARKERS, figure, save
from flashsim.figures.tables import read_table
from flashsim.studies.collisions import Shared, closed_forms
from flashsim.units import format_count

_NEEDED = (
    "corpus", "synthetic", "layout", "S", "params", "label", "order", "heads", "tokens",
    *(f"{name}{ending}" for name in Shared._fields for ending in ("", "_error", "_closed")),
)  # fmt: skip
_PANELS = {
    "extra_heads": "rows that they share besides, on average",
    "p_another": "chance that they share at least one more",
    "neighbours_relative": "neighbours, relative to engram's",
}
_REACH = (1, 4, 16, 64)
_GREY = "#999999"


def draw(csv: str | Path, stem: str | Path | None = None) -> list[Path]:
    """Draw the collisions in ``csv`` as ``stem``.svg and .png (beside the CSV by default); return their paths.

    Raises DataError where ``csv`` is not such a table, or has no collision of a layout with buckets.
    """
    table = read_table(Path(csv), _NEEDED, "`collisions` run")
    shown = table[table["extra_heads"].notna()]
    slots = sorted(set(shown["S"].dropna()))
    if not slots:
        raise DataError(f"{csv}: {len(table)} rows, in none of which n-grams collide in buckets: 0 S to draw against")
    tables = list(dict.fromkeys(shown["layout"][shown["S"].isna()]))
    right = [max(*slots, *_REACH) * 5 ** (1 + index) for index in range(len(tables))]
    shown = shown.assign(x=shown["S"].fillna(shown["layout"].map(dict(zip(tables, right, strict=True)))))
    series = list(shown.groupby(["corpus", "params"], sort=False))
    orders = sorted(set(shown["order"]))
    with figure(12, 4.2, rows=1, columns=len(_PANELS)) as (made, grid):
        made.suptitle("When two n-grams share a row", fontsize=11, x=0.01, ha="left")
        for axes, (column, title) in zip(grid[0], _PANELS.items(), strict=True):
            top = _closed_forms(axes, shown, column)
            for index, (_, rows) in enumerate(series):
                for order, marks in rows.groupby("order"):
                    look = {"color": COLOURS[orders.index(order) % len(COLOURS)], **_mark(index, orders.index(order))}
                    axes.errorbar(marks["x"], marks[column], yerr=marks[f"{column}_error"], linestyle="", **look)
            top = max(top, shown[column].max(), shown[f"{column}_closed"].max())
            axes.set_ylim(-0.04 * top, 1.06 * top)
            axes.set_title(title, fontsize=10, loc="left")
            _slots_axis(axes, slots, right, tables)
        _legend(made, series, orders)
        return save(made, stem or Path(csv).with_suffix(""))


def _closed_forms(axes, shown, column: str) -> float:
    """A line over S for each number of heads, and a bar where there are no buckets. Returns the highest point."""
    top = 0.0
    for heads in sorted(set(shown["heads"][shown["S"].notna()])):
        line = np.geomspace(1, max(shown["S"].max(), _REACH[-1]), 200)
        values = [getattr(closed_forms(int(heads), S), column) for S in line]
        top = max(top, *values)
        axes.plot(line, values, color=_GREY, linewidth=1.3, zorder=1)
    others = shown[shown["S"].isna()]
    axes.plot(others["x"], others[f"{column}_closed"], color=_GREY, linestyle="", marker="_", markersize=20, zorder=1)
    return top


def _mark(series: int, order: int) -> dict:
    """Open marks, smaller for higher orders, which lie over the others."""
    marker = MARKERS[series % len(MARKERS)]
    return {"marker": marker, "markersize": max(9 - 3 * order, 3), "fillstyle": "none", "markeredgewidth": 1.4}


def _slots_axis(axes, slots: list[float], right: list[float], tables: list[str]) -> None:
    """Marked at ``slots``, at _REACH where there is room between them, and at ``right`` with the names ``tables``."""
    from matplotlib.ticker import FixedLocator, NullLocator

    last = max([*slots, *_REACH, *right])
    apart, ticks = last ** (1 / 12), []
    for S in [*slots, *_REACH]:  # so that no two labels touch
        if all(max(S, tick) >= min(S, tick) * apart for tick in ticks):
            ticks.append(S)
    axes.set_xscale("log", base=2)
    axes.set_xlim(1 / 1.6, last * 1.9)
    axes.xaxis.set_major_locator(FixedLocator([*ticks, *right]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([*(f"{S:.0f}" for S in ticks), *tables], fontsize=9)
    axes.set_xlabel("S: slots a head in a bucket")


def _legend(made, series, orders: list[int]) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=_GREY, linewidth=1.3, label="closed form")]
    handles += [
        Line2D([], [], color=COLOURS[at % len(COLOURS)], linestyle="", label=f"{order}-grams", **_mark(0, at))
        for at, order in enumerate(orders)
    ]
    for index, ((corpus, params), rows) in enumerate(series):
        synthetic = " (SYNTHETIC)" if rows["synthetic"].any() else ""
        label = f"{corpus}{synthetic},\n{rows['tokens'].max():,} tokens,\n{format_count(int(params))} parameters"
        handles.append(Line2D([], [], color="#444444", linestyle="", label=label, **_mark(index, 0)))
    made.legend(handles=handles, loc="outside right upper", fontsize=9)
