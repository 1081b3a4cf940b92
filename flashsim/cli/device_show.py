"""``flashsim device show``: a drive in figures, each with its source, and what the model makes of them."""

from collections.abc import Iterator

import click

_DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_READS = 100_000


@click.command()
@click.argument("name", metavar="NAME|FILE.toml")
def command(name: str) -> None:
    """Print what the drive NAME is: parameters and measured points with sources and confidence, then its curve.

    The curve is of single random reads: simulated, by mean value analysis (exponential times, so more waiting), and the
    bound that neither may pass.
    """
    from flashsim.device.spec import load_drive

    drive = load_drive(name)
    for line in [*_facts(drive), *(_curve(drive) if drive.calibrated else [])]:
        click.echo(line)


def _facts(drive) -> Iterator[str]:
    from flashsim.device.spec import CONFIDENCES, PARAMETERS

    yield f"{drive.name}: {drive.title}"
    if drive.note:
        yield click.wrap_text(drive.note.strip(), 100)
    for key, source in drive.sources.items():
        yield f"source {key}: {source.text} ({source.date}){f' {source.url}' if source.url else ''}"
    for name, figure in drive.parameters.items():
        yield f"{name:<12} {figure.value:>9g}  {figure.confidence}, {figure.source}: {PARAMETERS[name][1]}"
    for point in drive.points:
        place = f"{point.in_flight} {point.in_flight_unit} in flight" if point.in_flight else "peak"
        if point.mode != "stream" or point.reads_per_lookup != 1:
            place += f", {point.mode}, {point.reads_per_lookup:g} reads a lookup"
        figures = [f"{point.reads_per_s:,.0f} reads/s"] if point.reads_per_s else []
        figures += [f"{point.read_mean_us:g} us"] if point.read_mean_us else []
        figures += [f"model {point.model_reads_per_s:,.0f} reads/s"] if point.model_reads_per_s else []
        note = f" ({point.note})" if point.note else ""
        yield f"point        {place}: {', '.join(figures)}  {point.confidence}, {point.source}{note}"
    if not drive.calibrated:
        yield "template: measure it at depths 1 and 64, then `flashsim device calibrate FIO.json -o drive.toml`"
    used = sorted({each.confidence for each in (*drive.parameters.values(), *drive.points)})
    yield from (f"confidence {letter}: {CONFIDENCES[letter]}" for letter in used)


def _curve(drive) -> Iterator[str]:
    import numpy as np

    from flashsim.device.model import simulate
    from flashsim.device.mva import bounds, mva
    from flashsim.device.workload import GROUPS_MAX, Groups

    limits = bounds(drive)
    yield f"a lone read {limits.latency_us:.1f} us; {_limits(limits)}"
    pages = np.random.default_rng(0).integers(0, 2**32, _READS, dtype=np.uint32)
    groups = Groups(pages, np.arange(1, _READS + 1, dtype=np.int64), np.ones(_READS, np.int64), drive.page_bytes)
    yield "single random reads, so 1 read a lookup:"
    yield f"{'in flight':>9} {'reads/s':>11} {'mean us':>9} {'p99 us':>9} {'MVA':>11} {'bound':>11}"
    for in_flight in _DEPTHS:
        made = simulate(drive, groups, max_reads=in_flight, max_groups=GROUPS_MAX)
        p99 = made.read.percentiles_ns([99])[0] / 1e3
        formula, bound = mva(drive, in_flight).reads_per_s, limits.reads_per_s(in_flight)
        yield (
            f"{in_flight:>9} {made.reads_per_s:>11,.0f} {made.read.mean_ns / 1e3:>9.1f} {p99:>9.1f} "
            f"{formula:>11,.0f} {bound:>11,.0f}"
        )


def _limits(limits) -> str:
    if not limits.caps:
        return "0 caps: delays are all it has, so reads/s grow with every read in flight"
    caps = ", ".join(f"{name} {cap:,.0f}" for name, cap in limits.caps.items())
    return f"caps in reads/s: {caps}; knee {limits.knee:.1f} in flight"
