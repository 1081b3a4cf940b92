"""A plan as text that fits a screen; every figure says where it is from."""

from collections.abc import Iterator

from flashsim.cli.boundaries import boundary_of
from flashsim.report.doubts import of_drives
from flashsim.studies.verdict import bounds_told, cost_told
from flashsim.units import format_bytes, number_of


def told(found, made, drive, wishes, stream) -> Iterator[str]:
    """The lines of a plan (:class:`flashsim.studies.plan.Plan`)."""
    from flashsim.studies.plan import resident_bytes

    loads = [load.label for load in wishes.workloads]
    resident = f", {format_bytes(resident_bytes(made))} of the table in RAM" if resident_bytes(made) else ""
    cache = format_bytes(wishes.cache_bytes)
    yield f"{made.label}, {format_bytes(made.table_bytes)} on {drive.name}; {cache} of cache{resident}"
    yield ""
    yield from _asked(found, wishes.workloads)
    yield ""
    yield from _compute(found, wishes, loads)
    yield from _gains(found, loads)
    yield ""
    synthetic = " (SYNTHETIC)" if stream.synthetic else ""
    warm = f"{found.warm_tokens:,} that warm the cache"
    yield f"reads: exact, LRU; {stream.name}{synthetic}, {found.tokens:,} tokens after {warm}"
    yield f"document boundaries: {boundary_of(stream, [made])}"
    yield f"tokens/s: modelled, {number_of(wishes.in_flight, 'read')} in flight; {drive.title}"
    yield f"  {_confidence(drive)}"
    for doubt in of_drives({"drive": drive.facts()}):
        yield f"{doubt.mark}, {doubt.text}"
    for doubt in made.spec.uncertain:
        yield f"UNCERTAIN, layout: {doubt}"
    for note in found.notes:
        yield f"NOTE, {note}"


def _asked(found, workloads: list) -> Iterator[str]:
    """What each workload asks of the drive, and the drive's ceiling."""
    from flashsim.studies.plan import AS_ASKED

    loads = [load.label for load in workloads]
    names = ("asked", "shared", "read", "KiB/token", "tokens/s", "reads/s", "MB/s")
    yield f"{'pages/token':<14}" + "".join(f"{name:>11}" for name in names)
    for load in loads:
        row = found.row(AS_ASKED, load)
        rate, pages = row["tokens_per_s"], ("references_per_token", "shared_per_token", "reads_per_token")
        speed = f"{'too little is read' if row['reads_per_token'] else 'nothing is read':>33}"
        if rate:
            speed = f"{rate:>11,.0f}{rate * row['reads_per_token']:>11,.0f}{row['mb_per_s']:>11,.0f}"
        yield (
            f"{load:<14}"
            + "".join(f"{row[one]:>11.2f}" for one in pages)
            + f"{row['bytes_per_token'] / 1024:>11.1f}{speed}"
        )
    yield "asked: by every n-gram; shared: a page once a step; read: beyond the cache; per s: the drive's ceilings"
    row = found.row(AS_ASKED, loads[0])
    least, most = row["reads_per_token_least"], row["reads_per_token_most"]
    yield f"read by {loads[0]} in eighths of the tokens counted: {least:.2f} to {most:.2f}"
    for load in workloads:
        row = found.row(AS_ASKED, load.label)
        if load.streams and (at_work := row["tokens"] / row["steps"]) < 0.95 * load.streams:
            yield f"{load.label}: {at_work:.3g} are at work on average, where the last documents are long"


def _gains(found, loads: list[str]) -> Iterator[str]:
    """What each step buys, and what binds."""
    from flashsim.studies.plan import AS_ASKED

    yield f"{'what the next step buys, x the ceiling':<40}" + "".join(f"{load:>15}" for load in loads)
    for case in dict.fromkeys(row["case"] for row in found.rows if row["case"] != AS_ASKED):
        rows = [found.row(case, load) for load in loads]
        cache = f" ({format_bytes(rows[0]['cache_bytes'])})" if case.endswith("x the cache") else ""
        yield f"  {case + cache:<38}" + "".join(
            f"{row['gain']:>15.2f}" if row["gain"] else f"{'no reads' if not row['tokens_per_s'] else '-':>15}"
            for row in rows
        )
    for load in loads:
        yield f"{load}: {bounds_told(found.binds(load))}"


def _compute(found, wishes, loads) -> Iterator[str]:
    """What is left of a token's own rate, and how early the reads of each layer are there."""
    from flashsim.studies.plan import AS_ASKED

    if wishes.compute_us is None:
        return
    reads = found.row(AS_ASKED, loads[0])["reads_per_token"]
    yield f"--compute: {cost_told(wishes.compute_us, found.stall_us, reads)}"
    if not wishes.layers:
        yield "  each token waits for all of its reads; --layers says which layers read, and when"
    for one in found.slack:
        yield f"  {one.told()}"
    yield ""


def _confidence(drive) -> str:
    """How sure the drive's figures are."""
    from flashsim.device.spec import CONFIDENCES

    worst = max(figure.confidence for figure in drive.parameters.values())
    return (
        f"the least sure of its figures are {CONFIDENCES[worst]}"
        if drive.name != "assumed"
        else "its figures are as given"
    )
