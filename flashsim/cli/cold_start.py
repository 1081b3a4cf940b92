"""``flashsim cold-start``: how a cache warms up, and runs that start from where another one ended."""

from pathlib import Path

import click

from flashsim.cli.figures import drawn
from flashsim.cli.layout_options import Listed
from flashsim.cli.options import Count
from flashsim.cli.progress import Progress
from flashsim.cli.sources import Sources, sources
from flashsim.cli.warm import WarmOptions, start_of, warm_options
from flashsim.units import format_bytes, parse_bytes

_KIND = "cold start"  # in the JSON beside the CSV


@click.command()
@sources(default_params=("20B",))
@click.option(
    "--cache", "caches", type=Listed("SIZE,...", parse_bytes), default="256MiB,1GiB", show_default=True,
    help="Sizes of LRU cache.",
)  # fmt: skip
@click.option("--window", type=Count(), default="100k", show_default=True, help="Tokens in a window.")
@click.option(
    "--within", type=click.IntRange(1, 99), default=10, show_default=True, metavar="PERCENT",
    help="Steady state: from there on every window is so close to the mean of the last quarter.",
)  # fmt: skip
@warm_options
@click.option(
    "--save-state", type=click.Path(path_type=Path), metavar="FILE.npy",
    help="Write the cache at the end, of every size at once; for one source and layout.",
)  # fmt: skip
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default="reports/cold_start.csv", show_default=True,
    help="CSV to write; .json, .svg and .png go beside it.",
)  # fmt: skip
def command(
    sources: Sources, caches: tuple[int, ...], window: int, within: int, warm: WarmOptions, save_state: Path | None,
    output: Path, backend: str,
) -> None:  # fmt: skip
    """How long an LRU page cache takes to warm up: reads/token in each window of tokens (SOURCES: token files, traces).

    Steady state begins with the first window from which on every whole window's reads/token is within --within of the
    mean over the last quarter. There is none where a window of the last quarter is not, or where over half of the
    reads there are still first touches of a page. With --warm-from, the pages loaded beforehand are printed, and the
    reads that they save: how many of them were asked for before they were evicted.
    """
    import pandas as pd

    from flashsim.files import write_facts, write_text
    from flashsim.studies import cache_state
    from flashsim.studies.cells import cells_of
    from flashsim.studies.cold_start import check, cold_start

    sources.check_output(output, _KIND)
    opened, layouts = sources.open()
    cells = cells_of(opened, layouts, sources.skip, sources.tokens)
    for cell in cells:
        check(cell, caches, window)
    if save_state:
        cache_state.check_state_path(save_state, cells, output)
    state = warm.open(cells)
    made = []
    with Progress(sum(cell.tokens for cell in cells), "tokens") as bar:
        for cell in cells:
            made.append(
                cold_start(cell, caches, window, warm=state and state.pages, backend=backend, progress=bar.update)
            )
    if save_state:
        cache_state.save_state(save_state, cells[0], made[0].recency, state)
    table = pd.concat([one.table() for one in made], ignore_index=True)
    write_text(output, table.to_csv(index=False, lineterminator="\n"))
    wishes = {
        "kind": _KIND, "cache_bytes": sorted(set(caches)), "window_tokens": window, "within_percent": within,
        "warm_from": state and state.described, "backend": backend,
    }  # fmt: skip
    write_facts(output, wishes | {"verdicts": _verdicts(made, within)} | sources.facts(opened, layouts))
    figures = drawn("cold_start", output)
    _print(made, within, window, start_of(state, made[0].names["unit"]))
    beside = [*([save_state] if save_state else []), output, output.with_suffix(".json"), *figures]
    click.echo(f"wrote {', '.join(map(str, beside))}", err=True)


def _verdicts(made, within: int) -> list[dict]:
    """The verdicts, as the JSON has them."""
    return [
        {"corpus": one.names["corpus"], "label": one.names["label"], "cache_bytes": size}
        | (verdict := one.verdict(index, within / 100))._asdict()
        | {"steady": verdict.steady, "loaded_pages": one.loaded[index], "saved_reads": int(one.saved[:, index].sum())}
        for one in made
        for index, size in enumerate(one.sizes)
    ]


def _print(made, within: int, window: int, start: str) -> None:
    """A line for each corpus, layout and cache."""
    names = [f"{one.names['corpus']} {one.names['label']} {format_bytes(size)}" for one in made for size in one.sizes]
    width = max(map(len, names)) + 1
    head = f"{'first window':>12} {'steady state':>12} {'full after':>13} {'steady after':>13}"
    warm = any(any(one.loaded) for one in made)  # a state may have 0 pages
    head += f" {'loaded':>11} {'reads saved':>19}" if warm else ""
    click.echo(f"{'reads/token':<{width}} {head}")
    lines = [(one, index) for one in made for index in range(len(one.sizes))]
    for name, (one, index) in zip(names, lines, strict=True):
        verdict = one.verdict(index, within / 100)
        figures = [
            f"{verdict.first:>12.3f}",
            f"{'none' if verdict.steady is None else f'{verdict.steady:.3f}':>12}",
            f"{'never' if verdict.tokens_to_full is None else f'{verdict.tokens_to_full:,}':>13}",
            f"{'never' if verdict.tokens_to_steady is None else f'{verdict.tokens_to_steady:,}':>13}",
        ]
        if warm:
            loaded, saved = one.loaded[index], int(one.saved[:, index].sum())
            figures += [f"{loaded:>11,} {saved:>11,}{f'= {saved / loaded:.1%}':>8}"]
        mark = " SYNTHETIC" if one.names["synthetic"] else ""
        click.echo(f"{name:<{width}} {' '.join(figures)}{mark}{_why_not(verdict)}")
    tokens = ", ".join(dict.fromkeys(f"{one.names['corpus']} {one.tokens.sum():,}" for one in made))
    click.echo(f"tokens: {tokens}; windows of {window:,}; steady = within {within} % of the last quarter; {start}")


def _why_not(verdict) -> str:
    if verdict.steady is not None:
        return ""
    from flashsim.studies.cold_start import COLD_SHARE

    mean = f"  last quarter {verdict.last_quarter:.3f}: "
    if verdict.cold_share > COLD_SHARE:
        return f"{mean}{verdict.cold_share:.0%} still first touches"
    return f"{mean}a window is {verdict.off:.1%} off, try a wider --window"
