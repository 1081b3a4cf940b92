"""How many lookups a second does a drive give? The page reads of traces, sent to it with so many in flight.

Every trace runs beyond every cache, in every mode, at every number in flight; the rounds over all of these *points* are
repeated, so that what drifts hits all alike, and each starts elsewhere in the trace. A model of a drive
(``flashsim.device.model``) is asked the same, beside the real one or alone.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flashsim.device.workload import MODES, Groups, limits
from flashsim.errors import DataError, DriveError
from flashsim.kernels.replay import Counters, Latency, Progress, Replayer
from flashsim.studies.cells import cells_of, names_of
from flashsim.studies.ledger import Row
from flashsim.studies.replay_reads import DriveReads
from flashsim.studies.replay_sample import Flag, Sample, flags_of, measure
from flashsim.studies.replay_wishes import Point, Wishes, points_of
from flashsim.trace import Trace

PERCENTILES = {"p50": 50, "p90": 90, "p99": 99, "p999": 99.9, "p9999": 99.99}
_LATENCIES = tuple(f"{what}_{name}_us" for what in ("lookup", "read") for name in ("mean", *PERCENTILES, "max"))
COLUMNS = (
    "trace", "corpus", "synthetic", "layout", "S", "params", "label", "table_bytes", "page_bytes", "cache_bytes",
    "mode", "source", "drive", "engine", "in_flight", "in_flight_unit", "rate", "repeat", "seconds", "lookups", "reads",
    "reads_per_lookup", "lookups_per_s", "reads_per_s", "mb_per_s", *_LATENCIES, "mean_in_flight", "cpu_us_per_read",
    "short_reads", "retries", "flags",
)  # fmt: skip
_GOLDEN = (5**0.5 - 1) / 2  # steps of it round a circle come to lie as far apart as can be
_WINDOW_MAX = 1 << 24  # reads and tokens that are taken from a trace for a point; then they come round again
_WINDOW_PER_S = 1_000_000
_SPREAD = 0.1  # between repeats, of the most reads/s


@dataclass(frozen=True)
class Medium:
    """Where the reads go. fd: open for reading (-1 with the engine null). name: as results call it. base: byte offset
    of page 0. fold: 0, or page numbers are taken modulo this. verify: the stamp, made with stamp_seed, of every n-th
    read is checked; 0 = none. flags: of every figure measured there. changed: says what was done to it since it was
    opened, or None. disk_moved: bytes that the disk below it has moved, None = not known."""

    fd: int
    name: str
    engine: str
    base: int = 0
    fold: int = 0
    verify: int = 0
    stamp_seed: int = 0
    flags: tuple[Flag, ...] = ()
    changed: Callable[[], str | None] = lambda: None
    disk_moved: Callable[[], int | None] = lambda: None


@dataclass(frozen=True)
class Ended:
    """A point that ended. row: COLUMNS, with ``flags`` a list of Flag. more: what the JSON has beside that."""

    row: Row
    more: dict[str, Any]


class Replay:
    """The points of ``wishes`` over ``traces``, to be run. Raises UsageError where that cannot be, DataError for a
    trace that breaks what its JSON says. ``progress`` is told the tokens that each step of the caches' passes took."""

    def __init__(
        self, traces: Sequence[Trace], wishes: Wishes, progress: Callable[[int], None] = lambda tokens: None
    ) -> None:
        wishes.check()
        self.wishes, self.traces = wishes, list(traces)
        self._order = points_of(wishes, 1)
        paths = [trace.path for trace in self.traces]
        if len({path.name for path in paths}) < len(paths):  # of several folders
            self._files = [str(path) for path in paths]
        else:
            self._files = [path.name for path in paths]
        self._names = [names_of(cell) for cell in cells_of(self.traces, ())]
        self._reads = [self._groupings(trace, progress) for trace in self.traces]

    def _groupings(self, trace: Trace, progress: Callable[[int], None]) -> dict[Callable, DriveReads]:
        """By what makes groups of a trace: modes that do it alike share the pass over the caches."""
        wishes = self.wishes
        modes = {MODES[mode].make: mode for mode in wishes.modes}
        return {
            make: DriveReads(trace, mode, wishes.chunk, wishes.cache_bytes, progress) for make, mode in modes.items()
        }

    @property
    def points(self) -> int:
        """Points of a round."""
        return len(self._order) // self.wishes.repeats * len(self.traces)

    @property
    def total(self) -> float:
        """What ``told`` of :meth:`measured` will be told in all."""
        wishes = self.wishes
        each = wishes.seconds + wishes.ramp_s if wishes.lookups is None else wishes.lookups
        return self.points * wishes.repeats * each

    def label(self, point: Point) -> str:
        """The layout of a point, as it is called in results."""
        return self._names[point.trace]["label"]

    def measured(
        self, medium: Medium, told: Callable[[Point, float, Counters], None] = lambda point, done, counters: None
    ) -> Iterator[Ended]:
        """Run the points on ``medium`` one after the other. ``told`` is called after each slice of one with how much it
        brought, of :attr:`total`. Raises DriveError where a read fails, DataError where a stamp is wrong or
        the target was changed; then its point does not count."""
        wishes = self.wishes
        for point in points_of(wishes, len(self.traces)):
            token, groups = self._window(point)
            max_reads, max_groups = limits(point.mode, wishes.unit, point.in_flight)
            try:
                with Replayer(
                    medium.fd, groups.pages, groups.ends, groups.lookups, page_bytes=groups.page_bytes,
                    max_reads=max_reads, max_groups=max_groups, base=medium.base, fold=medium.fold,
                    engine=medium.engine, rate=wishes.rate, verify=medium.verify, seed=medium.stamp_seed,
                ) as replayer:  # fmt: skip
                    sample = measure(
                        replayer, ramp_s=wishes.ramp_s, seconds=wishes.seconds, lookups=wishes.lookups,
                        lookups_of=_lookups_of(groups, point.mode), disk_moved=medium.disk_moved,
                        told=lambda done, counters, point=point: told(point, done, counters),
                    )  # fmt: skip
            except OSError as error:
                raise DriveError(f"{medium.name}: {error.strerror}") from None
            if told_change := medium.changed():
                raise DataError(told_change)
            yield self._ended(point, medium, groups, token, sample)

    def _ended(self, point: Point, medium: Medium, groups: Groups, token: int, sample: Sample) -> Ended:
        done, wishes = sample.counters, self.wishes
        flags = flags_of(
            sample, mode=point.mode, unit=wishes.unit, in_flight=point.in_flight, engine=medium.engine,
            rate=wishes.rate, window_reads=len(groups.pages),
        )  # fmt: skip
        row = self._named(point, source="measured", drive=medium.name, engine=medium.engine)
        row |= _figures(done, sample.lookups) | {
            "cpu_us_per_read": done.cpu_us_per_read if done.reads else None,
            "short_reads": done.short_reads,
            "retries": done.retries,
            "flags": [*medium.flags, *flags],
        }
        more = {
            "start_token": token,
            "turns": done.reads / len(groups.pages),
            "cpu_share": sample.cpu_share,
            "enters": done.enters,
            "pages_checked": done.checked,
            "drift": sample.drift(),
            "foreign_cpu": sample.load.foreign if sample.load else None,
            "foreign_io": sample.foreign_io,
            "steal": sample.load.stolen if sample.load else None,
            "notes": sample.notes,
            "timeline": sample.timeline(),
        }
        return Ended(row, more)

    def modelled(self, drive) -> Iterator[Ended]:
        """What the model ``drive`` predicts for the points: the same tokens, for as long."""
        from flashsim.device.model import Simulation

        wishes = self.wishes
        for point in points_of(wishes, len(self.traces)):
            token, groups = self._window(point)
            max_reads, max_groups = limits(point.mode, wishes.unit, point.in_flight)
            simulation = Simulation(
                drive, groups, max_reads=max_reads, max_groups=max_groups, rate=wishes.rate, seed=wishes.seed
            )
            lookups_of, ramp_ns = _lookups_of(groups, point.mode), int(wishes.ramp_s * 1e9)
            start = simulation.run(until_ns=ramp_ns)
            if wishes.lookups is None:
                now = simulation.run(until_ns=ramp_ns + int(wishes.seconds * 1e9))
            else:
                now = simulation.run(start.lookups + wishes.lookups)
            row = self._named(point, source="model", drive=drive.name, engine="model")
            row |= _figures(now - start, lookups_of(now) - lookups_of(start))
            yield Ended(row | {"flags": []}, {"start_token": token})

    def _window(self, point: Point) -> tuple[int, Groups]:
        """(first token, groups) of a point. Traces beside one another start at the same place, all else elsewhere."""
        wishes, trace = self.wishes, self.traces[point.trace]
        number = self._order.index(point._replace(trace=0))
        place = np.random.default_rng(wishes.seed).random() + number * _GOLDEN
        size = _WINDOW_PER_S * (wishes.ramp_s + (wishes.seconds or 0))
        size += (wishes.lookups or 0) * (1 + len(trace.ids) / len(trace))
        reads = self._reads[point.trace][MODES[point.mode].make]
        return reads.window(point.cache_bytes, place, int(min(max(size, 1), _WINDOW_MAX)))

    def _named(self, point: Point, **more) -> Row:
        trace, names = self.traces[point.trace], self._names[point.trace]
        return (
            dict.fromkeys(COLUMNS)
            | {name: names[name] for name in ("corpus", "synthetic", "layout", "S", "params", "label", "table_bytes")}
            | {
                "trace": self._files[point.trace],
                "page_bytes": trace.facts["unit_bytes"],
                "cache_bytes": point.cache_bytes,
                "mode": point.mode,
                "in_flight": point.in_flight,
                "in_flight_unit": self.wishes.unit,
                "rate": self.wishes.rate,
                "repeat": point.repeat,
            }
            | more
        )


