"""Cache policies beside one another: reads/token against cache size, and the share of the gap between LRU and MIN that
each closes, from a sweep's CSV alone. One column of panels for each corpus, layout
and workload."""

from pathlib import Path

from flashsim.errors import DataError
from flashsim.figures.style import COLOURS, MARKERS, figure, reads_axis, save, size_axis
from flashsim.figures.tables import also, read_table, warm_start

_NEEDED = (
    "corpus", "synthetic", "label", "unit", "workload", "policy", "cache_bytes", "tokens", "reads", "reads_per_token",
    "warm_pages",
)  # fmt: skip
_PANELS_MAX = 6
_LEAST_GAP = 0.002  # reads/token between LRU and MIN under which a share of the gap is noise


def draw(csv: str | Path, stem: str | Path | None = None) -> list[Path]:
    """Draw the sweep in ``csv`` as ``stem``.svg and .png (beside the CSV by default); return their paths.

    Raises DataError where ``csv`` is not such a table, or holds more layouts than fit a picture.
    """
    table = read_table(Path(csv), _NEEDED, "cache sweep")
    cells = list(table.groupby(["corpus", "label", "workload"], sort=False))
    if len(cells) > _PANELS_MAX:
        what = "corpora, layouts and workloads"
        raise DataError(f"{csv}: {len(cells)} {what}, {_PANELS_MAX} fit a picture: sweep fewer at a time")
    policies = list(dict.fromkeys(table["policy"]))
    gaps = {"lru", "min"} <= set(policies)
    look = _look(policies)
    with figure(2.2 + 4.2 * len(cells), 7.2 if gaps else 4.4, rows=1 + gaps, columns=len(cells)) as (made, axes):
        for column, ((corpus, label, workload), rows) in enumerate(cells):
            synthetic = " (SYNTHETIC)" if rows["synthetic"].any() else ""
            top = axes[0][column]
            counted = "; ".join([f"{rows['tokens'].iloc[0]:,} tokens", *warm_start(rows)])
            top.set_title(f"{corpus}{synthetic}, {label}{also(workload)}\n{counted}", fontsize=10, loc="left")
            by_policy = {policy: _line(lines) for policy, lines in rows.groupby("policy", sort=False)}
            for policy, line in by_policy.items():
                top.plot(line.index, line, markersize=4, linewidth=1.3, label=policy, **look[policy])
            lines = by_policy.values()
            reads_axis(top, max(line.max() for line in lines) * 1.15, min(line.min() for line in lines))
            size_axis(top, rows["cache_bytes"].tolist())
            if gaps and {"lru", "min"} <= by_policy.keys():
                _gap_panel(axes[1][column], by_policy, look)
                size_axis(axes[1][column], rows["cache_bytes"].tolist())
        made.legend(*axes[0][0].get_legend_handles_labels(), loc="outside right upper", fontsize=9)
        return save(made, stem or Path(csv).with_suffix(""))


def _look(policies: list[str]) -> dict[str, dict]:
    """LRU and MIN, the two ends of the scale, in black and grey; the others in colours, then in colours and dashes."""
    look = {"lru": {"color": "black", "marker": "o"}, "min": {"color": "#888888", "marker": "o"}}
    colours = COLOURS[:-1]
    for index, policy in enumerate(policy for policy in policies if policy not in look):
        turn = index // len(colours)
        look[policy] = {
            "color": colours[index % len(colours)],
            "marker": MARKERS[1 + turn % (len(MARKERS) - 1)],
            "linestyle": ("-", "--", ":")[turn % 3],
        }
    return look


def _line(rows):
    return rows.set_index("cache_bytes")["reads_per_token"].sort_index()


def _gap_panel(axes, by_policy: dict, look: dict) -> None:
    """100 % is MIN, which knows the future; 0 % is LRU."""
    gap = by_policy["lru"] - by_policy["min"]
    wide = gap[gap > _LEAST_GAP].index
    lowest = 0.0
    for policy, line in by_policy.items():
        if policy not in ("lru", "min"):
            share = 100 * ((by_policy["lru"] - line) / gap).loc[wide]
            axes.plot(share.index, share, markersize=4, linewidth=1.3, **look[policy])
            lowest = min(lowest, share.min()) if len(share) else lowest
    axes.axhline(0, linewidth=1.3, color=look["lru"]["color"])
    axes.set_ylim(max(lowest * 1.1, -100) - 3, 100)
    axes.set_ylabel("gap from LRU to MIN closed, %")
