"""``flashsim sweep-cache``: reads/token against the size of the page cache."""

from dataclasses import asdict
from pathlib import Path

import click

from flashsim.cli.boundaries import boundaries
from flashsim.cli.drives_print import print_drives
from flashsim.cli.figures import drawn
from flashsim.cli.layout_options import Listed
from flashsim.cli.options import Count, open_token_file
from flashsim.cli.progress import Progress
from flashsim.cli.sources import Sources, sources
from flashsim.cli.warm import WarmOptions, start_of, warm_options
from flashsim.cli.workload_options import WorkloadOptions, workload_options
from flashsim.errors import UsageError
from flashsim.units import format_bytes, number_of, parse_bytes

_KIND = "cache sweep"  # in the JSON beside the CSV
_CACHES = ("64MiB", "128MiB", "256MiB", "512MiB", "1GiB", "2GiB", "4GiB", "8GiB", "16GiB")  # of the report's Fig. 4a


@click.command()
@sources()
@workload_options
@click.option("--cache", "caches", type=Listed("SIZE,...", parse_bytes), help="[default: 64MiB to 16GiB, doubling]")
@click.option(
    "--policy", "policies", type=Listed("NAME,...", str), default="lru", show_default=True,
    help="Replacement policies: lru, fifo, clock, clock2, sieve, s3fifo, slru, 2q, arc, lfu, wtinylfu, random, and "
    "min, the bound.",
)  # fmt: skip
@click.option("--unit", type=click.Choice(["page", "row"]), default="page", show_default=True, help="What is cached.")
@click.option(
    "--entry-bytes", type=click.IntRange(0), default=0, show_default=True,
    help="RAM that an entry of the cache takes beside its page or row (index, links).",
)  # fmt: skip
@click.option("--pin", "pin_bytes", metavar="SIZE", help="RAM of every cache that holds what --pin-from reads most.")
@click.option(
    "--pin-from", type=click.Path(path_type=Path), metavar="FILE",
    help="Token file to count reads in: not one of the SOURCES, or what is scored would choose its own pins.",
)  # fmt: skip
@click.option(
    "--split", type=click.Choice(["order", "head"]), help="An equal share of the cache for each, not one for all."
)
@click.option("--per-token", is_flag=True, help="Also the reads of single tokens: p50, p99 and most.")
@click.option(
    "--drives", type=int, metavar="N", help="Also the load of each of N drives that the table is spread over."
)
@click.option(
    "--shard", type=click.Choice(["page", "rows", "head", "robin"]),
    help="What a drive holds: every N-th page, a range of the rows, whole tables of heads in order, or in turn.  "
    "[default: page]",
)  # fmt: skip
@warm_options
@click.option(
    "--warmup", type=Count(), default=0, show_default=True, help="First tokens, not counted; after --warm-from."
)
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Cells to run at a time.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default="reports/cache_sweep.csv", show_default=True,
    help="CSV to write; .json, .svg and .png go beside it.",
)  # fmt: skip
def command(
    sources: Sources, caches: tuple[int, ...] | None, policies: tuple[str, ...], warmup: int, jobs: int, output: Path,
    backend: str, unit: str, entry_bytes: int, pin_bytes: str | None, pin_from: Path | None, split: str | None,
    per_token: bool, drives: int | None, shard: str | None, warm: WarmOptions, workload: WorkloadOptions,
) -> None:  # fmt: skip
    """Reads/token of page caches of many sizes, exactly, for token files or traces (SOURCES).

    With nothing else it runs the report's Fig. 4a - flat, engram and pagegram S=4 at 3.2, 10 and 20 billion parameters,
    LRU caches from 64 MiB to 16 GiB - on a demo corpus of real text, which it makes on first use (a few minutes).
    Killed and called again with the same wishes, it does only what is missing.
    """
    from flashsim.cache.engine import check_policies
    from flashsim.studies.cache_sweep import COLUMNS, KEY, Ways, check, sweep_cache
    from flashsim.studies.cells import cells_of
    from flashsim.studies.drives import Sharding
    from flashsim.studies.estimate import estimate, require_memory
    from flashsim.studies.ledger import Ledger
    from flashsim.trace import source_facts

    sources.check_output(output, _KIND, pin_from, warm.path)
    sizes = [parse_bytes(cache) for cache in _CACHES] if caches is None else list(caches)
    check_policies(policies)  # before a file is opened
    _check_pinning(pin_bytes, pin_from, sources)
    if shard and drives is None:
        raise UsageError(f"--shard {shard} over 0 drives: give --drives")
    sharding = None if drives is None else Sharding(drives, shard or "page")
    pinned, workloads = parse_bytes(pin_bytes) if pin_bytes else 0, workload.made()
    opened, layouts = sources.open()
    ways = Ways(
        unit=unit,
        entry_bytes=entry_bytes,
        pin_bytes=pinned,
        pin_from=open_token_file(pin_from, sources.token_options) if pin_from else None,
        split=split,
        per_token=per_token,
        sharding=sharding,
    )
    cells = cells_of(opened, layouts, sources.skip, sources.tokens, unit, workloads)
    state = warm.open(cells)
    check(cells, sizes, policies, warmup, ways, state)
    needs = estimate(cells, policies, sizes, jobs, backend, len(state.pages) if state else 0)
    require_memory(needs.memory_bytes, cells, "take --jobs 1, fewer --cache at a time, or a smaller table")
    wishes = {
        "cache_bytes": sizes, "policies": list(policies), "warmup_tokens": warmup, "backend": backend, "unit": unit,
        "entry_bytes": entry_bytes, "pin_bytes": ways.pin_bytes, "split": split, "per_token": per_token,
        "sharding": sharding and asdict(sharding),
        "pin_from": source_facts(ways.pin_from) if ways.pin_from else None,
        "workloads": [one and asdict(one) for one in workloads],
        "warm_from": state and state.described | {"start": {policy: _start(policy) for policy in policies}},
    }  # fmt: skip
    ledger = Ledger(output, _KIND, COLUMNS, KEY, wishes | sources.facts(opened, layouts))
    if ledger.done:
        click.echo(f"{output}: going on after {number_of(len(ledger.done), 'cell')} of an earlier run", err=True)
    runs = len(cells) * len(policies)
    if needs.seconds >= 1 or needs.memory_bytes >= 1 << 28:  # what is over at once need not be announced
        click.echo(
            f"{number_of(runs, 'cell')}, {needs.references:,} references, {number_of(len(sizes), 'cache')}: about "
            f"{format_bytes(needs.memory_bytes)} of memory, {round(needs.seconds):,} s or up to three times that",
            err=True,
        )
    total = sum(cell.tokens for cell in cells) * len(policies)
    with Progress(total, "tokens", "sweep", kept=ledger.told) as bar:
        table = sweep_cache(
            opened, layouts, sizes, policies=policies, ways=ways, workloads=workloads, skip=sources.skip,
            tokens=sources.tokens, warm=state, warmup=warmup, jobs=jobs, backend=backend, done=ledger.done,
            progress=bar.update, finished=ledger.keep,
        )  # fmt: skip
    ledger.close()
    figures = drawn("fig4a" if len(policies) == 1 else "policies", output)
    _print(table, state)
    click.echo(f"boundary: {boundaries(opened, layouts)}")
    beside = [output.with_suffix(".json"), *figures]
    click.echo(f"wrote {output}, {', '.join(path.name for path in beside)}", err=True)


