"""The lines of ``flashsim sweep-cache --drives``."""

import click


def print_drives(groups, names: list[str], width: int) -> None:
    """How many drives help a step, and the shares of the least and the most loaded one: a line for each of ``groups``
    (key, rows of the sweep), a column for no cache and each cache."""
    first = groups[0][1].iloc[0]
    helping = f"drives that help, of {first.drives:.0f} by {first.shard}: reads of a step / those of its busiest drive"
    for title, figures_of in ((helping, _helping), ("share of a drive in all reads, least-most %", _shares)):
        click.echo(title)
        for name, (_, rows) in zip(names, groups, strict=True):
            no_cache, *figures = figures_of(rows)
            click.echo(f"{name:<{width}} {no_cache:>9} " + " ".join(f"{figure:>8}" for figure in figures))


def _helping(rows) -> list[str]:
    first = rows.iloc[0]
    pairs = [(first.reads / first.steps, first.no_cache_step_reads_busiest)]
    pairs += zip(rows["step_reads"], rows["step_reads_busiest"], strict=True)
    return [f"{reads / busiest:.2f}" if busiest else "-" for reads, busiest in pairs]


def _shares(rows) -> list[str]:
    made = []
    for text in (rows["no_cache_drive_reads"].iloc[0], *rows["drive_misses"]):
        loads = list(map(int, text.split()))
        ends, digits = (100 * min(loads), 100 * max(loads)), int(len(loads) > 9)
        made.append("-".join(f"{end / sum(loads):.{digits}f}" for end in ends) if any(loads) else "-")
    return made
