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
            mark = " (UNCERTAIN parts: see show)" if spec.uncertain else ""
            click.echo(f"{name:<19} {spec.title} [{spec.source}]{mark}")


@command.command()
def formats() -> None:
    """List the row formats: --row-format, and the parts that placement planar keeps apart."""
    from flashsim.layouts.formats import FORMATS

    for name, row_format in FORMATS.items():
        parts = ", ".join(f"{part.name} {part.bytes} B/{part.block or 'row'}" for part in row_format.parts)
        click.echo(f"{name:<13} {parts:<52} {row_format.about}")


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

    spec, rows, placement = made.spec, made.spec.rows, made.spec.placement
    buckets, placed = made.slots is not None, made.placed
    reach = {"document": "their document's start", "sequence": "the start of the stream (documents leak)"}
    missing = {
        "skip": "then they read nothing",
        "filler": f"what is out of reach counts as token {spec.ngrams.filler}",
        "reserved": "then they read a reserved row",
    }
    yield "layout", f"{made.label}: {spec.title}"
    yield "source", spec.source or "none given"
    for at, doubt in enumerate(spec.uncertain):
        yield "" if at else "UNCERTAIN", doubt
    yield "n-grams", f"orders {', '.join(map(str, made.orders))}; never past {reach[spec.ngrams.boundary]}"
    yield "", missing[spec.ngrams.missing]
    yield "hash", f"{spec.hash.family}, seed {spec.hash.seed}"
    if spec.hash.layers:
        yield "layers", f"{len(spec.hash.layers)}: {', '.join(map(str, spec.hash.layers))}, tables of their own each"
    yield "heads (K)", made.heads
    if buckets:
        yield "slots (S)", f"{made.slots} a head in a bucket"
    of_asked = f" ({made.params / made.params_asked - 1:+.4%} of {made.params_asked:,} asked)"
    yield "parameters", f"{made.params:,}{'' if spec.fixed else of_asked}"
    on_drive = f", {made.drive_row_bytes} B of it on the drive" if made.drive_row_bytes != made.row_bytes else ""
    yield "row", f"{rows.width} x {rows.format} = {made.row_bytes} B{on_drive}"
    yield "rows", f"{made.rows:,}; a token reads {made.rows_per_token}"
    what = {"whole": "rows an order", "heads": "rows a head", "bucket": "buckets an order (primes)"}
    per_line = 8
    for at in range(0, len(made.sizes), per_line):
        sizes = ", ".join(f"{size:,}" for size in made.sizes[at : at + per_line])
        yield what[rows.addressing] if at == 0 else "", sizes
    if buckets:
        yield "bucket", f"{made.rows_per_bucket} rows, {made.bucket_bytes:,} B"
        if made.buckets_per_page:
            yield "buckets a page", made.buckets_per_page
        else:
            yield "pages a bucket", made.pages_per_bucket
    shards = f", {placement.shards} shards" if placement.shards > 1 else ""
    yield "page", f"{format_bytes(made.page_bytes)}, {placement.rule}{shards}"
    for region in placed.regions if placed and placement.rule == "planar" else ():
        where = "in RAM" if region.resident else f"from byte {', '.join(f'{start:,}' for start in region.starts)}"
        yield f"  {region.name}", f"{region.row_bytes} B a row, {where}"
    if placed and placed.resident_bytes:
        yield "in RAM", f"{placed.resident_bytes:,} B = {format_bytes(placed.resident_bytes)}"
    per_page = made.rows / made.pages if buckets else made.page_bytes / made.drive_row_bytes
    if placement.rule == "page-aligned" and not buckets and per_page >= 1:
        per_page = int(per_page)
    yield "rows a page", f"{per_page:.4g}"
    yield "straddling rows", f"{made.straddle_share:.2%}"
    yield "pages a row", f"{made.pages_per_row:.4f}"
    yield "amplification", f"{made.pages_per_row * made.page_bytes / made.drive_row_bytes:.1f} bytes read a byte used"
    yield "pages", f"{made.pages:,}"
    yield "table", f"{made.table_bytes:,} B = {format_bytes(made.table_bytes)}"
    yield "padding", f"{made.padding:.1%} of the table"
    yield "reads/token, no cache", f"{made.reads_per_token:.4g}"
