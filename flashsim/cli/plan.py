"""``flashsim plan``: will this drive do, and what would help?"""

import json
from dataclasses import asdict
from pathlib import Path

import click

from flashsim.cli.layout_options import Listed, backend, layout_name, layout_values, params, slots
from flashsim.cli.options import Count, Size, TokenOptions, open_token_file, token_options
from flashsim.cli.progress import Progress
from flashsim.errors import UsageError
from flashsim.units import parse_bytes, parse_count, parse_time

_KIND = "plan"  # in the JSON beside the CSV
_FIXED_SIZE = ("pagegram", "flat")  # layouts beside which PageGram need not be held


def _layers(text: str) -> tuple[tuple[int, ...], int]:
    layers, slash, of = text.partition("/")
    if not slash:
        raise UsageError(f"--layers {text}: say of how many (0 given), like 1,14/61")
    return tuple(sorted(parse_count(layer.strip()) for layer in layers.split(","))), parse_count(of.strip())


@click.command()
@click.argument("corpus", type=click.Path(path_type=Path))
@layout_name
@slots
@params
@layout_values
@token_options
@click.option("--tokens", type=Count(), help="Tokens to run.  [default: all]")
@click.option("--skip", type=Count(), default=0, show_default=True, help="Tokens to leave out at the start.")
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
@backend
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default="reports/plan.csv", show_default=True,
    help="CSV to write; .json, .svg and .png go beside it.",
)  # fmt: skip
def command(
    corpus: Path, name: str, S: int | None, params: int | None, values: dict, token_options: TokenOptions,
    tokens: int | None, skip: int, cache: int, device: str | None, latency: str | None, iops: int | None,
    bandwidth: str | None, streams: int, prefill: int, in_flight: int, compute: str | None, layers: str | None,
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
    from flashsim.layouts import layout
    from flashsim.studies.ledger import to_csv
    from flashsim.studies.plan import COLUMNS, Wishes, other_layouts, plan, work
    from flashsim.trace import facts_beside, layout_facts, source_facts, window

    files = [corpus, token_options.documents, *(values[key] for key in ("vocab_map", "ngram_set", "weights"))]
    check_result(output, _KIND, [*files, Path(name) if name.endswith(".toml") else None])
    drive = _drive(device, latency, iops, bandwidth)
    drive.require_calibrated()

    def again(**changed):
        return layout(name, S=S, params=params, **values | changed)

    made = again()
    others = other_layouts(made, again)
    for other in (("pagegram",) if made.name not in _FIXED_SIZE else ()) if against is None else against:
        others[f"{other}, as many parameters"] = layout(other, params=made.params)
    known = made.spec.hash.layers
    if layers is None and known and compute:
        click.echo(f"note: {len(known)} layers read the table, {known}: --layers {','.join(map(str, known))}/OF says "
                   "of how many, and the plan how early their reads are there", err=True)  # fmt: skip
    wishes = Wishes(
        cache_bytes=cache, streams=streams, prefill=prefill, in_flight=in_flight,
        compute_us=parse_time(compute) / 1000 if compute else None, layers=_layers(layers) if layers else None,
        others=others,
    )  # fmt: skip
    wishes.check(made)
    if facts_beside(corpus):
        raise UsageError(f"{corpus} is 1 trace: a plan asks in several ways, so give it the token file")
    stream = open_token_file(corpus, token_options)
    begin, end = window(stream, skip, tokens)
    if stream.boundary == "none":
        click.echo(f"note: {corpus}: 0 document boundaries: n-grams cross them; --eot ID marks them", err=True)
    with Progress(work(end - begin, wishes), "tokens", "plan") as bar:
        found = plan(stream, made, drive, wishes, begin=begin, end=end, backend=backend, progress=bar.update)
    facts = {
        "kind": _KIND,
        "layout": layout_facts(made),
        "others": {case: layout_facts(other) for case, other in others.items()},
        "uncertain": list(made.spec.uncertain),
        "source": source_facts(stream),
        "drive": drive.facts(),
        "cache_bytes": cache,
        "warm_tokens": found.warm_tokens,
        "counted_tokens": found.tokens,
        "compute_us": wishes.compute_us,
        "slack": [asdict(one) for one in found.slack],
        "binds": {load.label: dict(zip(("case", "gain"), found.binds(load.label), strict=True)) for load in
                  wishes.workloads},
        "backend": backend,
    }  # fmt: skip
    write_text(output, to_csv(found.rows, COLUMNS))
    write_facts(output, facts)
    figures = draw(output)
    if as_json:
        click.echo(json.dumps(facts | {"rows": found.rows}, indent=2))
    else:
        for line in told(found, made, drive, wishes, stream):
            click.echo(line)
    beside = [output.with_suffix(".json"), *figures]
    click.echo(f"wrote {output}, {', '.join(path.name for path in beside)}", err=True)


def _drive(device: str | None, latency: str | None, iops: int | None, bandwidth: str | None):
    """The drive that was named or described. Raises UsageError where it is neither, or both."""
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
    return assumed(parse_time(latency) / 1000, iops, rate)
