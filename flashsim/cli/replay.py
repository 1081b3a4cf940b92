"""``flashsim replay``: the page reads of a trace on a real drive, and what a model of one says."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import click

from flashsim.cli import LazyGroup
from flashsim.cli.layout_options import Listed
from flashsim.cli.options import Count, Size
from flashsim.cli.replay_record import Record
from flashsim.errors import UsageError
from flashsim.units import format_bytes, number_of, parse_bytes, parse_count

_IN_FLIGHT = "1,2,4,8,16,32,64,128,256"

# command -> (module under flashsim.cli, one line of help)
COMMANDS = {
    "prepare": ("replay_prepare", "Write a target: pages that prove their number and content."),
    "check": ("replay_check", "Look whether a target can be measured, and print what is known of it."),
    "engines": ("replay_engines", "List the ways to send reads, and why one cannot be used here."),
}


class _CommandsBeside(LazyGroup):
    """A command with commands of its own: its first word is one of theirs, or else all words are its own arguments. A
    file named like a command is reached as ./prepare."""

    allow_interspersed_args = True
    parse_args, invoke = click.Command.parse_args, click.Command.invoke
    collect_usage_pieces = click.Command.collect_usage_pieces

    def make_context(self, info_name, args, parent=None, **extra):
        if args and args[0] in self._table:
            alone = click.Context(click.Group(info_name), parent=parent, info_name=info_name)
            return self.get_command(alone, args[0]).make_context(args[0], args[1:], parent=alone, **extra)
        return super().make_context(info_name, args, parent, **extra)


def _cache(text: str) -> int:
    return 0 if text == "none" else parse_bytes(text)


@click.group(cls=_CommandsBeside, table=COMMANDS, no_args_is_help=False)
@click.argument("traces", metavar="TRACE...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--target", type=click.Path(path_type=Path), metavar="FILE|DEVICE", help="What to read; opened read-only."
)
@click.option("--device", metavar="NAME|FILE", help="Model of a drive to ask, beside the target or without one.")
@click.option(
    "--in-flight", type=Listed("N,...", parse_count), default=_IN_FLIGHT, show_default=True,
    help="Reads that are out at a time, 1 to 4096.",
)  # fmt: skip
@click.option(
    "--in-flight-unit", "unit", type=click.Choice(["reads", "lookups"]), default="reads", show_default=True,
    help="What is counted there. A lookup is all reads of one token.",
)  # fmt: skip
@click.option(
    "--mode", "modes", type=Listed("NAME,...", str), default="stream", show_default=True,
    help="stream: reads of any tokens, the queue always full; decode: one token's reads together, then the next's; "
    "prefill: a chunk of tokens, each of its pages once.",
)  # fmt: skip
@click.option("--chunk", type=Count(), default=2048, show_default=True, help="Tokens of a chunk of prefill.")
@click.option(
    "--cache", "caches", type=Listed("SIZE,...", _cache), default="none", show_default=True,
    help="Sizes of an LRU page cache in RAM, simulated: only what misses it is read. none: all is read.",
)  # fmt: skip
@click.option("--seconds", type=float, help="Length of a point.  [default: 2]")
@click.option("--lookups", type=Count(), help="Length of a point in lookups, in place of --seconds.")
@click.option("--ramp", type=float, default=0.5, show_default=True, help="Seconds before each point, not counted.")
@click.option("--repeat", "repeats", type=Count(), default=3, show_default=True, help="Rounds over all points.")
@click.option(
    "--rate", type=float, default=0.0,
    help="Lookups/s, each sent at its time and its latency counted from then.  [default: as fast as may be]",
)  # fmt: skip
@click.option("--engine", default="auto", show_default=True, help="auto, or one that `replay engines` lists.")
@click.option("--base", type=Size(), default="0B", show_default=True, help="Where page 0 lies in the target.")
@click.option("--fold", is_flag=True, help="Take page numbers modulo the target, where the table is larger.")
@click.option("--buffered", is_flag=True, help="Read through the page cache where there is no direct I/O.")
@click.option(
    "--verify", type=click.Choice(["none", "sample", "all"]),
    help="Check the stamps of 1 in 64 reads, or of all.  [default: sample where `replay prepare` wrote the target]",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Where in the traces points start.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default="reports/replay.csv", show_default=True,
    help="CSV to write; .json, .svg and .png go beside it.",
)  # fmt: skip
def command(
    traces: tuple[Path, ...], target: Path | None, device: str | None, in_flight: tuple[int, ...], unit: str,
    modes: tuple[str, ...], chunk: int, caches: tuple[int, ...], seconds: float | None, lookups: int | None,
    ramp: float, repeats: int, rate: float, engine: str, base: int, fold: bool, buffered: bool, verify: str | None,
    seed: int, output: Path,
) -> None:  # fmt: skip
    """Lookups/s of a drive by reads in flight, measured or modelled.

    Sends the page reads of the traces TRACE (of `flashsim trace`) to a file or block device past the page cache. A
    lookup is all reads of one token: the report's Fig. 4b. The target is only read: `flashsim replay prepare` writes
    one. A trace that is named like a command is ./check.
    """
    from flashsim.studies.replay_wishes import Wishes
    from flashsim.trace_files import without_parts

    traces = without_parts(traces)
    if not traces:
        raise UsageError("0 traces: give what `flashsim trace` wrote, or see 'flashsim replay --help'")
    if seconds is not None and lookups is not None:
        raise UsageError(f"--seconds {seconds:g} and --lookups {lookups}: 1 of the 2 ends a point; leave the other out")
    wishes = Wishes(
        in_flight=in_flight, unit=unit, modes=modes, cache_bytes=caches,
        seconds=2.0 if lookups is None and seconds is None else seconds, lookups=lookups, ramp_s=ramp,
        repeats=repeats, rate=rate, chunk=chunk, seed=seed,
    )  # fmt: skip
    wishes.check()
    if target is None and device is None and engine != "null":
        raise UsageError(
            f"{number_of(len(traces), 'trace')} and 0 drives: give --target FILE, --device NAME, or --engine null"
        )
    other = engine not in ("auto", "null")  # which read something
    alone = {"--fold": fold, "--buffered": buffered, "--verify": verify, "--base": base, "--engine": other}
    if target is None and (unmet := [name for name, given in alone.items() if given]):
        raise UsageError(f"{unmet[0]} and 0 targets to read: give --target FILE, or leave it out")
    record = Record(output, [*traces, target, device], wishes)
    opened = [_open(path) for path in traces]
    record.facts["traces"] = [{"path": str(trace.path)} | trace.facts for trace in opened]
    drive = None
    if device is not None:
        from flashsim.device.model import load_drive

        drive = load_drive(device)
        drive.require_calibrated()
        record.facts["model"] = drive.facts()
    with ExitStack() as stack:
        medium = None
        if target is not None:
            from flashsim.device.target import Target
            from flashsim.studies.replay_target import medium_of

            held = stack.enter_context(Target.open(target, buffered=buffered))
            medium, facts = medium_of(held, opened, engine=engine, base=base, fold=fold, verify=verify)
            record.facts |= facts
            for line in _told(facts):
                click.echo(line, err=True)
        elif engine == "null":
            from flashsim.studies.replay import Medium

            medium = Medium(-1, "no drive", "null")
        _run(record, opened, wishes, medium, drive)


def _open(path: Path):
    from flashsim.trace import Trace
    from flashsim.trace_files import facts_beside, refuse_part

    refuse_part(path)
    if path.is_file() and not facts_beside(path):
        raise UsageError(f"{path} is no trace (0 page ids): make one with `flashsim trace {path}`")
    return Trace.open(path)


def _told(facts: dict) -> Iterator[str]:
    """What is known of the target before anything is measured, for stderr."""
    target, engine = facts["target"], facts["engine"]
    reads = "through the page cache" if target["buffered"] else (
        f"direct I/O aligned to {target['offset_align']} B ({target['align_source']})"
    )  # fmt: skip
    yield f"{target['path']}: {format_bytes(target['bytes'])}, {target['file_system']}, {reads}"
    yield f"engine {engine['taken']} ({engine['why']})"


def _run(record: Record, traces: list, wishes, medium, drive) -> None:
    from tqdm import tqdm

    from flashsim.studies.replay import Replay

    cached = wishes.groupings * sum(len(trace) for trace in traces) if any(wishes.cache_bytes) else 0
    with tqdm(total=cached, unit=" tokens", unit_scale=True, disable=None if cached else True, desc="cache") as bar:
        replay = Replay(traces, wishes, bar.update)
    try:
        if drive is not None:
            with tqdm(
                total=replay.points * replay.wishes.repeats, unit=" points", disable=None, desc=f"model {drive.name}"
            ) as bar:
                for ended in replay.modelled(drive):
                    record.keep(ended)
                    bar.update()
        if medium is not None:
            _measure(record, replay, medium)
    except BaseException as error:  # Ctrl-C, or a drive that fails: what has ended stands
        asked = replay.points * wishes.repeats * ((medium is not None) + (drive is not None))
        ended = f"{len(record.ended)} of {number_of(asked, 'point')}"
        if record.ended:
            record.close(complete=False)
            record.show()
        if isinstance(error, KeyboardInterrupt):
            kept = f"{record.output} has them" if record.ended else "nothing was written"
            raise KeyboardInterrupt(f"interrupted after {ended}; {kept}: run it again for all") from None
        if record.ended:
            click.echo(f"{ended} ended before this", err=True)
        raise
    record.close(complete=True)
    record.show()


def _measure(record: Record, replay, medium) -> None:
    from tqdm import tqdm

    total, points = replay.total, replay.points * replay.wishes.repeats
    unit = "s" if replay.wishes.lookups is None else "lookups"
    click.echo(f"{number_of(points, 'point')}, {total:,.0f} {unit} in all", err=True)
    shape = "{desc} {percentage:3.0f}% |{bar}| {n:,.0f} of {total:,.0f} " + unit + " [{elapsed}<{remaining}]"
    with tqdm(total=total, disable=None, bar_format=shape) as bar:

        def told(point, done: float, counters) -> None:
            name = replay.label(point)
            bar.set_description_str(
                f"{name} {point.mode}, {point.in_flight} in flight: {counters.lookups_per_s:,.0f} lookups/s", False
            )
            bar.update(done)

        for ended in replay.measured(medium, told):
            record.keep(ended)
