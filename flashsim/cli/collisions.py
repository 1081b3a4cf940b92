"""``flashsim collisions``: what n-grams that collide share, beside its closed form."""

from itertools import groupby
from pathlib import Path

import click

from flashsim.cli.progress import Progress
from flashsim.cli.sources import Sources, sources
from flashsim.errors import UsageError

_KIND = "collisions"  # in the JSON beside the CSV


@click.command()
@sources(default_params=("200M",))
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

    from flashsim.figures.collisions import draw
    from flashsim.files import write_facts, write_text
    from flashsim.studies.cells import cells_of
    from flashsim.studies.collisions import COUNTED_MOST, DRAWN, SEED, check, collisions
    from flashsim.tokens.ngrams import distinct_ngrams
    from flashsim.trace import facts_beside

    sources.check_output(output, _KIND)
    for path in sources.paths:
        if facts_beside(path):
            raise UsageError(f"{path} is a trace, which has 0 n-grams in it: give the token file")
    opened, layouts = sources.open()
    for layout in layouts:
        check(layout)
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
    figures = draw(output) if table["extra_heads"].notna().any() else []
    _print(table)
    click.echo(f"wrote {', '.join(map(str, [output, output.with_suffix('.json'), *figures]))}", err=True)


def _shared_heads(made) -> list[dict]:
    """The histograms, as the JSON has them: of the collisions counted, how many share [1, 2, ...] heads."""
    return [
        {"corpus": one.names["corpus"], "label": one.names["label"], "order": one.ngrams.order}
        | {"exact": one.exact, "collisions_by_shared_heads": one.counted.sum(axis=0)[1:].tolist()}
        for one in made
    ]


def _print(table) -> None:
    names = [f"{row.corpus} {row.label}" for row in table.itertuples()]
    width = max(map(len, names))
    lines = [
        (
            "", "order", "n-grams", "a row", "var/mean", "foreign", "another head", "extra heads", "shared",
            "neighbours", "of engram's",
        )
    ]  # fmt: skip
    for name, row in zip(names, table.itertuples(), strict=True):
        lines.append(
            (
                name,
                str(row.order),
                f"{row.ngrams:,}",
                f"{row.ngrams_per_row:.2f}",
                f"{row.variance_over_mean:.3f}",
                f"{row.foreign_share:.1%}",
                _beside(row, "p_another", "{:.3%}"),
                _beside(row, "extra_heads", "{:.4f}"),
                "-" if row.shared_share != row.shared_share else f"{row.shared_share:.1%}",
                f"{row.neighbours:.1f}",
                _beside(row, "neighbours_relative", "{:.4f}") + (" SYNTHETIC" if row.synthetic else ""),
            )
        )
    widths = [width, *(max(len(line[column]) for line in lines) for column in range(1, len(lines[0])))]
    for line in lines:
        cells = [f"{text:>{size}}" for text, size in zip(line[1:], widths[1:], strict=True)]
        click.echo("  ".join([f"{line[0]:<{widths[0]}}", *cells]).rstrip())


def _beside(row, name: str, form: str) -> str:
    """A measured value, the standard error where it has one, and the closed form in brackets."""
    value, error, closed = (getattr(row, name + ending) for ending in ("", "_error", "_closed"))
    if value != value:
        return "-"
    spread = f" +- {100 * error:.1g}%" if form.endswith("%}") else f" +- {error:.1g}"
    return f"{form.format(value)}{spread if error else ''} [{form.format(closed)}]"
