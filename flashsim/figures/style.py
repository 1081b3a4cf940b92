"""What the figures share: look, colours that colour-blind readers can tell apart, and saving as SVG and PNG."""

from contextlib import contextmanager
from pathlib import Path

# Okabe and Ito's palette (2008) without its yellow, which is faint on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


@contextmanager
def figure(width: float, height: float, rows: int | None = None, columns: int = 1):
    """A matplotlib (figure, axes) of ``width`` x ``height`` inches in the house style; with ``rows``, axes[row][column]
    instead."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rc = {
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": "#DDDDDD",
        "grid.linewidth": 0.6,
        "axes.axisbelow": True,
        "legend.frameon": False,
        "svg.hashsalt": "flashsim",  # ids repeat from run to run
        "svg.fonttype": "none",
        "text.parse_math": False,  # names come from files: a $ is a $
    }
    with pyplot.rc_context(rc):
        grid = {"nrows": rows or 1, "ncols": columns, "squeeze": rows is None}
        made, axes = pyplot.subplots(figsize=(width, height), layout="constrained", **grid)
        try:
            yield made, axes
        finally:
            pyplot.close(made)


def size_axis(axes, sizes: list[int]) -> None:
    """The x axis of cache sizes in bytes: logarithmic, marked at some of ``sizes``, a third of an octave and an eighth
    of the axis apart or more: no two labels touch."""
    from math import log2

    from matplotlib.ticker import FixedLocator, NullLocator

    from flashsim.units import format_bytes

    sizes = sorted(set(sizes))
    apart = max((log2(sizes[-1]) - log2(sizes[0])) / 8, 1 / 3)
    ticks: list[int] = []
    for size in sizes:
        if not ticks or log2(size) - log2(ticks[-1]) >= apart:
            ticks.append(size)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([format_bytes(tick) for tick in ticks], fontsize=9)
    axes.set_xlabel("cache in RAM")


def reads_axis(axes, top: float, least: float = 0) -> None:
    """The y axis of reads/token from 0 to ``top``: linear up to 1, where a read saved is a read saved, logarithmic
    above. Where nothing shown is below ``least``, over 1, only the logarithmic part is."""
    from matplotlib.ticker import FixedLocator, NullLocator

    axes.set_yscale("symlog", base=2, linthresh=1, linscale=1.5)
    axes.set_ylim(least * 0.85 if least > 1.2 else 0, max(top, 1.2))
    marks = [mark for mark in (0, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 8, 16, 32, 64, 128) if mark <= top]
    axes.yaxis.set_major_locator(FixedLocator(marks))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_yticklabels([f"{mark:g}" for mark in marks])
    axes.set_ylabel("flash reads / token (log above 1)" if top > 1.5 else "flash reads / token")


def save(made, stem: str | Path) -> list[Path]:
    """Write ``stem``.svg and ``stem``.png; the SVG's bytes depend on the picture alone. Returns the paths."""
    from flashsim.files import replacing

    stem = str(stem).removesuffix(".svg").removesuffix(".png")
    paths = [Path(f"{stem}.svg"), Path(f"{stem}.png")]
    for path in paths:
        with replacing(path) as file:
            undated = {"Date": None} if path.suffix == ".svg" else None
            made.savefig(file, format=path.suffix[1:], dpi=200, metadata=undated)
    return paths
