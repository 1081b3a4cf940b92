"""Options that name layouts and change their values, shared by ``layouts show``, ``trace`` and ``sweep-cache``."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from flashsim.cli.options import Count
from flashsim.errors import UsageError
from flashsim.units import parse_count


class Listed(click.ParamType):
    """Comma-separated values, such as ``64MiB,1GiB`` or ``2,3``; ``read`` makes each from its text."""

    def __init__(self, name: str, read: Callable[[str], Any]) -> None:
        self.name, self._read = name, read

    def convert(self, value, param, ctx) -> tuple:
        if isinstance(value, tuple):
            return value
        try:
            return tuple(self._read(part.strip()) for part in value.split(","))
        except (UsageError, ValueError) as error:
            return self.fail(str(error), param, ctx)


_VALUES = (
    "heads", "width", "orders", "row_format", "seed", "page", "placement", "base", "resident", "vocab_map", "raw_ids",
    "ngram_set", "weights", "tensor",
)  # fmt: skip


def layout_values(command: Callable) -> Callable:
    """Add the options that change a layout's values; the command gets them as the dict ``values``, for ``layout()``."""
    options = (
        click.option("--heads", type=click.IntRange(1), help="Heads K: rows an order reads.  [default: the layout's]"),
        click.option("--width", type=click.IntRange(1), help="Numbers in a row.  [default: the layout's]"),
        click.option(
            "--orders", type=Listed("n,n", parse_count), help="n of the n-grams.  [default: the layout's, 2,3]"
        ),
        click.option(
            "--row-format",
            help="nf4, fp8, bf16, q8_0, q4_k ...: `layouts formats`; sweeps take several (,).  [default: the layout's]",
        ),
        click.option("--seed", type=click.IntRange(0), help="Seed of the hash.  [default: the layout's, 0]"),
        click.option("--page", metavar="SIZE", help="Bytes of a read, like 4KiB.  [default: the layout's, 4KiB]"),
        click.option(
            "--placement",
            type=click.Choice(["page-aligned", "packed", "planar"]),
            help="How rows lie on the drive.  [default: the layout's]",
        ),
        click.option(
            "--base",
            type=Listed("BYTES,...", int),
            help="Byte at which the table begins in its file, or one for each layer.  [default: 0]",
        ),
        click.option("--resident", type=Listed("PART,...", str), help="Parts kept in RAM (planar), like scales."),
        click.option(
            "--vocab-map",
            type=click.Path(path_type=Path),
            metavar="FILE.npy",
            help="Id that is hashed for each token id (Engram's compressed vocabulary).",
        ),
        click.option("--raw-ids", is_flag=True, default=None, help="Hash the file's ids where a map is wanted."),
        click.option(
            "--ngram-set",
            type=click.Path(path_type=Path),
            metavar="FILE.npy",
            help="The n-grams that have rows (longest-match layouts).",
        ),
        click.option(
            "--weights",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="A .gguf or .safetensors file: where the table begins in it, and its row format.",
        ),
        click.option("--tensor", multiple=True, metavar="NAME", help="Its matrix: of the table, or one a layer."),
    )

    @functools.wraps(command)
    def with_values(*args, **kwargs):
        values = {name: kwargs.pop(name) for name in _VALUES}
        if values["base"] is not None and len(values["base"]) == 1:
            values["base"] = values["base"][0]
        return command(*args, values=values | {"tensor": values["tensor"] or None}, **kwargs)

    for option in reversed(options):
        with_values = option(with_values)
    return with_values


layout_name = click.option(
    "--layout",
    "name",
    default="pagegram",
    show_default=True,
    metavar="NAME|FILE.toml",
    help="Layout: a preset or a file.",
)
slots = click.option("--S", "S", type=click.IntRange(1), help="Slots a head in a bucket.  [default: the layout's, 4]")
params = click.option("--params", type=Count(), help="Parameters of the table, like 3.2B.  [default: 20B]")
backend = click.option(
    "--backend", type=click.Choice(["c", "numba"]), default="c", show_default=True, help="Which kernels."
)