def _check_pinning(size: str | None, path: Path | None, sources: Sources) -> None:
    if (size is None) != (path is None):
        raise UsageError("--pin SIZE and --pin-from FILE: 1 of the 2 is missing")
    if path and any(source.exists() and path.exists() and source.samefile(path) for source in sources.paths):
        raise UsageError(f"--pin-from {path} is 1 of the sources: count reads on another file than the one scored")


def _start(policy: str) -> str:
    """How a policy takes the pages of a saved state; min has them in the trace that it knows."""
    return "exactly the saved LRU state" if policy == "lru" else "the saved pages read once, oldest first, uncounted"


def _print(table, state) -> None:
    """Reads/token: a line for each corpus, layout, workload and policy, a column for each cache."""
    from flashsim.workloads import PLAIN

    sizes = sorted(set(table["cache_bytes"]))
    shown = ["corpus", "label", *(name for name in ("workload", "policy") if table[name].nunique() > 1)]
    groups = list(table.groupby(shown, sort=False))
    names = [" ".join(name) for name, _ in groups]
    width = max(map(len, names)) + 1
    click.echo(f"{'reads/token':<{width}} {'no cache':>9} " + " ".join(f"{format_bytes(size):>8}" for size in sizes))
    for name, (_, rows) in zip(names, groups, strict=True):
        by_size = dict(zip(rows["cache_bytes"], rows["reads_per_token"], strict=True))
        figures = " ".join(f"{by_size[size]:>8.3f}" if size in by_size else f"{'':>8}" for size in sizes)
        mark = " SYNTHETIC" if rows["synthetic"].any() else ""
        no_cache = rows["reads"].iloc[0] / rows["tokens"].iloc[0]
        click.echo(f"{name:<{width}} {no_cache:>9.3f} {figures}{mark}")
    if table["token_reads_max"].notna().any():
        click.echo("reads of one token, p50/p99/most")
        for name, (_, rows) in zip(names, groups, strict=True):
            quantiles = rows[["token_reads_p50", "token_reads_p99", "token_reads_max"]].astype(int)
            figures = " ".join(f"{'/'.join(map(str, row)):>8}" for row in quantiles.itertuples(index=False))
            click.echo(f"{name:<{width}} {'':>9} {figures}")
    if table["drives"].notna().any():
        print_drives(groups, names, width)
    counted = dict.fromkeys(f"{row.corpus} {row.tokens:,}" for row in table.itertuples())
    warmup = int(table["warmup_tokens"].iloc[0])
    policies, unit = list(dict.fromkeys(table["policy"])), table["unit"].iloc[0]
    start = [start_of(state, unit)] if state or not warmup else []
    start += [f"after {warmup:,} tokens of warm-up"] if warmup else []
    if state and (others := [policy for policy in policies if policy != "lru"]):
        start += [f"{', '.join(others)}: {_start(others[0])}"]
    ways = [", ".join(policies), *start]
    if (workloads := list(dict.fromkeys(table["workload"]))) != [PLAIN]:
        ways.append(f"each page is read once in a step ({'; '.join(workloads)})")
    if pinned := int(table["pinned_pages"].max()):
        ways.append(f"{number_of(pinned, unit, ',')} pinned beforehand, which is not counted")
    click.echo(f"tokens counted: {', '.join(counted)}; {'; '.join(ways)}")
