"""The LRU curve: reads/token at every cache size, from the CSV of ``curve`` alone."""

from pathlib import Path

from flashsim.figures.style import COLOURS, figure, reads_axis, save, size_axis
from flashsim.figures.tables import also, read_table

_NEEDED = ("corpus", "synthetic", "label", "workload", "cache_bytes", "tokens", "reads", "reads_per_token")
_LEAST_BYTES = 1 << 20  # caches under 1 MiB are in the CSV, but nobody builds them


def draw(csv: str | Path, stem: str | Path | None = None) -> list[Path]:
    """Draw the curves in ``csv`` as ``stem``.svg and .png (beside the CSV by default); return their paths.

    Raises DataError where ``csv`` is not such a table.
    """
    table = read_table(Path(csv), _NEEDED, "curve")
    if "sample_rate" in table:
        table = read_table(Path(csv), (*_NEEDED, "reads_per_token_error"), "curve")
    shown = table[table["cache_bytes"] >= min(_LEAST_BYTES, table["cache_bytes"].max())]
    sampled = "sample_rate" in shown
    with figure(8.4, 4.8) as (made, axes):
        by = ["corpus", "label", "workload"]
        for index, ((corpus, label, workload), line) in enumerate(shown.groupby(by, sort=False)):
            synthetic = " (SYNTHETIC)" if line["synthetic"].any() else ""
            axes.plot(
                line["cache_bytes"],
                line["reads_per_token"],
                color=COLOURS[index % len(COLOURS)],
                linewidth=1.6,
                label=f"{corpus} {label}{also(workload)}{synthetic}",
            )
            if sampled:
                reads, error = line["reads_per_token"], line["reads_per_token_error"]
                colour = COLOURS[index % len(COLOURS)]
                axes.fill_between(
                    line["cache_bytes"], reads - error, reads + error, color=colour, alpha=0.25, linewidth=0
                )
        least, most = int(shown["cache_bytes"].min()), int(shown["cache_bytes"].max())
        size_axis(axes, [1 << octave for octave in range(least.bit_length(), most.bit_length())] or [least, most])
        lower = shown["reads_per_token"] - (shown["reads_per_token_error"] if sampled else 0)
        reads_axis(axes, max(shown["reads_per_token"]) * 1.35, min(lower))
        tokens = " / ".join(f"{count:,}" for count in sorted(set(table["tokens"])))
        how = (
            f"SAMPLED, {table['sample_rate'].iloc[0]:g} of the pages, 99.9 % band"
            if sampled
            else "exact, every capacity"
        )
        axes.set_title(f"LRU, {how}; {tokens} tokens", fontsize=10, loc="left")
        made.legend(loc="outside right upper", fontsize=9)
        return save(made, stem or Path(csv).with_suffix(""))
