"""``flashsim hot-set``: which share of the pages takes which share of the reads, and whether they stay the same."""

from pathlib import Path

import click

from flashsim.cli.progress import Progress
from flashsim.cli.sources import Sources, sources
from flashsim.units import format_bytes, number_of

_KIND = "hot set"  # in the JSON beside the CSV


@click.command()
@sources(default_params=("20B",))
@click.option("--unit", type=click.Choice(["page", "row"]), default="page", show_default=True, help="What is counted.")
@click.option(
    "--save-state", type=click.Path(path_type=Path), metavar="FILE.npy",
    help="Write what was read, the most read last, for --warm-from; for one source and layout.",
)  # fmt: skip
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default="reports/hot_set.csv", show_default=True,
    help="CSV to write; .json, .svg and .png go beside it.",
)  # fmt: skip
def command(sources: Sources, unit: str, save_state: Path | None, output: Path, backend: str) -> None:
    """Is there a hot set? The share of the reads that the most read pages take (SOURCES: token files, traces).

    Prints how much of the table takes 10 to 99 % of the reads; then, whether it could have been known: so many pages,
    the most read of the first half of the text, take so much of the second half's reads, and at best its own most read
    would; then the same by order of n-gram.
    """
    import pandas as pd

    from flashsim.figures.hot_set import draw
    from flashsim.files import write_facts, write_text
    from flashsim.studies import cache_state
    from flashsim.studies.cells import cells_of
    from flashsim.studies.hot_set import check, hot_set

    sources.check_output(output, _KIND)
    opened, layouts = sources.open()
    cells = cells_of(opened, layouts, sources.skip, sources.tokens, unit)
    for cell in cells:
        check(cell)
    if save_state:
        cache_state.check_state_path(save_state, cells, output)
    tables, facts = [], {"kind": _KIND, "unit": unit, "backend": backend} | sources.facts(opened, layouts)
    with Progress(
        sum(cell.tokens for cell in cells), "tokens",
        kept=lambda: f"{len(tables)} of {number_of(len(cells), 'cell')} kept in {output}: run it again for all",
    ) as bar:  # fmt: skip
        for cell in cells:
            made = hot_set(cell, backend=backend, progress=bar.update)
            tables.append(made.table())
            write_text(output, pd.concat(tables, ignore_index=True).to_csv(index=False, lineterminator="\n"))
            write_facts(output, facts)
            if save_state:
                cache_state.save_state(save_state, cell, made.coldest_first, order="by reads, fewest first")
            bar.clear()
            _print(made)
    figures = draw(output)
    beside = [*([save_state] if save_state else []), output, output.with_suffix(".json"), *figures]
    click.echo(f"wrote {', '.join(map(str, beside))}", err=True)


def _print(made) -> None:
    """A block for each corpus and layout: a column for each share of the reads."""
    from flashsim.studies.hot_set import PERCENTS

    names, unit, whole = made.names, made.names["unit"], made.parts[0]
    synthetic = " SYNTHETIC" if names["synthetic"] else ""
    click.echo(
        f"{names['corpus']} {names['label']}{synthetic}, {made.tokens:,} tokens: {whole.whole.total:,} reads of "
        f"{number_of(whole.distinct, unit, ',')}, {whole.distinct / whole.ids:.1%} of the table"
    )
    _line("share of the reads", [f"{percent} %" for percent in PERCENTS])
    for part in made.parts:
        if part is not whole:
            click.echo(f"  order {part.orders}: {part.whole.total:,} reads of {number_of(part.distinct, unit, ',')}")
        fewest = [part.whole.pages_for(percent) for percent in PERCENTS]
        _line(f"the fewest {unit}s that take it", [format_bytes(count * made.unit_bytes) for count in fewest])
        if part is whole:
            _line(f"of the {unit}s touched", [f"{count / part.distinct:.2%}" for count in fewest])
            _line("of the table", [f"{count / part.ids:.2%}" for count in fewest])
        _line("chosen by half 1, of half 2's reads", [f"{share:.1%}" for share in part.later.share(fewest)])
        _line("chosen by half 2 itself", [f"{share:.1%}" for share in part.bound.share(fewest)])


def _line(name: str, values: list[str]) -> None:
    click.echo(f"    {name:<36}" + "".join(f"{value:>11}" for value in values))
