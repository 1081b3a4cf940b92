"""``flashsim layouts``: the layouts there are, and what one of them is in figures."""

import click

from flashsim.cli.layout_options import layout_values, params, slots


@click.group(invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """List the table layouts, or show one in figures."""
    if context.invoked_subcommand is None:
        from flashsim.layouts import load_spec, preset_names

        for name in preset_names():
            spec = load_spec(name)
            click.echo(f"{name:<10} {spec.title} [{spec.source}]")


@command.command()
@click.argument("name", metavar="NAME|FILE.toml")
@slots
@params
@layout_values
def show(name: str, S: int | None, params: int | None, values: dict) -> None:
    """Print what the layout NAME is: rows, buckets, primes, bytes, pages, reads a token before any cache."""
    from flashsim.layouts import layout

    for fact, value in list(_facts(layout(name, S=S, params=params, **values))):
        click.echo(f"{fact:<22} {value}")


def _facts(made):
    from flashsim.units import format_bytes

    rows, placement = made.spec.rows, made.spec.placement
    yield "layout", f"{made.label}: {made.spec.title}"
    yield "source", made.spec.source or "none given"
    yield "n-grams", f"orders {', '.join(map(str, made.orders))}; never past their document's start"
    yield "hash", f"{made.spec.hash.family}, seed {made.spec.hash.seed}"
    yield "heads (K)", made.heads
    if made.slots:
        yield "slots (S)", f"{made.slots} a head in a bucket"
    yield "parameters", f"{made.params:,} ({made.params / made.params_asked - 1:+.4%} of {made.params_asked:,} asked)"
    yield "row", f"{rows.width} x {rows.format} = {made.row_bytes} B"
    yield "rows", f"{made.rows:,}"
    what = {"whole": "rows an order", "heads": "rows a head (primes)", "bucket": "buckets an order (primes)"}
    per_line = 8
    for at in range(0, len(made.sizes), per_line):
        sizes = ", ".join(f"{size:,}" for size in made.sizes[at : at + per_line])
        yield what[rows.addressing] if at == 0 else "", sizes
    if made.slots:
        yield "bucket", f"{made.rows_per_bucket} rows, {made.bucket_bytes:,} B"
        if made.buckets_per_page:
            yield "buckets a page", made.buckets_per_page
        else:
            yield "pages a bucket", made.pages_per_bucket
    yield "page", f"{format_bytes(made.page_bytes)}, {placement.rule}"
    yield "rows a page", f"{made.rows / made.pages:.4g}" if made.slots else made.rows_per_page
    yield "pages", f"{made.pages:,}"
    yield "table", f"{made.table_bytes:,} B = {format_bytes(made.table_bytes)}"
    yield "padding", f"{made.padding:.1%} of the table"
    yield "reads/token, no cache", made.reads_per_token
