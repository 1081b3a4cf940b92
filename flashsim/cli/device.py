"""``flashsim device``: the drives that can be modelled, one of them in figures, and how to make one of your own."""

import click

from flashsim.cli import LazyGroup

COMMANDS = {
    "list": ("device_list", "List the drives there are, and which are templates."),
    "show": ("device_show", "Print a drive's figures, their sources, and its curve."),
    "calibrate": ("device_calibrate", "Make a drive from the JSON of a replay or of fio."),
}


@click.command(cls=LazyGroup, table=COMMANDS)
def command() -> None:
    """Models of drives: list them, show one, calibrate one."""
