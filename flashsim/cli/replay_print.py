"""The tables that ``flashsim replay`` prints: medians over the repeats with their spread, ratios, and what to doubt."""

from collections.abc import Iterator, Sequence
from itertools import product
from statistics import median

from flashsim.units import format_bytes

_FIGURES = ("lookups_per_s", "reads_per_s", "lookup_p50_us", "lookup_p99_us", "read_p50_us", "read_p99_us")


def tables(rows: Sequence[dict]) -> Iterator[str]:
    """The lines of all tables over ``rows`` (see ``flashsim.studies.replay.COLUMNS``)."""
    panels: dict[tuple, dict[tuple, list[dict]]] = {}
    for row in sorted(rows, key=lambda row: row["source"]):  # measured before modelled
        panel = panels.setdefault((row["mode"], row["cache_bytes"]), {})
        panel.setdefault((row["source"], row["drive"], row["engine"]), []).append(row)
    for (mode, cache), panel in panels.items():
        for (source, drive, engine), held in panel.items():
            of = f"model {drive}" if source == "model" else f"{drive}, {engine}"
            repeats = max(row["repeat"] for row in held)
            how = f"; medians of {repeats}" if repeats > 1 else ""
            loop = f", {held[0]['rate']:g} lookups/s sent at their times" if held[0]["rate"] else ""
            yield f"{mode}, {f'{format_bytes(cache)} cache' if cache else 'no cache'}{loop}: {of}{how}"
            yield from _table(held)
            yield from _ratios(held)
        if len(panel) == 2:
            yield from _agreement(*panel.values())
        yield ""
    yield from _doubts(rows)


def _by_point(rows: Sequence[dict]) -> dict[tuple[str, int], list[dict]]:
    """The repeats of each (trace, in flight), a trace's lines together."""
    found: dict[tuple[str, int], list[dict]] = {}
    for row in rows:
        found.setdefault((row["trace"], row["in_flight"]), []).append(row)
    traces, depths = dict.fromkeys(trace for trace, _ in found), dict.fromkeys(depth for _, depth in found)
    return {key: found[key] for key in product(traces, depths) if key in found}


def _table(rows: Sequence[dict]) -> Iterator[str]:
    names = {row["trace"]: row["label"] + (" SYNTHETIC" if row["synthetic"] else "") for row in rows}
    if len(set(names.values())) < len(names):  # the same layout of several corpora
        names = {trace: trace for trace in names}
    head = ["", f"{rows[0]['in_flight_unit']} in flight", "lookups/s", "slowest - fastest", "reads/s"]
    lines = [[*head, "lookup p50/p99 us", "read p50/p99 us"]]
    for (trace, depth), repeats in _by_point(rows).items():
        held = {name: [row[name] for row in repeats if row[name] is not None] for name in _FIGURES}
        middle = {name: median(values) if values else None for name, values in held.items()}
        rates = [row["lookups_per_s"] for row in repeats]
        lines.append(
            [
                names.pop(trace, ""),
                str(depth),
                f"{middle['lookups_per_s']:,.0f}",
                f"{min(rates):,.0f} - {max(rates):,.0f}",
                f"{middle['reads_per_s']:,.0f}",
                f"{_us(middle['lookup_p50_us'])}/{_us(middle['lookup_p99_us'])}",
                f"{_us(middle['read_p50_us'])}/{_us(middle['read_p99_us'])}",
            ]
        )
    if len(rows) < len(lines):  # 1 repeat: no spread
        lines = [line[:3] + line[4:] for line in lines]
    wide = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for first, *rest in lines:
        yield "  ".join(
            [f"{first:<{wide[0]}}", *(f"{text:>{room}}" for text, room in zip(rest, wide[1:], strict=True))]
        )


def _us(value: float | None) -> str:
    """Microseconds; none where no lookup was complete."""
    return "-" if value is None else f"{value:.1f}" if value < 10 else f"{value:,.0f}"


def _ratios(rows: Sequence[dict]) -> Iterator[str]:
    """pagegram over engram, at equal depth and table size, where both are there."""
    rates, first = _rates(rows), {row["trace"]: row for row in rows}
    for ours, theirs in product(first.values(), first.values()):
        same = all(ours[name] == theirs[name] for name in ("corpus", "params"))
        if same and (ours["layout"], theirs["layout"]) == ("pagegram", "engram"):
            text = _over(rates[ours["trace"]], rates[theirs["trace"]])
            yield f"{ours['label']} / {theirs['label']}, lookups/s by {rows[0]['in_flight_unit']} in flight: {text}"


def _agreement(measured: Sequence[dict], modelled: Sequence[dict]) -> Iterator[str]:
    rates, labels = _rates(measured), {row["trace"]: row["label"] for row in measured}
    for trace, predicted in _rates(modelled).items():
        if trace in rates:
            yield f"model / measured, lookups/s of {labels[trace]}: {_over(predicted, rates[trace], 2)}"


def _rates(rows: Sequence[dict]) -> dict[str, dict[int, float]]:
    """Median lookups/s by trace and number in flight."""
    found: dict[str, dict[int, float]] = {}
    for (trace, depth), held in _by_point(rows).items():
        found.setdefault(trace, {})[depth] = median(row["lookups_per_s"] for row in held)
    return found


def _over(rates: dict[int, float], others: dict[int, float], digits: int = 1) -> str:
    shares = {depth: rate / others[depth] for depth, rate in rates.items() if others.get(depth)}
    return ", ".join(f"{depth}: {share:.{digits}f}" for depth, share in shares.items())


def _doubts(rows: Sequence[dict]) -> Iterator[str]:
    """A line for each flag that there is: at how many points, and what the worst of them said."""
    from flashsim.studies.replay_sample import TOO_LOW

    by_name: dict[str, list] = {}
    measured = [row for row in rows if row["source"] == "measured"]
    for row in measured:
        for flag in row["flags"]:
            worse = abs(flag.value or 0) * (-1 if flag.name in TOO_LOW else 1)
            by_name.setdefault(flag.name, []).append((worse, flag.text, row))
    for name, found in by_name.items():
        _, text, row = max(found, key=lambda each: each[0])
        where = f" ({row['label']} {row['mode']} at {row['in_flight']})"
        some = f", {len(found)} of {len(measured)} points" if len(found) < len(measured) else ""
        of_one = some or len({text for _, text, _ in found}) > 1 or name == "repeats"  # not of all alike
        yield f"flag {name}{some}: {text}{where if of_one else ''}"
