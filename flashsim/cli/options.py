"""Options that several commands share: how a token file is to be read."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import click

from flashsim.errors import UsageError
from flashsim.units import parse_bytes, parse_count

_EOT_LOOKED_FOR = 4_000_000  # tokens in which an EOT id should come up


class TokenOptions(NamedTuple):
    """What the user said about a token file; the fields are the arguments of ``open_tokens``."""

    format: str | None = None
    dtype: str | None = None
    eot: int | str | None = None
    documents: Path | None = None
    vocab_size: int | None = None


class Count(click.ParamType):
    """A count such as 65536, 200M or 20B."""

    name = "count"

    def convert(self, value, param, ctx) -> int:
        if isinstance(value, int):
            return value
        try:
            return parse_count(value)
        except UsageError as error:
            self.fail(str(error), param, ctx)


class Size(click.ParamType):
    """A size in bytes such as 4096B, 64MiB or 1.5GiB."""

    name = "size"

    def convert(self, value, param, ctx) -> int:
        if isinstance(value, int):
            return value
        try:
            return parse_bytes(value)
        except UsageError as error:
            self.fail(str(error), param, ctx)


class _Eot(click.ParamType):
    name = "id|none"

    def convert(self, value, param, ctx) -> int | str:
        if value == "none" or isinstance(value, int):
            return value
        if not (value.isascii() and value.isdigit() and len(value) < 11):
            self.fail(f"{value!r} is neither a token id (a whole number from 0) nor 'none'", param, ctx)
        return int(value)


def token_options(command: Callable) -> Callable:
    """Add the token options to a command, which gets them as one :class:`TokenOptions`, ``token_options``."""

    @click.option(
        "--format",
        type=click.Choice(["llmc", "npy", "megatron", "raw"]),
        help="Format of the token file.  [default: told by its content]",
    )
    @click.option(
        "--dtype",
        type=click.Choice(["uint16", "uint32"]),
        help="Width of raw ids.  [default: told by the content]",
    )
    @click.option(
        "--eot",
        type=_Eot(),
        help="Id of the token that ends its document; none: no document boundaries.  "
        "[default: what the file's index or the JSON beside it says, else none]",
    )
    @click.option(
        "--documents",
        type=click.Path(path_type=Path),
        metavar="FILE.npy",
        help="Document starts, as increasing token positions from 0, in place of --eot.",
    )
    @click.option(
        "--vocab-size",
        type=Count(),
        help="Ids in the vocabulary: larger ones are refused.  [default: what the JSON beside the file says]",
    )
    @functools.wraps(command)
    def with_options(*args, format, dtype, eot, documents, vocab_size, **kwargs):
        return command(*args, token_options=TokenOptions(format, dtype, eot, documents, vocab_size), **kwargs)

    return with_options


def open_token_file(path: Path, options: TokenOptions):
    """The :class:`~flashsim.tokens.TokenStream` of ``path``; choices made for the user are told on stderr."""
    from flashsim.tokens import open_tokens
    from flashsim.trace_files import refuse_part

    refuse_part(path)
    stream = open_tokens(path, **options._asdict())
    for note in stream.notes:
        click.echo(f"note: {note}", err=True)
    looked = stream.ids[:_EOT_LOOKED_FOR]
    if stream.eot is not None and not (looked == stream.eot).any():
        click.echo(f"note: {path}: EOT {stream.eot} is not in the first {len(looked):,} tokens: is it right?", err=True)
    return stream
