"""One point of a replay: reads sent to the drive for a while, after a ramp that is not counted, and judged."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from flashsim.device.checks import NAND_LEAST_US
from flashsim.device.engines import io_workers
from flashsim.device.host import Load
from flashsim.kernels.replay import SLICE_NS, Counters, Replayer

TOO_LOW = ("in-flight", "fast", "rate")  # flags whose lower values are the worse ones
_ENOUGH_READS = 20  # a group's reads for each of those in flight, so that its end does not empty the queue for long
_THIRDS_SLICES = 6  # from which on a first and a last third can be told


class Flag(NamedTuple):
    """What makes a figure doubtful. value: the number that says so, or None where ``text`` has it."""

    name: str
    value: float | None
    text: str

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={self.value:.4g}"


class Tick(NamedTuple):
    """The end of a slice: ns, lookups and reads since the ramp ended."""

    ns: int
    lookups: float
    reads: int


@dataclass(frozen=True)
class Sample:
    """What was measured from the end of the ramp on: the counters, the lookups with what is there of a group not yet
    complete, the slices, what else ran on the machine (None = not known), bytes that the disk moved for all (likewise),
    kernel threads that io_uring's reads took, and what the engine had to do without."""

    counters: Counters
    lookups: float
    ticks: list[Tick]
    load: Load | None
    disk_bytes: int | None
    workers: int
    notes: list[str]

    @property
    def foreign_io(self) -> float | None:
        """Share of what the disk moved that was not read here."""
        if self.disk_bytes is None:
            return None
        return max(0.0, 1 - self.counters.bytes / self.disk_bytes) if self.disk_bytes else 0.0

    @property
    def cpu_share(self) -> float:
        """CPU seconds of this process for each second inside slices."""
        return self.counters.cpu_ns / max(1, self.counters.wall_ns - self.counters.gap_ns)

    def timeline(self) -> list[dict[str, float]]:
        """Rates of each second or so, as the slices fall."""
        rows, last = [], Tick(0, 0, 0)
        for tick in self.ticks:
            if tick.ns - last.ns >= 10**9 or tick is self.ticks[-1]:
                seconds = max(1, tick.ns - last.ns) / 1e9
                lookups, reads = (tick.lookups - last.lookups) / seconds, (tick.reads - last.reads) / seconds
                rows.append({"at_s": tick.ns / 1e9, "lookups_per_s": lookups, "reads_per_s": reads})
                last = tick
        return rows

    def drift(self) -> float | None:
        """Reads/s of the last third over those of the first, - 1; None where there are too few slices to tell."""
        if len(self.ticks) < _THIRDS_SLICES:
            return None
        third = len(self.ticks) // 3
        first, before, last = self.ticks[third - 1], self.ticks[-third - 1], self.ticks[-1]
        if not first.reads:
            return None
        return (last.reads - before.reads) / (last.ns - before.ns) / (first.reads / first.ns) - 1


def measure(
    replayer: Replayer,
    *,
    ramp_s: float,
    seconds: float | None,
    lookups: int | None,
    lookups_of: Callable[[Counters], float] = lambda counters: counters.lookups,
    disk_moved: Callable[[], int | None] = lambda: None,
    told: Callable[[float, Counters], None] = lambda done, counters: None,
) -> Sample:
    """Let ``replayer`` run for ``ramp_s`` uncounted, then for ``seconds`` or until ``lookups`` more are complete.

    lookups_of: what counts as lookups done. disk_moved: bytes that the disk has moved by now. ``told`` is called after
    each slice with the counters so far, and before them the seconds that it took, the ramp included, or the lookups
    that it completed.
    """
    start = replayer.counters
    for last, start in _slices(replayer, ramp_s, None):
        told(0 if seconds is None else (start.wall_ns - last.wall_ns) / 1e9, start)
    before, load, moved, ticks, now = lookups_of(start), Load.now(), disk_moved(), [], start
    for last, now in _slices(replayer, seconds, None if lookups is None else lookups + start.lookups):
        ticks.append(Tick(now.wall_ns - start.wall_ns, lookups_of(now) - before, now.reads - start.reads))
        told(now.lookups - last.lookups if seconds is None else (now.wall_ns - last.wall_ns) / 1e9, now)
    after, moved_after = Load.now(), disk_moved()
    load = after - load if after and load else None
    disk_bytes = None if moved is None or moved_after is None else moved_after - moved
    return Sample(now - start, lookups_of(now) - before, ticks, load, disk_bytes, io_workers(), replayer.notes)


