"""A plan as a picture, from its CSV alone: what each workload asks of the drive, and what each next step would buy."""

from pathlib import Path

import numpy as np

from flashsim.errors import DataError
from flashsim.figures.style import COLOURS, figure, save
from flashsim.figures.tables import read_table
from flashsim.units import format_bytes, number_of

_NEEDED = (
    "corpus", "synthetic", "label", "case", "workload", "cache_bytes", "drive", "tokens", "references_per_token",
    "shared_per_token", "reads_per_token", "reads_per_token_least", "reads_per_token_most", "gain",
)  # fmt: skip
_AS_ASKED = "as asked"
_STAGES = {"references_per_token": "asked", "shared_per_token": "shared in a step", "reads_per_token": "read"}


def draw(csv: str | Path, stem: str | Path | None = None) -> list[Path]:
    """Draw the plan in ``csv`` as ``stem``.svg and .png (beside the CSV by default); return their paths.

    Raises DataError where ``csv`` is not such a table.
    """
    table = read_table(Path(csv), _NEEDED, "plan")
    asked = table[table["case"] == _AS_ASKED]
    held = table.groupby("workload", sort=False)["case"].agg(list)
    if asked.empty or len(held) < 2 or any(sorted(names) != sorted(set(table["case"])) for names in held):
        raise DataError(
            f"{csv}: {number_of(len(table), 'row')}, not each case once for each of 2 workloads or more, "
            f"{_AS_ASKED!r} among them: give the CSV of one plan, uncut"
        )
    loads, cases = list(asked["workload"]), [case for case in dict.fromkeys(table["case"]) if case != _AS_ASKED]
    with figure(10.4, 1.6 + 0.42 * max(len(cases), 6), 1, 2) as (made, axes):
        _reads(axes[0][0], asked, loads)
        _gains(axes[0][1], table, loads, cases)
        row = asked.iloc[0]
        synthetic = " (SYNTHETIC)" if row["synthetic"] else ""
        made.suptitle(
            f"{row['label']} on {row['drive']}, {format_bytes(int(row['cache_bytes']))} of cache; "
            f"{row['corpus']}{synthetic}, {row['tokens']:,} tokens",
            fontsize=10,
        )
        return save(made, stem or Path(csv).with_suffix(""))


def _reads(axes, asked, loads: list[str]) -> None:
    """Pages a token: asked for, shared in a step, read from the drive, with the least and most of eight parts."""
    places, width = np.arange(len(loads)), 0.27
    reads = asked["reads_per_token"]
    spread = [reads - asked["reads_per_token_least"], asked["reads_per_token_most"] - reads]
    for number, (column, name) in enumerate(_STAGES.items()):
        bars = axes.bar(
            places + (number - 1) * width, asked[column], width * 0.92, label=name, color=COLOURS[(4, 0, 1)[number]],
            yerr=spread if column == "reads_per_token" else None, error_kw={"ecolor": "#444444", "elinewidth": 1},
        )  # fmt: skip
        axes.bar_label(bars, [f"{value:.3g}" for value in asked[column]], fontsize=8, padding=1)
    axes.set_xticks(places, loads)
    axes.set_ylabel("pages / token")
    axes.set_ylim(0, max(asked["references_per_token"]) * 1.25)
    axes.grid(axis="x", visible=False)
    axes.legend(fontsize=8, loc="upper center", ncols=3, columnspacing=1)


def _gains(axes, table, loads: list[str], cases: list[str]) -> None:
    """Tokens/s of each case over those of the plan."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    for number, load in enumerate(loads):
        gains = table[table["workload"] == load].set_index("case")["gain"]
        places = np.arange(len(cases)) + (number - (len(loads) - 1) / 2) * 0.22
        axes.scatter([gains.get(case, np.nan) for case in cases], places, s=26, color=COLOURS[number], label=load)
        axes.hlines(places, 1, [gains.get(case, np.nan) for case in cases], color=COLOURS[number], linewidth=1.6)
    axes.axvline(1, color="#444444", linewidth=1)
    axes.set_xscale("log", base=2)
    low, high = axes.get_xlim()
    axes.set_xlim(min(low, 0.8), max(high, 2.2))
    axes.xaxis.set_major_locator(LogLocator(base=2))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} x"))
    axes.set_yticks(np.arange(len(cases)), cases, fontsize=9)
    axes.set_ylim(len(cases) - 0.4, -0.6)
    axes.set_xlabel("tokens/s over the plan's")
    axes.legend(fontsize=8, loc="upper right", frameon=True, framealpha=0.9, edgecolor="none")
