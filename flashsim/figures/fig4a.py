"""Fig. 4a of the PageGram report: reads/token against the size of the page cache, from a sweep's CSV alone.

One line a layout and table size: the layout is the colour, the size the marker. Above 1 the y axis is logarithmic,
below it is linear down to 0, as in the report.
"""

from itertools import cycle
from math import inf, isnan
from numbers import Real
from pathlib import Path

from flashsim.errors import DataError
from flashsim.figures.style import COLOURS, MARKERS, figure, save
from flashsim.units import format_bytes, format_count

_TEXTS, _POSITIVE = ("corpus", "layout", "label"), ("params", "cache_bytes", "tokens")
_NEEDED = (*_TEXTS, "synthetic", "S", *_POSITIVE, "reads", "reads_per_token")


def draw(csv: str | Path, stem: str | Path | None = None) -> list[Path]:
    """Draw the sweep in ``csv`` as ``stem``.svg and .png (beside the CSV by default); return their paths.

    Raises DataError where ``csv`` is not such a table.
    """
    table = _table(Path(csv))
    corpora = list(dict.fromkeys(table["corpus"]))
    names = list(dict.fromkeys(_layout_name(row) for row in table.itertuples()))
    sizes = sorted(set(table["params"]))
    with figure(8.4, 4.8) as (made, axes):
        for (_, corpus), lines in table.groupby([table["label"], table["corpus"]], sort=False):
            row = lines.iloc[0]
            lines = lines.sort_values("cache_bytes")
            colour = COLOURS[names.index(_layout_name(row)) % len(COLOURS)]
            axes.plot(
                lines["cache_bytes"],
                lines["reads_per_token"],
                color=colour,
                marker=MARKERS[sizes.index(row["params"]) % len(MARKERS)],
                markersize=5,
                linewidth=1.3,
                linestyle=("-", "--", ":", "-.")[corpora.index(corpus) % 4],
            )
        _no_cache_levels(axes, table, names)
        _axes(axes, table)
        _legend(made, names, sizes, corpora)
        tokens = sorted(set(table["tokens"]))
        synthetic = " (SYNTHETIC)" if table["synthetic"].any() else ""
        axes.set_title(
            f"{', '.join(corpora)}{synthetic}, {' / '.join(f'{count:,}' for count in tokens)} tokens, LRU page cache",
            fontsize=10,
            loc="left",
        )
        return save(made, stem or Path(csv).with_suffix(""))


def _table(csv: Path):
    import pandas as pd

    try:
        table = pd.read_csv(csv, dtype=dict.fromkeys(_TEXTS, "str"), keep_default_na=False, na_values=[""])
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise DataError(f"{csv}: 0 rows read ({reason}): give the CSV of a cache sweep") from None
    missing = [column for column in _NEEDED if column not in table]
    if missing or table.empty:
        lacks = ", ".join(missing) or "data"
        raise DataError(f"{csv}: {len(table)} rows, without {lacks}: give the CSV of a cache sweep")
    for column in _NEEDED:
        bad = table.index[[not _fits(column, value) for value in table[column]]]
        if len(bad):
            value = table[column][bad[0]]
            raise DataError(f"{csv}: row {bad[0] + 1} has {column} {value!s}: give the CSV of a cache sweep, uncut")
    return table


def _fits(column: str, value) -> bool:
    """Whether a cell of the table can be drawn; an empty one is NaN, which is nothing but "no buckets" as S."""
    if column in _TEXTS:
        return isinstance(value, str)
    if column == "synthetic":
        return value in (True, False)
    if not isinstance(value, Real):
        return False
    return 0 < value < inf if column in _POSITIVE else 0 <= value < inf or (column == "S" and isnan(value))


def _layout_name(row) -> str:
    return f"{row.layout} S={row.S:.0f}" if row.S == row.S else row.layout  # NaN: no buckets


def _no_cache_levels(axes, table, names: list[str]) -> None:
    """A dotted line where each layout stands with no cache; layouts at the same level share one."""
    levels: dict[float, list[str]] = {}
    for row in table.itertuples():
        level = round(row.reads / row.tokens, 2)
        if _layout_name(row) not in levels.setdefault(level, []):
            levels[level].append(_layout_name(row))
    # levels that would be written over one another (documents' starts shift them by a hair) are written once
    written: list[float] = []
    for level, who in sorted(levels.items()):
        axes.axhline(level, color=COLOURS[names.index(who[0]) % len(COLOURS)], linewidth=1, linestyle=(0, (1, 2)))
        if not written or level > written[-1] * 1.15:
            axes.annotate(
                f"no cache: {level:g} ({', '.join(who)})",
                (0, level),
                xycoords=("axes fraction", "data"),
                xytext=(4, 3),
                textcoords="offset points",
                fontsize=8,
                color="#444444",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.8},
            )
            written.append(level)


def _axes(axes, table) -> None:
    from matplotlib.ticker import FixedLocator, NullLocator

    ticks = sorted(set(table["cache_bytes"]))
    axes.set_xscale("log", base=2)
    step = max(1, -(-len(ticks) // 10))
    axes.xaxis.set_major_locator(FixedLocator(ticks[::step]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([format_bytes(tick) for tick in ticks[::step]], fontsize=9)
    axes.set_xlabel("page cache in RAM")
    top = max(table["reads"] / table["tokens"]) * 1.35
    axes.set_yscale("symlog", base=2, linthresh=1, linscale=1.5)
    axes.set_ylim(0, max(top, 1.2))
    marks = [mark for mark in (0, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 8, 16, 32, 64, 128) if mark <= top]
    axes.yaxis.set_major_locator(FixedLocator(marks))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_yticklabels([f"{mark:g}" for mark in marks])
    axes.set_ylabel("flash reads / token")


def _legend(made, names: list[str], sizes: list[int], corpora: list[str]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=COLOURS[index % len(COLOURS)], linewidth=2, label=name) for index, name in enumerate(names)
    ]
    handles += [
        Line2D([], [], color="#666666", linestyle="", marker=marker, label=f"{format_count(size)} parameters")
        for size, marker in zip(sizes, cycle(MARKERS))
    ]
    if len(corpora) > 1:
        handles += [
            Line2D([], [], color="#666666", linestyle=("-", "--", ":", "-.")[index % 4], label=corpus)
            for index, corpus in enumerate(corpora)
        ]
    made.legend(handles=handles, loc="outside right upper", fontsize=9)
