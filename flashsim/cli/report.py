"""``flashsim report``: the results of a folder as one HTML page."""

from pathlib import Path

import click

from flashsim.errors import DataError, UsageError
from flashsim.units import number_of


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default="report.html", show_default=True,
    help="HTML page to write.",
)  # fmt: skip
def command(folder: Path, output: Path) -> None:
    """Put the results in the folder DIR into one HTML page: figures, tables, and how each was made.

    The page needs no other file and no network, and can be read on a phone. A result is a CSV with its .json, as
    sweep-cache, curve, replay and others write them; what cannot be read is named, here and in the page.
    """
    from flashsim.files import refuse_inputs, require_writable, write_text
    from flashsim.report.page import page
    from flashsim.report.results import read_folder

    if output.suffix != ".html":
        raise UsageError(f"-o {output}: 1 HTML page is written: let the name end in .html")
    require_writable(output)
    read = read_folder(folder)
    refuse_inputs([output], read.files)
    for why in read.left_out:
        click.echo(f"note: {folder}: left out: {why}", err=True)
    if not read.results:
        what = f"0 results, {number_of(len(read.left_out), 'file')} left out"
        raise DataError(f"{folder}: {what}: give the folder of a study's .csv and .json, like reports")
    write_text(output, page(read))
    click.echo(output)
