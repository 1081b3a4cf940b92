"""``flashsim export``: a trace in the format of another tool."""

from pathlib import Path

import click

from flashsim.cli.progress import Progress

KINDS = "oracleGeneral, oracleGeneral.bin, text or fio, each with .zst added to be packed"


@click.command()
@click.argument("trace", type=click.Path(path_type=Path))
@click.option("--to", "kind", required=True, metavar="KIND", help=f"{KINDS[0].upper()}{KINDS[1:]}.")
@click.option("--target", default="target", show_default=True, help="File name that fio's iolog gives to the drive.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="[default: beside the trace, with its ending]")
def command(trace: Path, kind: str, target: str, output: Path | None) -> None:
    """Write the trace TRACE.npy for another tool: libCacheSim's oracleGeneral, a page id a line, or fio's iolog.

    fio replays the reads with --read_iolog=FILE --replay_redirect=DEVICE --replay_no_stall=1; ids are pages of the
    table, so DEVICE has to hold it. In oracleGeneral an object is a page + 1 and of size 1: cache sizes count pages.
    """
    from flashsim.trace import Trace

    export_told(Trace.open(trace), kind, output, target)


def export_told(trace, kind: str, output: Path | None = None, target: str = "target") -> None:
    """Write ``trace`` as ``kind`` and print where it went."""
    from flashsim.interop import export_trace

    with Progress(len(trace.ids), "references", "export") as bar:
        path = export_trace(trace, kind, output, target, bar.update)
    click.echo(f"{path}: {len(trace.ids):,} references, {path.stat().st_size:,} bytes")
