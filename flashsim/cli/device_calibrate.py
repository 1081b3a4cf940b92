"""``flashsim device calibrate``: a drive of your own from a few measured points."""

import re
import time
from collections import Counter
from functools import partial
from pathlib import Path

import click

from flashsim.errors import UsageError
from flashsim.units import number_of


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--name", help="Name of the drive.  [default: that of the TOML file]")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default="drive.toml", show_default=True, help="TOML to write."
)
def command(files: tuple[Path, ...], name: str | None, output: Path) -> None:
    """Fit a model to points measured by `flashsim replay` or fio: two depths at least, such as 1 and 64.

    FILE is the JSON of a replay, or of fio (--rw=randread --direct=1 --output-format=json). Prints the model beside the
    points, and writes a drive for `flashsim replay --device`.
    """
    from tqdm import tqdm

    from flashsim.device.calibrate import calibrate, errors
    from flashsim.device.measured import measured
    from flashsim.device.spec import PARAMETERS, Source, to_toml
    from flashsim.files import refuse_inputs, require_writable, write_text

    name = output.stem if name is None else name
    if output.suffix != ".toml" or not re.fullmatch(r"[A-Za-z0-9._+-]+", name):
        raise UsageError(f"-o {output}, name {name!r}: 1 file NAME.toml is written, of letters, digits and '._+-'")
    refuse_inputs([output], files)
    require_writable(output)
    text = f"measured: {', '.join(path.name for path in files)}; parameters by flashsim device calibrate"
    points, source = measured(files), Source(text, time.strftime("%Y-%m-%d", time.gmtime()))
    drive = calibrate(points, name, source, partial(tqdm, desc="fit", unit=" models", disable=None))
    write_text(output, to_toml(drive))
    head = f"{'mode':<8} {'in flight':>9} {'':<7} {'reads/lookup':>12} {'lookups/s':>10} {'reads/s':>10} {'model':>10}"
    click.echo(f"{head} {'error':>7}")
    for point, error in zip(drive.points, errors(drive), strict=True):
        click.echo(
            f"{point.mode:<8} {point.in_flight:>9} {point.in_flight_unit:<7} {point.reads_per_lookup:>12g} "
            f"{point.reads_per_s / point.reads_per_lookup:>10,.0f} "
            f"{point.reads_per_s:>10,.0f} {point.model_reads_per_s:>10,.0f} {error:>+7.1%}"
        )
    for flag, times in Counter(flag for point in points for flag in point.flags).items():
        click.echo(f"flag {flag}: {times} of {number_of(len(points), 'point')}")
    for key, figure in drive.parameters.items():
        click.echo(f"{key:<6} {figure.value:>9.4g}  {PARAMETERS[key][1]}")
    if len({point.reads_in_flight for point in points}) == 2:
        click.echo("note: 2 depths do not tell how a drive queues; a third between them, such as 8, would", err=True)
    click.echo(f"wrote {output}", err=True)
