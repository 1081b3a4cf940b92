"""Starting with a saved cache: the option, its notes, and how a result's last line says it."""

from pathlib import Path

import click

warm_from = click.option(
    "--warm-from", type=click.Path(path_type=Path), metavar="FILE.npy",
    help="Start with the pages that `cold-start --save-state` wrote.  [default: cache empty]",
)  # fmt: skip


def open_state(path: Path | None, cells: list):
    """The :class:`~flashsim.studies.cache_state.CacheState` at ``path``, for runs of ``cells``; None where there is no
    path. Tokens that it has read before are told on stderr."""
    from flashsim.studies.cache_state import load_state

    if path is None:
        return None
    state = load_state(path, *cells)
    for cell in cells:
        if seen := state.seen(cell):
            click.echo(f"note: {path} has read {seen:,} of these {cell.tokens:,} tokens before", err=True)
    return state


def start_of(state, unit: str) -> str:
    """What the cache held at the start. unit: "page" or "row"."""
    if state is None:
        return "cache empty at the start"
    return f"cache warm at the start: {len(state.pages):,} {unit}s after {state.facts['tokens']:,} tokens"
