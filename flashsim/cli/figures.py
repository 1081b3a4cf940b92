"""``flashsim figures``: draw a figure again from its CSV."""

from pathlib import Path

import click


@click.group()
def command() -> None:
    """Draw a figure again from its CSV."""


@command.command()
@click.argument("csv", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Name without ending.  [default: the CSV's]")
def fig4a(csv: Path, output: Path | None) -> None:
    """Reads/token against cache size, from the CSV of `sweep-cache`; writes .svg and .png."""
    from flashsim.figures.fig4a import draw

    for path in draw(csv, output):
        click.echo(path)
