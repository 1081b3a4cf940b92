"""What ``trace`` and ``plan`` run: one token file through one layout."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from flashsim.cli.boundaries import note_boundaries, note_vocabulary
from flashsim.cli.layout_options import backend, layout_name, layout_values, params, slots
from flashsim.cli.options import Count, TokenOptions, open_token_file, token_options
from flashsim.errors import UsageError


@dataclass(frozen=True)
class OneLayout:
    """The command line's token file, layout, and the part of the file to run."""

    path: Path
    name: str
    slots: int | None
    params: int | None
    values: dict
    token_options: TokenOptions
    skip: int
    tokens: int | None

    def layout(self, **changed):
        """The layout, with some of its values ``changed``. Raises UsageError."""
        from flashsim.layouts import layout

        return layout(self.name, S=self.slots, params=self.params, **self.values | changed)

    @property
    def files(self) -> list[Path | None]:
        """Every file that is read."""
        values = [self.values[name] for name in ("vocab_map", "ngram_set", "weights")]
        return [self.path, Path(self.name) if self.name.endswith(".toml") else None, self.token_options.documents,
                *values]  # fmt: skip

    def open(self, layout) -> tuple:
        """(stream, begin, end): the tokens, and which of them to run through ``layout``. Raises UsageError or
        DataError."""
        from flashsim.trace import window
        from flashsim.trace_files import facts_beside

        if facts_beside(self.path):
            raise UsageError(f"{self.path} is a trace already (1 JSON beside it says so): give the token file")
        stream = open_token_file(self.path, self.token_options)
        note_boundaries(stream, [layout])
        return note_vocabulary(stream, [layout]), *window(stream, self.skip, self.tokens)


def one_layout(command: Callable) -> Callable:
    """Add CORPUS, the layout's options, the token options, --tokens, --skip and --backend; the command gets the first
    ones as one :class:`OneLayout`, ``source``, and ``backend``."""

    @click.argument("corpus", type=click.Path(path_type=Path))
    @layout_name
    @slots
    @params
    @layout_values
    @token_options
    @click.option("--tokens", type=Count(), help="Tokens to run.  [default: all]")
    @click.option("--skip", type=Count(), default=0, show_default=True, help="Tokens to leave out at the start.")
    @backend
    @functools.wraps(command)
    def with_source(corpus, name, S, params, values, token_options, tokens, skip, **kwargs):
        return command(source=OneLayout(corpus, name, S, params, values, token_options, skip, tokens), **kwargs)

    return with_source
