"""``flashsim collisions``: what n-grams that collide share, beside its closed form."""

from itertools import groupby
from pathlib import Path

import click

from flashsim.cli.figures import drawn
from flashsim.cli.progress import Progress
from flashsim.cli.sources import Sources, sources
from flashsim.errors import UsageError

_KIND = "collisions"  # in the JSON beside the CSV
_PARAMS = "200M"


@click.command()
@sources(default_params=(_PARAMS,))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default="reports/collisions.csv", show_default=True,
    help="CSV to write; .json, .svg and .png go beside it.",
)  # fmt: skip
def command(sources: Sources, output: Path, backend: str) -> None:
    """What n-grams that collide share: single rows, and heads (SOURCES: token files).

    Counted over the distinct n-grams inside documents, of each order by itself. In [brackets] is the closed form of a
    hash that scatters n-grams evenly. Where one head has over 2^31 collisions, 2^21 of them are drawn, and the standard
    error follows +-.
    """
    import pandas as pd

    from flashsim.files import write_facts, write_text
    from flashsim.studies.cells import cells_of
    from flashsim.studies.collisions import COUNTED_MOST, DRAWN, SEED, check, collisions
    from flashsim.tokens.ngrams import distinct_ngrams
    from flashsim.trace_files import facts_beside

    sources.check_output(output, _KIND)
    for path in sources.paths:
        if facts_beside(path):
            raise UsageError(f"{path} is a trace, which has 0 n-grams in it: give the token file")
    opened, layouts = sources.open()
    for layout in layouts:
        check(layout)
    if not sources.params and not all(layout.spec.fixed for layout in layouts):
        click.echo(f"note: tables of {_PARAMS} parameters: --params takes others", err=True)
    cells = cells_of(opened, layouts, sources.skip, sources.tokens)
    orders = sorted({order for layout in layouts for order in layout.orders})
    made, heads = [], sum(cell.layout.heads * len(cell.layout.orders) for cell in cells)
    with Progress(heads, "heads", unit_scale=False) as bar:
        for _, group in groupby(cells, key=lambda cell: id(cell.source)):
            group = list(group)
            ngrams = distinct_ngrams(group[0].source, orders, group[0].begin, group[0].end)
            for cell in group:
                made += collisions(cell, ngrams, backend=backend, progress=bar.update)
    table = pd.DataFrame([one.row() for one in made])
    write_text(output, table.to_csv(index=False, lineterminator="\n"))
    facts = {"kind": _KIND, "counted_most": COUNTED_MOST, "drawn": DRAWN, "seed": SEED, "backend": backend}
    write_facts(output, facts | {"shared_heads": _shared_heads(made)} | sources.facts(opened, layouts))
    figures = drawn("collisions", output)
    _print(table)
    click.echo(f"wrote {', '.join(map(str, [output, output.with_suffix('.json'), *figures]))}", err=True)


def _shared_heads(made) -> list[dict]:
    """The histograms, as the JSON has them: of the collisions counted, how many share [1, 2, ...] heads."""
    return [
        {"corpus": one.names["corpus"], "label": one.names["label"], "order": one.ngrams.order}
        | {"exact": one.exact, "collisions_by_shared_heads": one.counted.sum(axis=0)[1:].tolist()}
        for one in made
    ]


_HEAD = (
    ("", "", "n-grams", "variance", "foreign,", "share another", "other heads", "neighbours,"),
    ("", "n", "a row", "/ mean", "%", "head, %", "shared", "of engram's"),
)


def _print(table) -> None:
    """For each corpus a line for each layout and order; in brackets the closed forms."""
    lines = [
        (
            row.label,
            str(row.order),
            f"{row.ngrams_per_row:.2f}",
            f"{row.variance_over_mean:.3f}",
            f"{row.foreign_share:.1%}".rstrip("%"),
            _beside(row, "p_another", 3, scale=100),
            _beside(row, "extra_heads", 4),
            _beside(row, "neighbours_relative", 4),
        )
        for row in table.itertuples()
    ]
    widths = [max(map(len, column)) for column in zip(*_HEAD, *lines, strict=True)]
    for corpus, rows in table.groupby("corpus", sort=False):
        ngrams = ", ".join(
            f"{count:,} {order}-grams" for order, count in rows.groupby("order")["ngrams"].first().items()
        )
        synthetic = " (SYNTHETIC)" if rows["synthetic"].any() else ""
        click.echo(f"{corpus}{synthetic}: {ngrams} in {rows['tokens'].iloc[0]:,} tokens")
        for line in (*_HEAD, *(lines[at] for at in rows.index)):
            cells = [f"{text:>{size}}" for text, size in zip(line[1:], widths[1:], strict=True)]
            click.echo("  ".join([f"{line[0]:<{widths[0]}}", *cells]).rstrip())


def _beside(row, name: str, digits: int, scale: int = 1) -> str:
    """A measured value, the standard error where it has one, and the closed form in brackets."""
    value, error, closed = (scale * getattr(row, name + ending) for ending in ("", "_error", "_closed"))
    if value != value:
        return "-"
    spread = f" +- {error:.1g}" if error else ""
    return f"{value:.{digits}f}{spread} [{closed:.{digits}f}]"
