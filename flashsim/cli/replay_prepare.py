"""``flashsim replay prepare``: a file or device filled with pages that a replay can verify."""

import sys
from pathlib import Path

import click

from flashsim.cli.options import Size
from flashsim.cli.progress import Progress
from flashsim.errors import UsageError


@click.command("prepare")
@click.argument("file", type=click.Path())  # a Path would lose the slash of a folder
@click.option("--size", type=Size(), help="Bytes to fill, like 10GiB.")
@click.option(
    "--for", "trace", type=click.Path(path_type=Path), metavar="TRACE.npy",
    help="In place of --size: as many as hold every page of this trace's table.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), default=0, show_default=True, help="Of the pages' content.")
@click.option("--force", is_flag=True, help="Replace a file that is there, or write to a block device.")
def command(file: str, size: int | None, trace: Path | None, seed: int, force: bool) -> None:
    """Fill FILE with stamped pages: 4,096 bytes each of their own number, a checksum, and data that does not compress.

    The file grows as FILE.partial; what a killed run wrote is read back and gone on from. A device that is mounted,
    partitioned or in use is refused even with --force.
    """
    from tqdm import tqdm

    from flashsim.device.prepare import prepare
    from flashsim.files import refuse_inputs
    from flashsim.trace import Trace
    from flashsim.units import format_bytes

    if (size is None) == (trace is None):
        raise UsageError("give 1 of --size and --for: how large a target is to be made")
    if trace is not None:
        refuse_inputs([file], [trace, trace.with_suffix(".json"), trace.with_suffix(".counts.npy")])
        facts = Trace.open(trace).facts
        if facts["unit"] != "page":
            raise UsageError(f"{trace}: 1 trace of rows, a drive reads pages: trace it with --unit page")
        size = facts["ids_below"] * facts["unit_bytes"]

    def note(text: str) -> None:
        tqdm.write(f"note: {text}", file=sys.stderr)

    def kept() -> str:
        return f"what was written to {file} by then stays: the same command goes on from there"

    with Progress(size, "bytes", "prepare", kept=kept, unit_divisor=1024) as bar:
        made = prepare(file, size, seed=seed, force=force, progress=bar.update, note=note)
    what = f"{made.path}: {format_bytes(made.size)}, {made.size // 4096:,} stamped pages, seed {made.seed}"
    if made.kept == made.size and not made.seconds:
        click.echo(f"{what}: already prepared")
    else:
        written = format_bytes(made.size - made.kept)
        click.echo(f"{what}: {written} written in {made.seconds:.1f} s, {made.gb_per_s:.2f} GB/s")
