"""Fig. 4a of the PageGram report: reads/token against the size of the page cache, from a sweep's CSV alone.

One line a layout and table size: the layout is the colour, the size the marker. Above 1 the y axis is logarithmic,
below it is linear down to 0, as in the report. Where every layout has one size, as published tables have, and there are
more layouts than colours, the legend says size and reads without a cache, and markers tell equal colours apart.
"""

from itertools import cycle
from pathlib import Path

from flashsim.figures.style import COLOURS, MARKERS, figure, reads_axis, save, size_axis
from flashsim.figures.tables import also, read_table, warm_start
from flashsim.units import format_count, number_of

_NEEDED = (
    "corpus", "synthetic", "layout", "S", "params", "label", "unit", "workload", "policy", "cache_bytes", "tokens",
    "reads", "reads_per_token", "warm_pages", "warmup_tokens", "pinned_pages",
)  # fmt: skip
_WHOSE_MOST = 60  # characters beside a level


def draw(csv: str | Path, stem: str | Path | None = None) -> list[Path]:
    """Draw the sweep in ``csv`` as ``stem``.svg and .png (beside the CSV by default); return their paths.

    Raises DataError where ``csv`` is not such a table.
    """
    table = read_table(Path(csv), _NEEDED, "cache sweep")
    corpora = list(dict.fromkeys(table["corpus"]))
    names = list(dict.fromkeys(_layout_name(row) for row in table.itertuples()))
    sizes, crowd = sorted(set(table["params"])), _crowd(table, names)
    with figure(8.4, 4.8) as (made, axes):
        for (_, _, corpus), lines in table.groupby(["label", "workload", "corpus"], sort=False):
            row = lines.iloc[0]
            lines = lines.sort_values("cache_bytes")
            index = names.index(_layout_name(row))
            colour = COLOURS[index % len(COLOURS)]
            axes.plot(
                lines["cache_bytes"],
                lines["reads_per_token"],
                color=colour,
                marker=_marker(index) if crowd else MARKERS[sizes.index(row["params"]) % len(MARKERS)],
                markersize=5,
                linewidth=1.3,
                linestyle=("-", "--", ":", "-.")[corpora.index(corpus) % 4],
            )
        if not crowd:
            _no_cache_levels(axes, table, names)
        size_axis(axes, table["cache_bytes"].tolist())
        reads_axis(axes, max(table["reads"] / table["tokens"]) * 1.35)
        _legend(made, crowd or names, [] if crowd else sizes, corpora)
        axes.set_title(_title(table), fontsize=10, loc="left")
        return save(made, stem or Path(csv).with_suffix(""))


def _title(table) -> str:
    counted = dict.fromkeys(
        f"{row.corpus}{' (SYNTHETIC)' if row.synthetic else ''}, {row.tokens:,} tokens" for row in table.itertuples()
    )
    policy, units = ", ".join(dict.fromkeys(table["policy"])).upper(), "/".join(dict.fromkeys(table["unit"]))
    warmup = int(table["warmup_tokens"].max())
    pinned = int(table["pinned_pages"].max())
    more = [f"{number_of(pinned, units, ',')} pinned"] if pinned else []
    more += warm_start(table)
    more += [f"after {warmup:,} tokens of warm-up"] if warmup else []
    return "; ".join([*counted, f"{policy} {units} cache", *more])


def _layout_name(row) -> str:
    """The layout with its S, whatever else its label says, such as another row format, and its workload; not its
    size."""
    slots = f"S{row.S:.0f}" if row.S == row.S else ""  # NaN: no buckets
    rest = row.label.removeprefix(row.layout).split("-")
    others = [part for part in rest if part not in ("", slots, format_count(int(row.params)))]
    return " ".join([row.layout, *([f"S={row.S:.0f}"] if slots else []), *others]) + also(row.workload)


def _crowd(table, names: list[str]) -> list[str] | None:
    """For each of ``names`` what the legend says of it, where they are more than the colours and have one size each."""
    lines = table.drop_duplicates(["label", "workload"])
    if len(names) <= len(COLOURS) or len(lines) > len(names) or table["corpus"].nunique() > 1:
        return None
    return [
        f"{_layout_name(row)}: {row.params / 1e9:.3g}B, no cache {row.reads / row.tokens:.3g}"
        for row in lines.itertuples()
    ]


def _marker(index: int) -> str:
    return MARKERS[(index + index // len(COLOURS)) % len(MARKERS)]


def _no_cache_levels(axes, table, names: list[str]) -> None:
    """A dotted line where each layout stands with no cache; layouts at the same level share one."""
    levels: dict[float, list[str]] = {}
    for row in table.itertuples():
        level = round(row.reads / row.tokens, 1)
        if _layout_name(row) not in levels.setdefault(level, []):
            levels[level].append(_layout_name(row))
    # levels that would be written over one another (documents' starts shift them by a hair) are written once
    written: list[float] = []
    for level, who in sorted(levels.items()):
        axes.axhline(level, color=COLOURS[names.index(who[0]) % len(COLOURS)], linewidth=1, linestyle=(0, (1, 2)))
        if not written or level > written[-1] * 1.15:
            whose = ", ".join(who) if len(", ".join(who)) < _WHOSE_MOST else f"{len(who)} lines"
            axes.annotate(
                f"no cache: {level:.1f} ({whose})",
                (0, level),
                xycoords=("axes fraction", "data"),
                xytext=(4, 3),
                textcoords="offset points",
                fontsize=8,
                color="#444444",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.8},
            ).set_in_layout(False)  # or it would push the axes together
            written.append(level)


def _params(count: int) -> str:
    """Round sizes as they are typed, those of published tables to three digits."""
    exact = format_count(count)
    return exact if len(exact) < 7 else f"{count / 1e9:.3g}B"


def _legend(made, names: list[str], sizes: list[int], corpora: list[str]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D(
            [], [], color=COLOURS[index % len(COLOURS)], linewidth=2, label=name, markersize=5,
            marker=_marker(index) if not sizes else None,
        )
        for index, name in enumerate(names)
    ]  # fmt: skip
    handles += [
        Line2D([], [], color="#666666", linestyle="", marker=marker, label=f"{_params(size)} parameters")
        for size, marker in zip(sizes, cycle(MARKERS))
    ]
    if len(corpora) > 1:
        handles += [
            Line2D([], [], color="#666666", linestyle=("-", "--", ":", "-.")[index % 4], label=corpus)
            for index, corpus in enumerate(corpora)
        ]
    made.legend(handles=handles, loc="outside right upper", fontsize=9)
