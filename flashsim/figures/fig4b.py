"""Fig. 4b of the PageGram report: lookups/s against reads in flight, from a replay's CSV alone.

One line a layout, at the median of the repeats, with a band from their slowest to their fastest; what a model of a
drive predicts is dashed. A panel for each mode and cache. Both axes are logarithmic: on a slope of 1 twice the reads in
flight bring twice the lookups, and where a line is flat the drive gives no more.
"""

from pathlib import Path

from flashsim.errors import DataError
from flashsim.figures.style import COLOURS, MARKERS, figure, save
from flashsim.figures.tables import read_table
from flashsim.units import format_bytes, format_count

_NEEDED = (
    "trace", "corpus", "synthetic", "label", "cache_bytes", "mode", "source", "drive", "engine", "in_flight",
    "in_flight_unit", "repeat", "lookups_per_s",
)  # fmt: skip
_COLUMNS, _PANELS_MAX = 3, 9
_MARKS = {  # flags that make a figure another thing than it seems
    "buffered": "BUFFERED: the page cache, not the drive",
    "virtual": "virtual machine: its host may cache",
    "folded": "page numbers folded",
}


def draw(csv: str | Path, stem: str | Path | None = None) -> list[Path]:
    """Draw the replay in ``csv`` as ``stem``.svg and .png (beside the CSV by default); return their paths.

    Raises DataError where ``csv`` is not such a table, or holds more modes and caches than fit a picture.
    """
    table = read_table(Path(csv), _NEEDED, "replay", none=("cache_bytes", "lookups_per_s"))
    panels = list(table.groupby(["mode", "cache_bytes", "in_flight_unit"], sort=False))
    if len(panels) > _PANELS_MAX:
        raise DataError(f"{csv}: {len(panels)} modes and caches, {_PANELS_MAX} fit a picture: replay fewer at a time")
    names = list(dict.fromkeys(_line_name(row, table) for row in table.itertuples()))
    columns = 2 if len(panels) == 4 else min(len(panels), _COLUMNS)
    rows = -(-len(panels) // columns)
    with figure(2.6 + 4.0 * columns + (1.8 if columns == 1 else 0), 0.9 + 3.7 * rows, rows, columns) as (made, axes):
        cells = [axes[row][column] for row in range(rows) for column in range(columns)]
        for cell, ((mode, cache, unit), points) in zip(cells, panels, strict=False):
            _panel(cell, points, table, names)
            cell.set_title(f"{mode}, {f'{format_bytes(int(cache))} cache' if cache else 'no cache'}", fontsize=10)
            _axes(cell, points["in_flight"], unit, table["lookups_per_s"])
        for cell in cells[len(panels) :]:
            cell.set_axis_off()
        _legend(made, table, names)
        made.suptitle(_title(table), fontsize=10, x=0.01, ha="left")
        return save(made, stem or Path(csv).with_suffix(""))


def _line_name(row, table) -> str:
    several = table["corpus"].nunique() > 1
    return f"{row.corpus} {row.label}" if several else row.label


def _panel(axes, points, table, names: list[str]) -> None:
    for (source, _, _), line in points.groupby(["source", "trace", "drive"], sort=False):
        name = _line_name(next(line.itertuples()), table)
        colour = COLOURS[names.index(name) % len(COLOURS)]
        by_depth = line.groupby("in_flight")["lookups_per_s"]
        median = by_depth.median()
        if source == "model":
            axes.plot(median.index, median, color=colour, linewidth=1.2, linestyle=(0, (4, 2)))
            continue
        axes.fill_between(median.index, by_depth.min(), by_depth.max(), color=colour, alpha=0.2, linewidth=0)
        marker = MARKERS[names.index(name) % len(MARKERS)]
        axes.plot(median.index, median, color=colour, marker=marker, markersize=5, linewidth=1.3)


def _axes(axes, depths, unit: str, rates) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

    axes.set_xscale("log", base=2)
    ticks = sorted(set(depths.astype(int)))
    axes.xaxis.set_major_locator(FixedLocator(ticks[:: -(-len(ticks) // 10)]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(f"{unit} in flight")
    axes.set_ylabel("lookups / s")
    if not rates.any():  # a drive that stalls gives 0
        return
    axes.set_yscale("log")
    low, high = rates[rates > 0].min(), rates.max()
    axes.set_ylim(low / 1.5, high * 1.5)
    narrow = high / low < 30
    axes.yaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5) if narrow else (1, 3)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: format_count(round(value)) if value >= 1 else ""))


def _title(table) -> str:
    measured = table[table["source"] == "measured"]
    parts = list(dict.fromkeys(f"{row.drive}, {row.engine}" for row in measured.itertuples()))
    corpora = dict.fromkeys(f"{row.corpus}{' (SYNTHETIC)' if row.synthetic else ''}" for row in table.itertuples())
    parts += corpora
    flags = {
        flag.split("=")[0] for flags in table.get("flags", []) if isinstance(flags, str) for flag in flags.split(";")
    }
    marks = [text for name, text in _MARKS.items() if name in flags]
    return "; ".join(parts) + ("\n" + "; ".join(marks) if marks else "")


def _legend(made, table, names: list[str]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    sources = set(table["source"])
    handles = [
        Line2D([], [], color=COLOURS[at % len(COLOURS)], linewidth=2, label=name,
               marker=MARKERS[at % len(MARKERS)] if "measured" in sources else None)
        for at, name in enumerate(names)
    ]  # fmt: skip
    if "measured" in sources:
        repeats = int(table[table["source"] == "measured"]["repeat"].max())
        handles.append(Patch(color="#999999", alpha=0.4, label=f"slowest to fastest of {repeats}"))
    if "model" in sources:
        drives = "/".join(dict.fromkeys(table[table["source"] == "model"]["drive"]))
        handles.append(Line2D([], [], color="#666666", linewidth=1.2, linestyle=(0, (4, 2)), label=f"model: {drives}"))
    made.legend(handles=handles, loc="outside right upper", fontsize=9)