def _lookups_of(groups: Groups, mode: str) -> Callable[[Progress], float]:
    """What counts as lookups done: a chunk of prefill may take as long as a point, so what is there of it counts."""
    if MODES[mode].chunked:
        return lambda done: groups.lookups_of(done.groups, done.reads)
    return lambda done: done.lookups


def _figures(done, lookups: float) -> Row:
    """The columns that a measurement and a prediction both have."""
    row = {
        "seconds": done.wall_ns / 1e9,
        "lookups": round(lookups),
        "reads": done.reads,
        "reads_per_lookup": done.reads / lookups if lookups else None,
        "lookups_per_s": lookups / done.wall_ns * 1e9,
        "reads_per_s": done.reads_per_s,
        "mb_per_s": done.bytes / done.wall_ns * 1e3,
        "mean_in_flight": done.mean_in_flight,
    }
    return row | _latencies("lookup", done.lookup) | _latencies("read", done.read)


def _latencies(what: str, latency: Latency) -> dict[str, float | None]:
    values = latency.percentiles_ns(list(PERCENTILES.values()))
    named = dict(zip(PERCENTILES, values, strict=True)) | {"mean": latency.mean_ns, "max": latency.max_ns}
    return {f"{what}_{name}_us": float(value) / 1e3 if latency.count else None for name, value in named.items()}


def flag_spread(ended: Sequence[Ended]) -> None:
    """Flag the repeats of a point whose reads/s lie apart; those told before are taken back first."""
    by_point: dict[tuple, list[Row]] = {}
    for each in ended:
        row = each.row
        row["flags"] = [flag for flag in row["flags"] if flag.name != "repeats"]
        if row["source"] == "measured":
            key = tuple(row[name] for name in ("trace", "cache_bytes", "mode", "in_flight"))
            by_point.setdefault(key, []).append(row)
    for rows in by_point.values():
        least, most = (how(row["reads_per_s"] for row in rows) for how in (min, max))
        if least < (1 - _SPREAD) * most:
            text = f"{len(rows)} repeats gave {least:,.0f} to {most:,.0f} reads/s"
            for row in rows:
                row["flags"].append(Flag("repeats", 1 - least / most, text))
