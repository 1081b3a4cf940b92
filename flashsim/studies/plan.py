"""Will this drive do, and what would help? One layout, one text, a cache and a drive, asked by three workloads.

The reads are exact (:mod:`flashsim.studies.demand`); what a drive makes of them is a model's figure
(:mod:`flashsim.device.model`). A *case* is the plan with one thing changed; what a case buys is its tokens/s over those
of the plan, and what binds is what buys most.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from flashsim.device.model import Drive, simulate
from flashsim.device.relaxed import Relaxed
from flashsim.device.workload import Groups
from flashsim.errors import UsageError
from flashsim.kernels.drive import MAX_READS
from flashsim.layouts import Layout
from flashsim.studies.demand import Demand, Warm, counted_tokens
from flashsim.tokens.stream import TokenStream
from flashsim.units import format_bytes
from flashsim.workloads import Workload

COLUMNS = (
    "corpus", "synthetic", "layout", "label", "case", "workload", "cache_bytes", "drive", "in_flight", "tokens",
    "steps", "references_per_token", "shared_per_token", "reads_per_token", "cold_share", "bytes_per_token",
    "tokens_per_s", "mb_per_s", "gain",
)  # fmt: skip
AS_ASKED, HALF_PINNED, TWO_DRIVES = "as asked", "half the cache pinned", "a second drive"
_CACHES = (1, 2, 4)  # times the one asked
_P99 = 99


@dataclass(frozen=True)
class Wishes:
    """cache_bytes: of RAM for pages. streams, prefill: see :class:`flashsim.workloads.Workload`. in_flight: reads at a
    time. compute_us: a token takes that without a drive, None = not known. layers: which of the model's layers read
    the table, and how many it has; None = not known. others: layouts to hold beside, by what they are called."""

    cache_bytes: int
    streams: int = 8
    prefill: int = 2048
    in_flight: int = 64
    compute_us: float | None = None
    layers: tuple[tuple[int, ...], int] | None = None
    others: dict[str, Layout] = field(default_factory=dict)

    def check(self, layout: Layout) -> None:
        """Raise UsageError where this cannot be planned."""
        for name, value, most in (("--in-flight", self.in_flight, MAX_READS), ("--streams", self.streams, 2**16)):
            if not 1 <= value <= most:
                raise UsageError(f"{name} {value}: take 1 to {most}")
        if self.compute_us is not None and not 0 < self.compute_us < 1e9:
            raise UsageError(f"--compute {self.compute_us / 1000:g} ms a token: take more than 0, and at most 1000 s")
        if self.cache_bytes // layout.page_bytes < 2:
            raise UsageError(
                f"--cache {self.cache_bytes}B: take 2 pages, {format_bytes(2 * layout.page_bytes)}, or more"
            )
        if self.layers and not all(0 <= layer < self.layers[1] for layer in self.layers[0]):
            raise UsageError(f"--layers: {self.layers[1]} layers of the model, numbered from 0: give smaller numbers")

    @property
    def workloads(self) -> list[Workload]:
        """One stream, as many as asked, and prefill."""
        decode = dict.fromkeys((1, self.streams))
        return [*(Workload(streams) for streams in decode), Workload(0, self.prefill)]


@dataclass(frozen=True)
class Slack:
    """How long before its reads are needed a layer has them. layer: its number. needed_us: after the token is known.
    mean_us, p99_us: when its reads are there, and those of the layers before it; None where there are none."""

    layer: int
    needed_us: float
    mean_us: float | None
    p99_us: float | None


@dataclass(frozen=True)
class Plan:
    """rows: dicts of COLUMNS. slack: of one stream, by layer. warm_tokens: read before, uncounted."""

    rows: list[dict[str, Any]]
    slack: list[Slack]
    warm_tokens: int
    tokens: int

    def row(self, case: str, workload: str) -> dict[str, Any]:
        """The row of one case and workload."""
        return next(row for row in self.rows if (row["case"], row["workload"]) == (case, workload))

    def binds(self, workload: str) -> tuple[str, float]:
        """(the case of those that relax one thing which buys most, its gain)."""
        relaxed = [row for row in self.rows if row["workload"] == workload and row["case"] in self.relaxing]
        best = max(relaxed, key=lambda row: row["gain"] or 0)
        return best["case"], best["gain"]

    @property
    def relaxing(self) -> list[str]:
        """The cases that relax one thing: RAM, latency, reads a second, reads in flight."""
        cases = dict.fromkeys(row["case"] for row in self.rows)
        return [case for case in cases if case.startswith(("2 x", "half the latency"))]


def ceiling(drive: Drive, groups: Groups, in_flight: int) -> float | None:
    """Tokens/s of ``drive`` where the reads of a step are sent together, ``in_flight`` at a time, and the next step
    waits for all of them; None where nothing is read."""
    if not len(groups.pages):
        return None
    return simulate(drive, groups, max_reads=in_flight, max_groups=1).lookups_per_s


def busier_half(groups: Groups) -> Groups:
    """Of each group, the reads of the busier of two drives that share the pages, odd and even."""
    odd = groups.pages % 2 == 1
    sizes = np.diff(groups.ends, prepend=0)
    of_odd = np.add.reduceat(np.append(odd, False), np.minimum(groups.ends - sizes, len(odd)), dtype=np.int64)
    of_odd[sizes == 0] = 0
    return groups.only(odd == np.repeat(2 * of_odd > sizes, sizes))


def plan(
    stream: TokenStream,
    layout: Layout,
    drive: Drive,
    wishes: Wishes,
    *,
    begin: int = 0,
    end: int | None = None,
    backend: str = "c",
    progress: Callable[[int], None] = lambda tokens: None,
) -> Plan:
    """The :class:`Plan` of tokens [begin, end): the last of them are counted (a quarter, 500,000 at most), those before
    warm the cache. ``progress`` is told the tokens done, of :func:`work`. Raises UsageError for a template of a drive,
    or where the text is too short."""
    wishes.check(layout)
    drive.require_calibrated()
    end = len(stream) if end is None else end
    counted = counted_tokens(end - begin)
    start, rows = end - counted, []
    for workload in wishes.workloads:
        workload.check(stream, start, end)
    names = {
        "corpus": stream.name, "synthetic": stream.synthetic, "layout": layout.name, "drive": drive.name,
        "in_flight": wishes.in_flight,
    }  # fmt: skip

    def add(case: str, made: Layout, demand: Demand, capacity: int, cache: int, **how) -> None:
        groups = demand.sent(capacity)
        groups = busier_half(groups) if how.get("drives") else groups
        rate = ceiling(how.get("drive", drive), groups, how.get("in_flight", wishes.in_flight))
        reads, asked = int(demand.misses[capacity]) / demand.tokens, demand.workload.label
        first = next((row for row in rows if (row["case"], row["workload"]) == (AS_ASKED, asked)), None)
        known = rate is not None and (first is None or first["tokens_per_s"] is not None)
        rows.append(
            dict.fromkeys(COLUMNS)
            | names
            | {
                "label": made.label,
                "case": case,
                "workload": asked,
                "cache_bytes": cache,
                "tokens": demand.tokens,
                "steps": demand.steps,
                "references_per_token": demand.references / demand.tokens,
                "shared_per_token": demand.reads / demand.tokens,
                "reads_per_token": reads,
                "cold_share": demand.cold / max(1, int(demand.misses[capacity])) if made is layout else None,
                "bytes_per_token": reads * made.page_bytes,
                "tokens_per_s": rate,
                "mb_per_s": rate * reads * made.page_bytes / 1e6 if rate else None,
                "gain": (rate / first["tokens_per_s"] if first else 1.0) if known else None,
            }
            | {name: how[name] for name in ("in_flight",) if name in how}
            | ({"drive": how["drive"].name} if "drive" in how else {})
        )

    warm = Warm(stream, layout, begin, start, counted=True, backend=backend, progress=progress)
    capacities = [wishes.cache_bytes * times // layout.page_bytes for times in _CACHES]
    slack: list[Slack] = []
    for workload in wishes.workloads:
        demand = warm.demand(workload, end, capacities, progress=progress)
        add(AS_ASKED, layout, demand, 0, wishes.cache_bytes)
        for index, times in enumerate(_CACHES[1:], 1):
            add(f"{times} x the cache", layout, demand, index, wishes.cache_bytes * times)
        add("half the latency", layout, demand, 0, wishes.cache_bytes, drive=Relaxed(latency=0.5).of(drive))
        add("2 x the drive's reads/s", layout, demand, 0, wishes.cache_bytes, drive=Relaxed(rate=2).of(drive))
        deeper = min(2 * wishes.in_flight, MAX_READS)
        add("2 x in flight", layout, demand, 0, wishes.cache_bytes, in_flight=deeper)
        add(TWO_DRIVES, layout, demand, 0, wishes.cache_bytes, drives=2)
        if workload == Workload(1) and wishes.compute_us and wishes.layers:
            slack = slack_of(drive, demand.sent(0), wishes)
        pinned = warm.demand(workload, end, capacities[:1], pinned=capacities[0] // 2, progress=progress)
        add(HALF_PINNED, layout, pinned, 0, wishes.cache_bytes)
    del warm
    for name, other in wishes.others.items():
        cache = wishes.cache_bytes - resident_bytes(other) + resident_bytes(layout)
        if cache < 2 * other.page_bytes:
            continue  # what stays in RAM leaves no room for a cache
        pages = cache // other.page_bytes
        warm = Warm(stream, other, begin, start, enough=pages, backend=backend, progress=progress)
        for workload in wishes.workloads:
            demand = warm.demand(workload, end, [pages], progress=progress)
            add(name, other, demand, 0, cache)
    return Plan(rows, slack, start - begin, counted)


def work(tokens: int, wishes: Wishes) -> int:
    """Tokens that a plan goes over in all."""
    counted, workloads = counted_tokens(tokens), len(wishes.workloads)
    return (tokens - counted) * (1 + len(wishes.others)) + counted * workloads * (2 + len(wishes.others))


def resident_bytes(layout: Layout) -> int:
    """RAM that a layout takes beside the cache."""
    return layout.placed.resident_bytes if layout.placed else 0


def slack_of(drive: Drive, groups: Groups, wishes: Wishes) -> list[Slack]:
    """For each layer of ``wishes.layers``, in order: its reads are sent when the token is known, after those of the
    layers before it, and needed when they have been computed, at an equal pace. A token's reads are taken to be split
    evenly over the layers."""
    layers, of = wishes.layers
    found: list[Slack] = []
    sizes = np.diff(groups.ends, prepend=0)
    within = np.arange(len(groups.pages)) - np.repeat(groups.ends - sizes, sizes)
    for number, layer in enumerate(sorted(layers), 1):
        part = groups.only(within < np.repeat(-(-sizes * number // len(layers)), sizes))
        needed = wishes.compute_us * layer / of
        if not len(part.pages):
            found.append(Slack(layer, needed, None, None))
            continue
        lookup = simulate(drive, part, max_reads=wishes.in_flight, max_groups=1).lookup
        found.append(Slack(layer, needed, lookup.mean_ns / 1e3, float(lookup.percentiles_ns([_P99])[0]) / 1e3))
    return found


def other_layouts(made: Layout, again: Callable[..., Layout]) -> dict[str, Layout]:
    """Other ways to lay out the same rows, by what a plan calls them. again: makes the layout of ``made`` with some of
    its values replaced, as :func:`flashsim.layouts.layout` does."""
    placement, found = made.spec.placement, {}
    parts = [region.name for region in made.placed.regions[1:]] if made.placed else []
    if placement.rule == "planar" and not placement.resident and parts:
        found[f"{' and '.join(parts)} in RAM"] = again(resident=tuple(parts))
        found[f"{' and '.join(parts)} beside their row"] = again(placement="packed")
    elif placement.rule == "packed" and made.placed and made.straddle_share > 0:
        found["rows padded to a page"] = again(placement="page-aligned")
    return found
