"""``flashsim sweep-cache``: reads/token against the size of an LRU page cache."""

from functools import partial
from pathlib import Path

import click

from flashsim.cli.layout_options import Listed, backend, layout_values
from flashsim.cli.options import Count, TokenOptions, open_token_file, token_options
from flashsim.errors import UsageError
from flashsim.units import format_bytes, parse_bytes, parse_count

_KIND = "cache sweep"  # in the JSON beside the CSV

# The report's experiment (PageGram report, Fig. 4a).
_LAYOUTS, _PARAMS = ("flat", "engram", "pagegram"), ("3.2B", "10B", "20B")
_CACHES = ("64MiB", "128MiB", "256MiB", "512MiB", "1GiB", "2GiB", "4GiB", "8GiB", "16GiB")


@click.command()
@click.argument("sources", nargs=-1, type=click.Path(path_type=Path))
@click.option("--layout", "names", type=Listed("NAME,...", str), multiple=True, help=f"[default: {','.join(_LAYOUTS)}]")
@click.option("--S", "slots", type=Listed("S,...", parse_count), help="Slots a head in a bucket.  [default: 4]")
@click.option("--params", type=Listed("COUNT,...", parse_count), help=f"Table sizes.  [default: {','.join(_PARAMS)}]")
@layout_values
@click.option("--cache", "caches", type=Listed("SIZE,...", parse_bytes), help="[default: 64MiB to 16GiB, doubling]")
@click.option("--warmup", type=Count(), default=0, show_default=True, help="First tokens, not counted.")
@click.option("--tokens", type=Count(), help="Tokens to run.  [default: all]")
@click.option("--skip", type=Count(), default=0, show_default=True, help="Tokens to leave out at the start.")
@token_options
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Cells to run at a time.")
@backend
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default="reports/cache_sweep.csv", show_default=True,
    help="CSV to write; .json, .svg and .png go beside it.",
)  # fmt: skip
def command(
    sources: tuple[Path, ...], names: tuple, slots: tuple[int, ...] | None, params: tuple[int, ...] | None,
    values: dict, caches: tuple[int, ...] | None, warmup: int, tokens: int | None, skip: int,
    token_options: TokenOptions, jobs: int, backend: str, output: Path,
) -> None:  # fmt: skip
    """Reads/token of LRU page caches of many sizes, exactly, for token files or traces (SOURCES).

    With nothing else it runs the report's Fig. 4a - flat, engram and pagegram S=4 at 3.2, 10 and 20 billion parameters,
    caches from 64 MiB to 16 GiB - on a demo corpus of real text, which it makes on first use (a few minutes).
    """
    from tqdm import tqdm

    from flashsim.figures.fig4a import draw
    from flashsim.files import facts_path, require_writable
    from flashsim.studies.cache_sweep import sweep_cache
    from flashsim.studies.cells import cells_of
    from flashsim.tokens.stream import TokenStream
    from flashsim.trace import Trace, facts_beside, layout_facts, source_facts

    if output.suffix != ".csv":
        raise UsageError(f"-o {output}: 1 CSV and the files beside it are written: let the name end in .csv")
    facts_path(output, _KIND)
    require_writable(output)
    layouts = _layouts([name for group in names for name in group] or _LAYOUTS, slots, params, values)
    if not sources:
        from flashsim.corpora.demo import demo_corpus

        sources = (demo_corpus(),)
    opened = [Trace.open(path) if facts_beside(path) else open_token_file(path, token_options) for path in sources]
    given = [names or None, slots, params, *values.values(), *token_options]
    if all(isinstance(source, Trace) for source in opened) and any(value is not None for value in given):
        raise UsageError(
            f"{len(opened)} traces have their layouts and tokens already: give --layout, its values and the options of "
            "token files to `trace`"
        )
    streams = [source for source in opened if isinstance(source, TokenStream)]
    layouts = layouts if streams else []
    for stream in streams:
        if stream.boundary == "none":
            click.echo(f"note: {stream.path}: 0 document boundaries: n-grams cross them; --eot ID marks them", err=True)
    sizes = [parse_bytes(cache) for cache in _CACHES] if caches is None else list(caches)
    total = sum(cell.tokens for cell in cells_of(opened, layouts, skip, tokens))
    facts = {
        "kind": _KIND,
        "cache_bytes": sizes,
        "skip": skip,
        "tokens": tokens,
        "warmup_tokens": warmup,
        "backend": backend,
        "layouts": [layout_facts(made) for made in layouts],
        "sources": [
            source_facts(source) if isinstance(source, TokenStream) else {"trace": str(source.path)} | source.facts
            for source in opened
        ],
    }
    with tqdm(total=total, unit=" tokens", unit_scale=True, disable=None, desc="sweep") as bar:
        table = sweep_cache(
            opened, layouts, sizes, skip=skip, tokens=tokens, warmup=warmup, jobs=jobs, backend=backend,
            progress=bar.update, finished=partial(_keep, output, facts),
        )  # fmt: skip
    figures = draw(output)
    _print(table)
    beside = [output.with_suffix(".json"), *figures]
    click.echo(f"wrote {output}, {', '.join(path.name for path in beside)}", err=True)


def _layouts(names, slots, params, values) -> list:
    """Every layout at every size; ``slots`` multiply those that have buckets."""
    from flashsim.layouts import layout, load_spec

    has_slots = [name for name in names if load_spec(name).rows.slots is not None]
    if slots and not has_slots:
        raise UsageError(f"--S {slots[0]}: none of the {len(names)} layouts has buckets: add --layout pagegram")
    return [
        layout(name, S=S, params=size, **values)
        for size in params or [parse_count(size) for size in _PARAMS]
        for name in names
        for S in (slots if slots and name in has_slots else (None,))
    ]


def _keep(output: Path, facts: dict, rows: list[dict]) -> None:
    """Replace the CSV and the JSON beside it, as each cell ends."""
    import pandas as pd

    from flashsim.files import write_facts, write_text
    from flashsim.studies.cache_sweep import COLUMNS

    write_text(output, pd.DataFrame(rows, columns=list(COLUMNS)).to_csv(index=False, lineterminator="\n"))
    write_facts(output, facts)


def _print(table) -> None:
    """Reads/token: a line for each corpus and layout, a column for each cache."""
    sizes = sorted(set(table["cache_bytes"]))
    width = max(len(f"{row.corpus} {row.label}") for row in table.itertuples()) + 1
    click.echo(f"{'reads/token':<{width}} {'no cache':>9} " + " ".join(f"{format_bytes(size):>8}" for size in sizes))
    for (corpus, label), rows in table.groupby(["corpus", "label"], sort=False):
        by_size = dict(zip(rows["cache_bytes"], rows["reads_per_token"], strict=True))
        figures = " ".join(f"{by_size[size]:>8.3f}" if size in by_size else f"{'':>8}" for size in sizes)
        mark = " SYNTHETIC" if rows["synthetic"].any() else ""
        no_cache = rows["reads"].iloc[0] / rows["tokens"].iloc[0]
        click.echo(f"{f'{corpus} {label}':<{width}} {no_cache:>9.3f} {figures}{mark}")
    tokens = ", ".join(f"{count:,}" for count in sorted(set(table["tokens"])))
    click.echo(f"tokens counted: {tokens}; LRU, cache empty at the start")
