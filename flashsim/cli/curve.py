"""``flashsim curve``: the exact LRU curve, and how much RAM brings reads/token to a target."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import click

from flashsim.cli.layout_options import Listed
from flashsim.cli.options import Count
from flashsim.cli.progress import Progress
from flashsim.cli.sources import Sources, sources
from flashsim.cli.workload_options import WorkloadOptions, workload_options
from flashsim.errors import UsageError
from flashsim.studies.verdict import doublings_told
from flashsim.units import format_bytes, number_of


def _target(text: str) -> float:
    value = float(text)
    if not 0 <= value < 1e6:
        raise UsageError(f"{text!r} is not a number of reads/token: give one from 0 to 1,000,000")
    return value


@click.command()
@sources(default_params=("20B",))
@workload_options
@click.option(
    "--target", "targets", type=Listed("READS,...", _target), default="1.0,0.5", show_default=True,
    help="Reads/token to reach: prints the least cache that does.",
)  # fmt: skip
@click.option("--all", "every", is_flag=True, help="A CSV row for every capacity.  [default: 16 an octave]")
@click.option(
    "--sample", type=float, metavar="SHARE", help="Run a share of the pages only, like 0.01; prints the error."
)
@click.option("--warmup", type=Count(), default=0, show_default=True, help="First tokens, not counted.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default="reports/curve.csv", show_default=True,
    help="CSV to write; .json, .svg and .png go beside it.",
)  # fmt: skip
def command(
    sources: Sources, targets: tuple[float, ...], every: bool, sample: float | None, warmup: int, output: Path,
    backend: str, workload: WorkloadOptions,
) -> None:  # fmt: skip
    """Reads/token at every size of an LRU page cache, exactly, for token files or traces (SOURCES).

    Prints the least cache for each --target; the knee, where more cache begins to pay less, or that there is none; and
    what the last doublings of the cache save.
    """
    import pandas as pd

    from flashsim.figures.curve import draw
    from flashsim.files import write_facts, write_text
    from flashsim.studies.cells import cells_of
    from flashsim.studies.curve import curve
    from flashsim.studies.sampled import sampled_curve

    if sample is not None and (every or warmup):
        raise UsageError(f"--sample {sample:g} with --all or --warmup: 1 way at a time; leave the others out")
    sources.check_output(output, "curve")
    workloads = workload.made()
    opened, layouts = sources.open()
    cells = cells_of(opened, layouts, sources.skip, sources.tokens, workloads=workloads)
    facts = {"kind": "curve", "warmup_tokens": warmup, "sample": sample, "targets": list(targets), "backend": backend}
    facts["workloads"] = [one and asdict(one) for one in workloads]
    facts |= {"curves": []} | sources.facts(opened, layouts)
    tables = []

    def kept() -> str:
        stand = f"{len(tables)} of {number_of(len(cells), 'curve')} in {output}" if tables else "nothing was written"
        return f"{stand}: run it again"

    with Progress(sum(cell.tokens for cell in cells), "tokens", kept=kept) as bar:
        for cell in cells:
            if sample is None:
                made = curve(cell, warmup=warmup, backend=backend, progress=bar.update)
                tables.append(made.table(every))
            else:
                made = sampled_curve(cell, sample, backend=backend, progress=bar.update)
                tables.append(made.table())
            facts["curves"].append(made.answers(targets))
            write_text(output, pd.concat(tables, ignore_index=True).to_csv(index=False, lineterminator="\n"))
            write_facts(output, facts)
            bar.clear()
            (_print if sample is None else _print_sampled)(made, targets)
    figures = draw(output)
    beside = [output.with_suffix(".json"), *figures]
    click.echo(f"wrote {output}, {', '.join(path.name for path in beside)}", err=True)


def _name(made) -> str:
    from flashsim.workloads import PLAIN

    names = ("corpus", "label") if made.names["workload"] == PLAIN else ("corpus", "label", "workload")
    return " ".join(made.names[name] for name in names)


def _print(made, targets) -> None:
    synthetic = " SYNTHETIC" if made.names["synthetic"] else ""
    unit, reads, touched = made.names["unit"], made.reads_per_token, len(made.misses) - 1

    def size(capacity: int) -> str:
        return f"{number_of(capacity, unit, ',')} = {format_bytes(capacity * made.unit_bytes)}"

    click.echo(f"{_name(made)}{synthetic}, {made.counted.tokens:,} tokens:")
    click.echo(f"  no cache: {reads[0]:.3f} reads/token; room for all {size(touched)} touched: {reads[-1]:.3f}")
    for target in targets:
        capacity = made.capacity_for(target)
        if capacity is None:
            why = f"first touches alone are {reads[-1]:.3f}; a longer text has fewer a token, --warmup leaves them out"
            click.echo(f"  {target:g} reads/token: out of reach, {why}")
        else:
            click.echo(f"  {target:g} reads/token: {size(capacity)}")
    click.echo(f"  {_knee(made, size)}")
    if doublings := made.doublings():
        click.echo(f"  {doublings_told(doublings)}")


def _knee(made, size: Callable[[int], str]) -> str:
    knee, last = made.knee(), len(made.misses) - 1
    if knee is not None:
        before, after = made.a_doubling(1, knee), made.a_doubling(knee, last)
        return (
            f"knee: {made.reads_per_token[knee]:.3f} reads/token at {size(knee)}; "
            f"a doubling saves {before:.3f} on average up to it, {after:.3f} past it"
        )
    if last < 2:
        return f"no knee: {number_of(last, made.names['unit'])} of cache holds all"
    return (
        f"no knee: a doubling saves {made.a_doubling(1, last):.3f} on average, "
        f"and the last one, to all, still {made.saved(last // 2, last):.3f}"
    )


def _print_sampled(made, targets) -> None:
    synthetic = " SYNTHETIC" if made.names["synthetic"] else ""
    reads, error = made.misses / made.counted.tokens, made.error / made.counted.tokens
    click.echo(f"{_name(made)}{synthetic}, {made.counted.tokens:,} tokens, {made.rate:g} of the pages:")
    for target in targets:
        at = made.place_for(target)
        if at is None:
            click.echo(f"  {target:g} reads/token: not surely, the least is {reads[-1]:.3f} +- {error[-1]:.3f}")
            continue
        capacity = int(made.capacities[at])
        size = f"{number_of(capacity, made.names['unit'], ',')} = {format_bytes(capacity * made.unit_bytes)}"
        click.echo(f"  {target:g} reads/token: at most {size}, where it is {reads[at]:.3f} +- {error[at]:.3f}")
