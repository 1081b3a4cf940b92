"""``flashsim figures``: draw a figure again from its CSV."""

import importlib
from pathlib import Path

import click

from flashsim.errors import DataError

# command -> (module under flashsim.figures, one line of help)
FIGURES = {
    "fig4a": ("fig4a", "Reads/token against cache size, from the CSV of `sweep-cache` with one policy."),
    "fig4b": ("fig4b", "Lookups/s against reads in flight, from the CSV of `replay`."),
    "policies": ("policies", "Policies beside one another, from the CSV of `sweep-cache` with several."),
    "curve": ("curve", "Reads/token at every cache size, from the CSV of `curve`."),
    "cold-start": ("cold_start", "Reads/token by window, from the CSV of `cold-start`."),
    "plan": ("plan", "What workloads ask of a drive, and what would help, from the CSV of `plan`."),
    "hot-set": ("hot_set", "The share of the reads that the most read pages take, from the CSV of `hot-set`."),
    "collisions": ("collisions", "What colliding n-grams share against S, from the CSV of `collisions`."),
}


@click.group()
def command() -> None:
    """Draw a figure again from its CSV."""


def drawn(module: str, csv: Path) -> list[Path]:
    """The files of the figure beside a result; none where the result fits no picture, and a note says why."""
    try:
        return importlib.import_module(f"flashsim.figures.{module}").draw(csv)
    except DataError as error:
        for ending in (".svg", ".png"):  # of an earlier result
            csv.with_suffix(ending).unlink(missing_ok=True)
        click.echo(f"note: no figure: {error}", err=True)
        return []


def _redraw(name: str, module: str, text: str) -> click.Command:
    @click.command(name, help=text)
    @click.argument("csv", type=click.Path(path_type=Path))
    @click.option("-o", "--output", type=click.Path(path_type=Path), help="Name without ending.  [default: the CSV's]")
    def redraw(csv: Path, output: Path | None) -> None:
        for path in importlib.import_module(f"flashsim.figures.{module}").draw(csv, output):
            click.echo(path)

    return redraw


for _name, (_module, _text) in FIGURES.items():
    command.add_command(_redraw(_name, _module, _text))
