"""Will this drive do, and what would help? One layout, one text, a cache and a drive, asked by three workloads.

The reads are exact (:mod:`flashsim.studies.demand`); what a drive makes of them is a model's figure
(:mod:`flashsim.device.model`). A *case* is the plan with one thing changed; what a case buys is its tokens/s over those
of the plan, and what binds is what buys most.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from flashsim.device.model import Drive, simulate
from flashsim.device.relaxed import Relaxed, limit_of
from flashsim.device.workload import Groups
from flashsim.errors import UsageError
from flashsim.kernels.drive import MAX_READS
from flashsim.layouts import Layout
from flashsim.studies.cells import Cell
from flashsim.studies.demand import Demand, Warm, counted_tokens
from flashsim.studies.estimate import require_memory
from flashsim.studies.verdict import Bound, Slack, binding
from flashsim.tokens.stream import TokenStream
from flashsim.units import format_bytes
from flashsim.workloads import CHUNK_MAX, STREAMS_MAX, Workload

COLUMNS = (
    "corpus", "synthetic", "layout", "label", "case", "workload", "cache_bytes", "cache_filled", "drive", "in_flight",
    "tokens", "steps", "references_per_token", "shared_per_token", "reads_per_token", "reads_per_token_least",
    "reads_per_token_most", "bytes_per_token", "tokens_per_s", "mb_per_s", "gain",
)  # fmt: skip
AS_ASKED, HALF_PINNED, TWO_DRIVES = "as asked", "half the cache pinned", "a second drive"
_CACHES = (1, 2, 4)  # times the one asked; after them comes, in a Demand, the first with half of it pinned
_P99 = 99
_FULL = 0.995  # of a cache
_PAGE_STATE = 20  # bytes of memory for each page of a table, measured


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
        for name, value, most in (
            ("--in-flight", self.in_flight, MAX_READS), ("--streams", self.streams, STREAMS_MAX),
            ("--prefill", self.prefill, CHUNK_MAX),
        ):  # fmt: skip
            if not 1 <= value <= most:
                raise UsageError(f"{name} {value}: take 1 to {most}")
        if self.compute_us is not None and not 0 < self.compute_us < 1e9:
            raise UsageError(f"--compute {self.compute_us / 1000:g} ms a token: take more than 0, and at most 1000 s")
        if self.cache_bytes // layout.page_bytes < 2:
            raise UsageError(
                f"--cache {self.cache_bytes}B: take 2 pages, {format_bytes(2 * layout.page_bytes)}, or more"
            )
        if self.layers and not all(0 <= layer < self.layers[1] for layer in self.layers[0]):
            raise UsageError(
                f"--layers: the numbers of layers begin with 0 and end below how many there are, {self.layers[1]}: "
                "give them like 1,14/61"
            )
        if self.layers and len(set(self.layers[0])) < len(self.layers[0]):
            raise UsageError(f"--layers: {len(self.layers[0])} numbers, some of them twice: give each once")
        if self.layers and self.compute_us is None:
            raise UsageError(f"--layers: {self.layers[1]} layers take what time? give --compute with them, like 20ms")

    @property
    def workloads(self) -> list[Workload]:
        """One stream, as many as asked, and prefill."""
        decode = dict.fromkeys((1, self.streams))
        return [*(Workload(streams) for streams in decode), Workload(0, self.prefill)]


class Case(NamedTuple):
    """The plan with one thing changed. relaxes: what there is more of, where that is one resource. cache: which of the
    caches of a :class:`Demand`. drives: that share the pages evenly."""

    name: str
    drive: Drive
    in_flight: int
    relaxes: str | None = None
    cache: int = 0
    drives: int = 1

    def tokens_per_s(self, demand: Demand) -> float | None:
        """The ceiling of the drive, or drives; None where nothing is read. A ratio estimate: that of the steps that are
        kept, for as many reads a token as all have, since what a step takes goes with its reads."""
        groups = demand.sent(self.cache)
        rate = ceiling(self.drive, busier_half(groups) if self.drives == 2 else groups, self.in_flight)
        reads, kept = demand.misses[self.cache] / demand.tokens, len(groups.pages) / groups.lookups.sum()
        return None if rate is None else float(rate * kept / reads)


def cases(drive: Drive, in_flight: int) -> list[Case]:
    """What a plan is asked, and what may be changed of it; the layout apart."""
    return [
        Case(AS_ASKED, drive, in_flight),
        *(
            Case(f"{times} x the cache", drive, in_flight, "RAM" if times == 2 else None, cache)
            for cache, times in enumerate(_CACHES[1:], 1)
        ),
        Case("half the latency", Relaxed(latency=0.5).of(drive), in_flight, "latency"),
        Case("2 x the drive's reads/s", Relaxed(rate=2).of(drive), in_flight, limit_of(drive)),
        Case("2 x in flight", drive, min(2 * in_flight, MAX_READS), "queue depth"),
        Case(TWO_DRIVES, Relaxed(cpu=2).of(drive), in_flight, drives=2),
        Case(HALF_PINNED, drive, in_flight, cache=len(_CACHES)),
    ]


@dataclass(frozen=True)
class Plan:
    """rows: dicts of COLUMNS. cases: what was asked. slack: of one stream, by layer. stall_us: what one stream waits
    for the drive each token, where its reads are sent once the token is known; None = no time of compute was given.
    warm_tokens: read before, uncounted. notes: what to know before the figures are compared."""

    rows: list[dict[str, Any]]
    cases: list[Case]
    slack: list[Slack]
    stall_us: float | None
    warm_tokens: int
    tokens: int
    notes: list[str]

    def row(self, case: str, workload: str) -> dict[str, Any]:
        """The row of one case and workload."""
        return next(row for row in self.rows if (row["case"], row["workload"]) == (case, workload))

    def binds(self, workload: str) -> list[Bound]:
        """What binds: of the cases that relax one resource, those that buy most; none where nothing is read."""
        if self.row(AS_ASKED, workload)["tokens_per_s"] is None:
            return []
        relaxed = [one for one in self.cases if one.relaxes]
        return binding([Bound(one.relaxes, one.name, self.row(one.name, workload)["gain"]) for one in relaxed])

    def load(self, workload: str) -> dict[str, Any]:
        """What the JSON has of a workload: pages read a token, the ceiling in tokens/s, and what binds."""
        row = self.row(AS_ASKED, workload)
        found = {name: row[name] for name in ("reads_per_token", "tokens_per_s")}
        return found | {"binds": [asdict(bound) for bound in self.binds(workload)]}


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
    start = end - counted
    for workload in wishes.workloads:
        workload.check(stream, start, end)
    largest = max((layout, *wishes.others.values()), key=lambda made: made.pages)
    require_memory(_PAGE_STATE * largest.pages, [Cell(stream, largest, begin, end)], "take a smaller table")
    changed = cases(drive, wishes.in_flight)
    names, rows = {"corpus": stream.name, "synthetic": stream.synthetic}, []

    sizes = [wishes.cache_bytes * times for times in (*_CACHES, 1)]
    capacities = [size // layout.page_bytes for size in sizes[:-1]]
    warm = Warm(stream, layout, begin, start, enough=capacities[-1], backend=backend, progress=progress)
    slack, stall, notes = [], None, _notes(layout, drive, wishes.others)
    for workload in wishes.workloads:
        demand = warm.demand(workload, end, capacities, pinned=capacities[0] // 2, progress=progress)
        for case in changed:
            rows.append(names | _row(case.name, layout, case, demand, sizes[case.cache], warm))
        if workload == Workload(1) and wishes.compute_us:
            layers = wishes.layers or ((0,), 1)  # where they are not known, nothing hides the reads
            slack = slack_of(drive, demand.sent(0), wishes.compute_us, *layers, wishes.in_flight)
            stall = sum(one.wait_us for one in slack)
    for name, other in wishes.others.items():
        size = wishes.cache_bytes - resident_bytes(other) + resident_bytes(layout)
        if size < 2 * other.page_bytes:
            notes.append(f"{name}: left out, {format_bytes(resident_bytes(other))} in RAM leave no room for a cache")
            continue
        pages = size // other.page_bytes
        warm = Warm(stream, other, begin, start, enough=pages, backend=backend, progress=progress)
        for workload in wishes.workloads:
            demand = warm.demand(workload, end, [pages], progress=progress)
            rows.append(names | _row(name, other, changed[0], demand, size, warm))
    asked = {row["workload"]: row["tokens_per_s"] for row in rows if row["case"] == AS_ASKED}
    for row in rows:
        known = row["tokens_per_s"] and asked[row["workload"]]
        row["gain"] = row["tokens_per_s"] / asked[row["workload"]] if known else None
    notes += _not_filled(rows)
    return Plan(rows, changed, slack if wishes.layers else [], stall, start - begin, counted, notes)


def _row(name: str, layout: Layout, case: Case, demand: Demand, cache_bytes: int, warm: Warm) -> dict[str, Any]:
    """COLUMNS of a case but the stream's and the gain."""
    rate, reads = case.tokens_per_s(demand), int(demand.misses[case.cache]) / demand.tokens
    parts = [] if case.cache else demand.parts.tolist()
    return {
        "layout": layout.name,
        "label": layout.label,
        "case": name,
        "workload": demand.workload.label,
        "cache_bytes": cache_bytes,
        "cache_filled": min(1.0, len(warm.recency) / min(cache_bytes // layout.page_bytes, layout.pages)),
        "drive": case.drive.name,
        "in_flight": case.in_flight,
        "tokens": demand.tokens,
        "steps": demand.steps,
        "references_per_token": demand.references / demand.tokens,
        "shared_per_token": demand.reads / demand.tokens,
        "reads_per_token": reads,
        "reads_per_token_least": min(parts, default=None),
        "reads_per_token_most": max(parts, default=None),
        "bytes_per_token": reads * layout.page_bytes,
        "tokens_per_s": rate,
        "mb_per_s": rate and rate * reads * layout.page_bytes / 1e6,
    }


def _notes(layout: Layout, drive: Drive, others: dict[str, Layout]) -> list[str]:
    """See :class:`Plan`."""
    notes = []
    if layout.page_bytes != drive.page_bytes:
        notes.append(
            f"the drive's figures are of reads of {format_bytes(drive.page_bytes)}: in one of "
            f"{format_bytes(layout.page_bytes)} every byte is taken to cost as much"
        )
    numbers = {name: made.addressing("row").ids_per_token * made.spec.rows.width for name, made in others.items()}
    own = layout.addressing("row").ids_per_token * layout.spec.rows.width
    notes += [
        f"{name}: a token reads {count:,} numbers of the table at most, here {own:,}"
        for name, count in numbers.items()
        if count != own
    ]
    return notes


def _not_filled(rows: list[dict[str, Any]]) -> list[str]:
    """A note of the caches that the text before left room in, though they were not enough."""
    found = {}
    for row in (row for row in rows if row["cache_filled"] < _FULL and row["reads_per_token"]):
        of = "" if row["label"] == rows[0]["label"] else f" of {row['case']}"
        found[f"{format_bytes(row['cache_bytes'])}{of}"] = row["cache_filled"]
    told = ", ".join(f"{name} ({filled:.0%})" for name, filled in found.items())
    return [f"the text before does not fill {told}: after more text, less is read with them"] if found else []


def work(tokens: int, wishes: Wishes) -> int:
    """Tokens that a plan goes over in all, at the most."""
    counted, layouts = counted_tokens(tokens), 1 + len(wishes.others)
    return layouts * (tokens - counted + counted * len(wishes.workloads))


def resident_bytes(layout: Layout) -> int:
    """RAM that a layout takes beside the cache."""
    return layout.placed.resident_bytes if layout.placed else 0


def slack_of(
    drive: Drive, groups: Groups, compute_us: float, layers: Sequence[int], of: int, in_flight: int
) -> list[Slack]:  # fmt: skip
    """For each of ``layers``, of a model that has ``of``, in order: its reads are sent when the token is known, after
    those of the layers before it, and needed when these have been computed, at an equal pace, and have waited for
    theirs. A token's reads are taken to be split evenly over the layers."""
    found: list[Slack] = []
    sizes = np.diff(groups.ends, prepend=0)
    within, waited = np.arange(len(groups.pages)) - np.repeat(groups.ends - sizes, sizes), 0.0
    for number, layer in enumerate(sorted(layers), 1):
        part = groups.only(within < np.repeat(-(-sizes * number // len(layers)), sizes))
        needed, mean, p99, wait = compute_us * layer / of + waited, 0.0, 0.0, 0.0
        if len(part.pages):
            lookup = simulate(drive, part, max_reads=in_flight, max_groups=1).lookup
            mean, p99 = lookup.mean_ns / 1e3, float(lookup.percentiles_ns([_P99])[0]) / 1e3
            wait = lookup.mean_over_ns(needed * 1e3) / 1e3
        found.append(Slack(layer, needed, mean, p99, wait))
        waited += wait
    return found


def other_layouts(made: Layout, again: Callable[..., Layout]) -> dict[str, Layout]:
    """Other ways to lay out the same rows, by what a plan calls them. again: makes the layout of ``made`` with some of
    its values replaced, as :func:`flashsim.layouts.layout` does; what it refuses with a UsageError is left out."""
    placement, found = made.spec.placement, {}
    parts = [region.name for region in made.placed.regions[1:]] if made.placed else []
    ways: dict[str, dict] = {}
    if placement.rule == "planar" and not placement.resident and parts:
        ways[f"{' and '.join(parts)} in RAM"] = {"resident": tuple(parts)}
        ways[f"{' and '.join(parts)} beside their row"] = {"placement": "packed"}
    elif placement.rule == "packed" and made.placed and made.straddle_share > 0:
        ways["rows padded to a page"] = {"placement": "page-aligned"}
    for name, values in ways.items():
        try:
            found[name] = again(**values)
        except UsageError:  # what was given for this placement, as a base, does not fit that one
            continue
    return found
