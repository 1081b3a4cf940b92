"""From cold to warm: reads/token in each window of tokens, from the CSV of ``cold-start`` alone. A panel for each
corpus and layout, a line for each cache size; grey is the part that no cache saves, first touches. A shorter window at
the end, whose few tokens say little, is left out."""

from pathlib import Path

import numpy as np

from flashsim.errors import DataError
from flashsim.figures.style import COLOURS, figure, save
from flashsim.figures.tables import read_table
from flashsim.units import format_bytes, format_count

_NEEDED = (
    "corpus", "synthetic", "label", "cache_bytes", "first_token", "tokens", "cold_misses", "reads_per_token",
)  # fmt: skip
_PANELS_MAX, _COLUMNS_MAX = 9, 3


def draw(csv: str | Path, stem: str | Path | None = None) -> list[Path]:
    """Draw the windows in ``csv`` as ``stem``.svg and .png (beside the CSV by default); return their paths.

    Raises DataError where ``csv`` is not such a table, or holds more layouts than fit a picture.
    """
    table = read_table(Path(csv), _NEEDED, "cold start")
    cells = list(table.groupby(["corpus", "label"], sort=False))
    if len(cells) > _PANELS_MAX:
        raise DataError(f"{csv}: {len(cells)} corpora and layouts, {_PANELS_MAX} fit a picture: run fewer at a time")
    columns = min(len(cells), _COLUMNS_MAX)
    rows = -(-len(cells) // columns)
    sizes = sorted(set(table["cache_bytes"]))
    colours = {size: COLOURS[index % len(COLOURS)] for index, size in enumerate(sizes)}
    with figure(2.2 + 4.6 * columns, 0.6 + 3.6 * rows, rows=rows, columns=columns) as (made, grid):
        panels = list(grid.flat)
        for axes, ((corpus, label), lines) in zip(panels, cells, strict=False):
            synthetic = " (SYNTHETIC)" if lines["synthetic"].any() else ""
            window = int(lines["tokens"].max())
            lines = lines[lines["tokens"] == window]
            axes.set_title(
                f"{corpus}{synthetic}, {label}\nwindows of {format_count(window)} tokens", fontsize=10, loc="left"
            )
            for size, line in lines.groupby("cache_bytes", sort=True):
                _line(axes, line, line["reads_per_token"], label=format_bytes(int(size)), color=colours[size])
            cold = lines[lines["cache_bytes"] == lines["cache_bytes"].iloc[0]]
            _line(axes, cold, cold["cold_misses"] / cold["tokens"], label="first touches", color="#BBBBBB", fill=True)
            axes.set_xlim(0, None)
            axes.set_ylim(0, float(lines["reads_per_token"].max()) * 1.08 or 1)
            axes.xaxis.set_major_formatter(lambda tokens, _: format_count(int(tokens)))
            axes.set_xlabel("tokens read")
            axes.set_ylabel("flash reads / token")
        for axes in panels[len(cells) :]:
            axes.set_axis_off()
        by_label: dict[str, object] = {}
        for axes in panels[: len(cells)]:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                by_label.setdefault(label, handle)
        made.legend(by_label.values(), by_label.keys(), loc="outside right upper", fontsize=9, title="LRU cache")
        return save(made, stem or Path(csv).with_suffix(""))


def _line(axes, rows, values, fill: bool = False, **look) -> None:
    """A step a window, over the tokens read since the start."""
    begin, tokens = rows["first_token"].to_numpy(), rows["tokens"].to_numpy()
    edges = np.append(begin, begin[-1] + tokens[-1]) - begin[0]
    look |= {"fill": True, "zorder": 1} if fill else {"baseline": None, "linewidth": 1.2}
    axes.stairs(values.to_numpy(), edges, **look)
