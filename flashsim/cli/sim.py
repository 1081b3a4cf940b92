"""``flashsim sim``: misses of page caches over a trace that another tool made."""

from pathlib import Path

import click

from flashsim.cli.layout_options import Listed, backend
from flashsim.cli.options import Size
from flashsim.cli.progress import Progress
from flashsim.errors import UsageError
from flashsim.units import format_bytes, parse_bytes, parse_count

_KIND = "simulation"  # in the JSON beside the CSV
_PAGE_BYTES = 4096


@click.command()
@click.argument("trace", type=click.Path(path_type=Path))
@click.option(
    "--trace-format", "format", type=click.Choice(["oracleGeneral", "text", "npy"]),
    help="Format of the trace.  [default: told by its content]",
)  # fmt: skip
@click.option("--ignore-size", is_flag=True, help="Count objects of whatever size as 1 page each.")
@click.option(
    "--capacity", "capacities", type=Listed("PAGES,...", parse_count), default=(),
    help="Capacities in pages.  [default: doubling, the last 10 up to all pages]",
)  # fmt: skip
@click.option("--cache", "caches", type=Listed("SIZE,...", parse_bytes), default=(), help="Capacities in bytes.")
@click.option("--page", "page_bytes", type=Size(), help="Bytes of a page.  [default: what the trace says, else 4KiB]")
@click.option(
    "--policy", "policies", type=Listed("NAME,...", str), default="lru", show_default=True,
    help="Replacement policies: lru, fifo, clock, clock2, sieve, s3fifo, slru, 2q, arc, lfu, wtinylfu, random, and "
    "min, the bound.",
)  # fmt: skip
@backend
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default="reports/sim.csv", show_default=True,
    help="CSV to write; .json goes beside it.",
)  # fmt: skip
def command(
    trace: Path, format: str | None, ignore_size: bool, capacities: tuple[int, ...], caches: tuple[int, ...],
    page_bytes: int | None, policies: tuple[str, ...], backend: str, output: Path,
) -> None:  # fmt: skip
    """Misses of page caches over the file TRACE: libCacheSim's oracleGeneral, page ids as text (one a line), CSV with a
    header, or .npy; each of them as .zst too.

    Every object is one page. Ids may be any numbers from 0; those that lie far apart are numbered anew.
    """
    from flashsim.files import facts_path, require_writable, same_name, sha256_of, write_facts, write_text
    from flashsim.interop import read_trace
    from flashsim.studies.foreign import COLUMNS, Pages, simulate
    from flashsim.studies.ledger import to_csv
    from flashsim.trace_files import facts_beside

    if output.suffix != ".csv":
        raise UsageError(f"-o {output}: 1 CSV and a .json beside it are written: let the name end in .csv")
    if same_name(output, trace):
        raise UsageError(f"{output} is the trace itself (1 name, 2 meanings): choose another -o")
    facts_path(output, _KIND)
    require_writable(output)
    read = read_trace(trace, format, ignore_size)
    pages = Pages.of(read.ids)
    own = facts_beside(trace)
    if own:
        click.echo(f"note: {trace}: 1 of flashsim's own: sweep-cache knows its tokens and tells reads/token", err=True)
    for note in read.notes:
        click.echo(f"note: {trace}: {note}", err=True)
    if pages.known is not None:
        text = f"{pages.distinct:,} ids up to {pages.known[-1]} lie far apart: numbered 0 to {pages.distinct - 1:,}"
        click.echo(f"note: {trace}: {text}", err=True)
    said = own["unit_bytes"] if own else read.object_bytes
    page_bytes = _page_bytes(page_bytes, said)
    wanted = [*capacities, *_in_pages(caches, page_bytes)] or pages.capacities()
    if min(wanted) < 1:
        raise UsageError(f"--capacity {min(wanted)}: a cache holds 1 page or more")
    with Progress(len(read.ids), "references", "sim") as bar:
        rows = simulate(pages, wanted, policies, backend=backend, progress=bar.update)
    named = {"trace": trace.name, "format": read.format, "page_bytes": page_bytes, "backend": backend}
    rows = [named | row | {"cache_bytes": row["capacity_pages"] * page_bytes} for row in rows]
    write_text(output, to_csv(rows, ("trace", "format", *COLUMNS, "page_bytes", "cache_bytes", "backend")))
    facts = write_facts(
        output,
        {"kind": _KIND, "path": str(trace), "sha256": sha256_of(trace), "object_bytes": read.object_bytes}
        | {"renumbered": pages.known is not None, "notes": list(read.notes), "policies": list(policies)}
        | named,
    )
    _print(rows, own is not None and own["source"]["synthetic"])
    click.echo(f"wrote {output}, {facts.name}", err=True)


def _page_bytes(asked: int | None, said: int | None) -> int:
    """Bytes of a page; objects of 1 byte are how traces say that sizes do not matter."""
    if asked is not None and asked < 1:
        raise UsageError(f"--page {asked}B: a page has 1 byte or more")
    return asked or (said if said and said > 1 else _PAGE_BYTES)


def _in_pages(caches: tuple[int, ...], page_bytes: int) -> list[int]:
    if small := [size for size in caches if size < page_bytes]:
        least = format_bytes(page_bytes)
        raise UsageError(f"a cache of {small[0]} B holds no page of {page_bytes} B: take {least} or more, or --page")
    return [size // page_bytes for size in caches]


def _print(rows: list[dict], synthetic: bool) -> None:
    """Misses and their share of the references: a line for each capacity, two columns for each policy."""
    one, mark = rows[0], " SYNTHETIC" if synthetic else ""
    references, distinct, page_bytes = one["references"], one["distinct_pages"], one["page_bytes"]
    by_capacity: dict[int, list[dict]] = {}
    for row in rows:
        by_capacity.setdefault(row["capacity_pages"], []).append(row)
    counts = f"{references:,} references to {distinct:,} pages of {format_bytes(page_bytes)}"
    click.echo(f"{one['trace']}: {one['format']}, {counts}{mark}")
    wide = max(8, len(f"{references:,}"), *(len(row["policy"]) for row in rows))
    policies = dict.fromkeys(row["policy"] for row in rows)
    click.echo(f"{'capacity':>14} {'cache':>10}" + "".join(f" {name:>{wide}}  {'ratio':>6}" for name in policies))
    for capacity, held in by_capacity.items():
        figures = "".join(f" {row['misses']:>{wide},}  {row['miss_ratio']:.4f}" for row in held)
        click.echo(f"{capacity:>14,} {format_bytes(capacity * page_bytes):>10}{figures}")
