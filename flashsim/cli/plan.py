"""``flashsim plan``: will this drive do, and what would help?"""

import json
from dataclasses import asdict
from pathlib import Path

import click

from flashsim.cli.layout_options import Listed
from flashsim.cli.one_layout import OneLayout, one_layout
from flashsim.cli.options import Count, Size
from flashsim.cli.progress import Progress
from flashsim.errors import UsageError
from flashsim.units import parse_bytes, parse_count, parse_time

_KIND = "plan"  # in the JSON beside the CSV
_ANY_SIZE = ("pagegram", "flat", "engram")  # layouts that can have as many parameters as any other
_NEEDS_NONE = ("pagegram", "flat")  # beside which PageGram need not be held


def _layers(text: str) -> tuple[tuple[int, ...], int]:
    layers, slash, of = text.partition("/")
    if not slash:
        raise UsageError(f"--layers {text}: say of how many (0 given), like 1,14/61")
    return tuple(sorted(parse_count(layer.strip()) for layer in layers.split(","))), parse_count(of.strip())


@click.command()
@one_layout
@click.option("--cache", type=Size(), default="1GiB", show_default=True, help="RAM for a cache of pages.")
@click.option("--device", metavar="NAME|FILE", help="Model of the drive: `device list`, or one that was calibrated.")
@click.option(
    "--latency", metavar="TIME", help="In place of --device, with --iops: a read alone takes that, like 80us."
)
@click.option("--iops", type=Count(), help="The most reads a second, like 500k.")
@click.option("--bandwidth", metavar="SIZE", help="The most bytes a second, like 3GB.")
@click.option("--streams", type=Count(), default=8, show_default=True, help="Documents decoded side by side.")
@click.option("--prefill", type=Count(), default=2048, show_default=True, help="Tokens of a chunk of prefill.")
@click.option("--in-flight", type=Count(), default=64, show_default=True, help="Reads that are out at a time.")
@click.option("--compute", metavar="TIME", help="A token takes that without a drive, like 20ms: says what is hidden.")
@click.option(
    "--layers", metavar="N,.../OF", help="Layers of the model that read the table, and how many it has, like 1,14/61."
)
@click.option(
    "--against", type=Listed("NAME,...", str), help="Layouts of as many parameters to hold beside.  [default: pagegram]"
)
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default="reports/plan.csv", show_default=True,
    help="CSV to write; .json, .svg and .png go beside it.",
)  # fmt: skip
def command(
    source: OneLayout, cache: int, device: str | None, latency: str | None, iops: int | None, bandwidth: str | None,
    streams: int, prefill: int, in_flight: int, compute: str | None, layers: str | None,
    against: tuple[str, ...] | None, as_json: bool, backend: str, output: Path,
) -> None:  # fmt: skip
    """Say what a layout asks of a drive on the tokens of CORPUS, what binds, and what each next step would buy.

    Reads are exact: the last quarter of the tokens (500,000 at most) is counted for one stream, --streams and prefill,
    the rest warms the cache before. Tokens/s are what a model of the drive makes of them: the drive's ceiling, whatever
    the model's own arithmetic takes.
    """
    from flashsim.cli.plan_print import told
    from flashsim.figures.plan import draw
    from flashsim.files import check_result, write_facts, write_text
    from flashsim.studies.ledger import to_csv
    from flashsim.studies.plan import COLUMNS, Wishes, plan, work
    from flashsim.trace import layout_facts, source_facts

    check_result(output, _KIND, source.files)
    made = source.layout()
    drive = _drive(device, latency, iops, bandwidth, made.page_bytes)
    drive.require_calibrated()
    known = made.spec.hash.layers
    if layers is None and known and compute:
        click.echo(f"note: {len(known)} layers read the table, {known}: --layers {','.join(map(str, known))}/OF says "
                   "of how many, and the plan how early their reads are there", err=True)  # fmt: skip
    wishes = Wishes(
        cache_bytes=cache, streams=streams, prefill=prefill, in_flight=in_flight,
        compute_us=parse_time(compute) / 1000 if compute else None, layers=_layers(layers) if layers else None,
        others=_others(source, made, against),
    )  # fmt: skip
    wishes.check(made)
    stream, begin, end = source.open(made)
    with Progress(work(end - begin, wishes), "tokens", "plan") as bar:
        found = plan(stream, made, drive, wishes, begin=begin, end=end, backend=backend, progress=bar.update)
    facts = {
        "kind": _KIND,
        "layout": layout_facts(made),
        "others": {case: layout_facts(other) for case, other in wishes.others.items()},
        "uncertain": list(made.spec.uncertain),
        "source": source_facts(stream),
        "drive": drive.facts(),
        "cache_bytes": cache,
        "warm_tokens": found.warm_tokens,
        "counted_tokens": found.tokens,
        "compute_us": wishes.compute_us,
        "stall_us": found.stall_us,
        "slack": [asdict(one) for one in found.slack],
        "loads": {load.label: found.load(load.label) for load in wishes.workloads},
        "notes": found.notes,
        "backend": backend,
    }  # fmt: skip
    write_text(output, to_csv(found.rows, COLUMNS))
    write_facts(output, facts)
    if as_json:
        click.echo(json.dumps(facts | {"rows": found.rows}, indent=2))
    else:
        for line in told(found, made, drive, wishes, stream):
            click.echo(line)
    beside = [output.with_suffix(".json"), *draw(output)]  # last: a full disk leaves the plan on the screen
    click.echo(f"wrote {output}, {', '.join(path.name for path in beside)}", err=True)


def _others(source: OneLayout, made, against: tuple[str, ...] | None) -> dict:
    """Layouts to hold beside ``made``, by what they are called: its own rows otherwise, and those of ``against``."""
    from flashsim.layouts import layout, load_spec
    from flashsim.studies.plan import other_layouts

    found = other_layouts(made, source.layout)
    for name in (("pagegram",) if made.name not in _NEEDS_NONE else ()) if against is None else against:
        if load_spec(name).fixed:
            raise UsageError(f"--against {name}: it has 1 size, the published one: take {', '.join(_ANY_SIZE)}")
        found[f"{name}, as many parameters"] = layout(name, params=made.params)
    return found


def _drive(device: str | None, latency: str | None, iops: int | None, bandwidth: str | None, page_bytes: int):
    """The drive that was named, or described for reads of ``page_bytes``. Raises UsageError where it is neither, or
    both."""
    given = [option for option in (latency, iops, bandwidth) if option is not None]
    if device is not None:
        from flashsim.device.model import load_drive

        if given:
            raise UsageError(f"--device {device} and {len(given)} figures of a drive: give one or the other")
        return load_drive(device)
    from flashsim.device.relaxed import assumed

    if latency is None or iops is None:
        raise UsageError(
            f"{len(given)} figures of a drive: give --device NAME (`flashsim device list`), or --latency and --iops"
        )
    rate = None if bandwidth is None else parse_bytes(bandwidth.removesuffix("/s"))
    return assumed(parse_time(latency) / 1000, iops, rate, page_bytes)