def _slices(replayer: Replayer, seconds: float | None, limit: int | None) -> Iterator[tuple[Counters, Counters]]:
    """(counters before, after) each slice, until ``seconds`` are over, or ``limit`` lookups since the first slice ever
    are complete."""
    now = replayer.counters
    ends = None if seconds is None else now.wall_ns + int(seconds * 1e9)
    while True:
        left = SLICE_NS if ends is None else min(SLICE_NS, ends - now.wall_ns)
        if left <= 0 or (limit is not None and now.lookups >= limit):
            return
        last, now = now, replayer.slice(left, limit)
        yield last, now


def flags_of(
    sample: Sample, *, mode: str, unit: str, in_flight: int, engine: str, rate: float, window_reads: int
) -> list[Flag]:
    """What makes the figures of ``sample`` doubtful. window_reads: reads until the groups come round again."""
    done, found = sample.counters, []

    def flag(name: str, value: float, text: str) -> None:
        found.append(Flag(name, value, text))

    if engine != "null":
        reached = done.lookup.sum_ns / done.wall_ns if unit == "lookups" else done.mean_in_flight
        deep = mode == "stream" or unit == "lookups" or done.reads >= _ENOUGH_READS * in_flight * done.groups
        if not rate and deep and reached < 0.9 * in_flight:
            flag("in-flight", reached, f"{reached:.1f} {unit} in flight on average, {in_flight} asked")
        p50 = done.read.percentiles_ns([50])[0] / 1e3
        if in_flight == 1 and unit == "reads" and p50 < NAND_LEAST_US:
            flag("fast", p50, f"{p50:.1f} us is the median of single reads: RAM or a cache answers, not NAND flash")
        if done.reads > window_reads:
            turns = done.reads / window_reads
            flag("again", turns, f"the {window_reads:,} reads went round {turns:.1f} times: the drive may cache them")
        cores = min(in_flight, os.cpu_count() or 1) if engine == "threads" else 1
        if sample.cpu_share > 0.9 * cores:
            flag("cpu-bound", sample.cpu_share, f"{sample.cpu_share:.0%} of a core for {in_flight} {unit} in flight")
        if sample.workers:
            flag("workers", sample.workers, f"io_uring handed reads to {sample.workers} kernel threads: try threads")
    lookups_per_s = sample.lookups / done.wall_ns * 1e9
    if rate and lookups_per_s < 0.95 * rate:
        flag("rate", lookups_per_s, f"{lookups_per_s:,.0f} lookups/s, {rate:,.0f} asked")
    if (drift := sample.drift()) is not None and abs(drift) > 0.1:
        flag("drift", drift, f"reads/s of the last third {drift:+.0%} to the first")
    if sample.load and sample.load.foreign > 0.2:
        flag("foreign-cpu", sample.load.foreign, f"{sample.load.foreign:.0%} of all cores were with other processes")
    if sample.foreign_io is not None and sample.foreign_io > 0.2:
        flag("foreign-io", sample.foreign_io, f"{sample.foreign_io:.0%} of what the disk moved was for other processes")
    if sample.load and sample.load.stolen > 0.1:
        flag("steal", sample.load.stolen, f"{sample.load.stolen:.0%} of all cores were with other virtual machines")
    return found
