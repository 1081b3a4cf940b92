"""What the figures share: look, colours that colour-blind readers can tell apart, and saving as SVG and PNG."""

from contextlib import contextmanager
from pathlib import Path

# Okabe and Ito's palette (2008) without its yellow, which is faint on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


@contextmanager
def figure(width: float, height: float):
    """A matplotlib (figure, axes) of ``width`` x ``height`` inches in the house style."""
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
        made, axes = pyplot.subplots(figsize=(width, height), layout="constrained")
        try:
            yield made, axes
        finally:
            pyplot.close(made)


def save(made, stem: str | Path) -> list[Path]:
    """Write ``stem``.svg and ``stem``.png; the SVG's bytes depend on the picture alone. Returns the paths."""
    from flashsim.files import replacing

    paths = [Path(f"{stem}.svg"), Path(f"{stem}.png")]
    for path in paths:
        with replacing(path) as file:
            undated = {"Date": None} if path.suffix == ".svg" else None
            made.savefig(file, format=path.suffix[1:], dpi=200, metadata=undated)
    return paths
