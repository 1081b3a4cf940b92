"""``flashsim trace``: token file in, page trace out."""

from pathlib import Path

import click

from flashsim.cli.boundaries import boundary_of
from flashsim.cli.export import KINDS, export_told
from flashsim.cli.one_layout import OneLayout, one_layout
from flashsim.cli.progress import Progress
from flashsim.cli.workload_options import WorkloadOptions, workload_options


@click.command()
@one_layout
@workload_options
@click.option("--unit", type=click.Choice(["page", "row"]), default="page", show_default=True, help="What an id names.")
@click.option("--export", "exports", multiple=True, metavar="KIND", help=f"Write it beside that as {KINDS} too.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="[default: traces/CORPUS.LAYOUT.npy]")
def command(
    source: OneLayout, unit: str, exports: tuple[str, ...], backend: str, output: Path | None, workload: WorkloadOptions
) -> None:
    """Hash the token file CORPUS into the pages that it reads through a layout.

    Writes uint32 page ids in access order (NAME.npy), the facts of the run (NAME.json) and, where tokens at document
    starts read less than the others, the reads of each token (NAME.counts.npy).
    """
    from flashsim.files import refuse_inputs, require_writable
    from flashsim.interop import check_export, export_path
    from flashsim.trace import Trace, write_trace

    asked, made = workload.one(), source.layout()
    stream, begin, end = source.open(made)
    label = made.label if unit == "page" else f"{made.label}-row"
    if asked:
        label += f".{asked.label.replace(',', '').replace(' %', 'pct').replace(' ', '-')}"
    output = output or Path("traces") / f"{stream.name}.{label}.npy"
    for kind in exports:
        check_export(kind, unit)
        require_writable(export_path(output, kind))
    if output.suffix == ".npy":  # else write_trace refuses it
        refuse_inputs([output, *(output.with_suffix(f".{beside}.npy") for beside in ("counts", "steps"))], source.files)
    with Progress(end - begin, "tokens", made.label) as bar:
        facts = write_trace(
            output, stream, made, unit=unit, skip=source.skip, tokens=source.tokens, backend=backend, workload=asked,
            progress=bar.update,
        )  # fmt: skip
    missing = ", ".join(f"{count:,} of order {order}" for order, count in facts["missing_lookups"].items() if count)
    synthetic = " (SYNTHETIC stream)" if stream.synthetic else ""
    click.echo(f"{output}: {facts['ids']:,} {unit} ids of {facts['tokens']:,} tokens{synthetic}")
    click.echo(
        f"{facts['ids'] / facts['tokens']:.4f} {unit}s/token before any cache; boundary: {boundary_of(stream, [made])}"
    )
    if shared := facts["workload"]:
        wasted = f", {shared['wasted_reads'] / facts['tokens']:.4f} of them for wrong drafts" if asked.draft else ""
        click.echo(
            f"{asked.label}: {shared['steps']:,} steps; {shared['references'] / facts['tokens']:.4f} {unit}s/token "
            f"before the tokens of a step share them{wasted}"
        )
    if made.spec.hash.family == "longest-match":
        click.echo(f"tokens that no n-gram of the set ends with: {facts['tokens'] - facts['lookups']:,}")
    elif made.spec.ngrams.missing == "skip":
        click.echo(f"lookups left out at document starts: {missing or 0}")
    for kind in exports:
        export_told(Trace.open(output), kind)
