"""The hot set: the share of the reads that the most read pages take, against their bytes, from the CSV of ``hot-set``
alone. A panel for the whole table and for each order's part of it, a line for each corpus and layout; dashed is what
the pages most read in the first half of the text take of the second's reads."""

from pathlib import Path

from flashsim.errors import DataError
from flashsim.figures.style import COLOURS, figure, save, size_axis
from flashsim.figures.tables import read_table

_NEEDED = ("corpus", "synthetic", "label", "unit", "orders", "hottest_bytes", "read_share", "later_read_share")
_PANELS_MAX, _COLUMNS_MAX = 9, 3
_LEAST_BYTES = 1 << 20  # what takes less RAM is in the CSV, but nobody counts it


def draw(csv: str | Path, stem: str | Path | None = None) -> list[Path]:
    """Draw the shares in ``csv`` as ``stem``.svg and .png (beside the CSV by default); return their paths.

    Raises DataError where ``csv`` is not such a table, or holds more sets of orders than fit a picture.
    """
    from matplotlib.lines import Line2D

    table = read_table(Path(csv), _NEEDED, "hot set")
    shown = table[table["hottest_bytes"] >= min(_LEAST_BYTES, table["hottest_bytes"].max())]
    panels = list(shown.groupby("orders", sort=False))
    if len(panels) > _PANELS_MAX:
        raise DataError(
            f"{csv}: {len(panels)} sets of orders, {_PANELS_MAX} fit a picture: run fewer layouts at a time"
        )
    least, most = int(shown["hottest_bytes"].min()), int(shown["hottest_bytes"].max())
    lines = table[["corpus", "label"]].drop_duplicates().itertuples(index=False, name=None)
    colours = {line: COLOURS[index % len(COLOURS)] for index, line in enumerate(lines)}
    columns = min(len(panels), _COLUMNS_MAX)
    rows = -(-len(panels) // columns)
    units = "rows" if set(table["unit"]) == {"row"} else "pages"
    with figure(3 + 3.8 * columns, 0.6 + 3.6 * rows, rows=rows, columns=columns) as (made, grid):
        axes_of = list(grid.flat)
        by_label: dict[str, object] = {}
        for axes, (orders, part) in zip(axes_of, panels, strict=False):
            whole = "+" in orders or len(panels) == 1
            axes.set_title(
                f"all reads, orders {orders}" if whole else f"reads of order {orders}", fontsize=10, loc="left"
            )
            for (corpus, label), line in part.groupby(["corpus", "label"], sort=False):
                synthetic = " (SYNTHETIC)" if line["synthetic"].any() else ""
                colour, size = colours[corpus, label], line["hottest_bytes"]
                by_label[f"{corpus} {label}{synthetic}"] = axes.plot(size, line["read_share"], color=colour)[0]
                axes.plot(size, line["later_read_share"], color=colour, linestyle="--", linewidth=1)
            size_axis(axes, [1 << octave for octave in range(least.bit_length(), most.bit_length())] or [least, most])
            axes.tick_params("x", rotation=45)
            axes.set_xlabel(f"the most read {units}")
            axes.set_ylim(0, 1)
            axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
            axes.set_ylabel("share of the reads")
        for axes in axes_of[len(panels) :]:
            axes.set_axis_off()
        later = Line2D([], [], color="#777777", linestyle="--", linewidth=1)
        by_label |= {"most read in the 1st half,\nreads of the 2nd": later}
        made.legend(by_label.values(), by_label.keys(), loc="outside right upper", fontsize=9)
        return save(made, stem or Path(csv).with_suffix(""))
