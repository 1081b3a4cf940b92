"""Starting with a saved cache: the options, their notes, and how a result's last line says it."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from flashsim.cli.options import Size
from flashsim.errors import UsageError
from flashsim.units import number_of


@dataclass(frozen=True)
class WarmOptions:
    """The command line's state to start from, as given. size: bytes of it to load; None = all."""

    path: Path | None
    size: int | None

    def open(self, cells: list):
        """The :class:`~flashsim.studies.cache_state.CacheState`, for runs of ``cells``; None where there is no path.
        Tokens that it has read before are told on stderr. Raises UsageError or DataError."""
        from flashsim.studies.cache_state import load_state

        if self.path is None:
            if self.size is not None:
                raise UsageError(f"--warm {self.size} B of what? give --warm-from FILE.npy with it")
            return None
        state = load_state(self.path, *cells)
        for cell in cells:
            if seen := state.seen(cell):
                click.echo(f"note: {self.path} has read {seen:,} of these {cell.tokens:,} tokens before", err=True)
        return state if self.size is None else state.last(self.size, cells[0])


def warm_options(command: Callable) -> Callable:
    """Add the options of a warm start to a command, which gets them as one :class:`WarmOptions`, ``warm``."""

    @click.option(
        "--warm-from", type=click.Path(path_type=Path), metavar="FILE.npy",
        help="Start with the pages that --save-state of `cold-start` or `hot-set` wrote.  [default: cache empty]",
    )  # fmt: skip
    @click.option(
        "--warm", "warm_bytes", type=Size(), metavar="SIZE",
        help="Load so much of --warm-from, its last pages: what a smaller cache would have kept.  [default: all]",
    )  # fmt: skip
    @functools.wraps(command)
    def with_warm(*args, warm_from, warm_bytes, **kwargs):
        return command(*args, warm=WarmOptions(warm_from, warm_bytes), **kwargs)

    return with_warm


def start_of(state, unit: str) -> str:
    """What the cache held at the start. unit: "page" or "row"."""
    if state is None:
        return "cache empty at the start"
    pages, tokens = len(state.pages), state.facts["tokens"]
    return f"cache warm at the start: {number_of(pages, unit, ',')} after {number_of(tokens, 'token', ',')}"
