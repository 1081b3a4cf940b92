"""A model of a drive, calibrated from 1 and 64 reads in flight alone, against the drive itself.

A drive drifts, a shared one by a quarter within minutes. So each point stands between two calibrations, and is
predicted from these: what is compared is the model, not the drive of now with the drive of then. Every run begins
elsewhere in the text, or a cache of the host would answer.
"""

import os
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

from flashsim.device.calibrate import calibrate
from flashsim.device.measured import Measured
from flashsim.device.model import Simulation
from flashsim.device.reads import fold_of
from flashsim.device.spec import Drive, Source
from flashsim.device.workload import GROUPS_MAX, Groups, joined
from flashsim.kernels.replay import Progress, Replayer
from flashsim.layouts import layout
from flashsim.studies import demand as demands
from flashsim.studies.demand import Warm, counted_tokens
from flashsim.workloads import Workload

LAYOUTS, PAGE, CACHE = ("flat", "engram", "pagegram"), 4096, 1 << 30
DEPTHS, CALIBRATED = (1, 2, 4, 8, 16, 32, 64), (1, 64)
KEPT = 8_000_000  # references of each load, so that its reads do not come round
RAMP_MS, RUN_MS, CALIBRATION_MS = 100, 500, 200
WORKLOADS = (Workload(1), Workload(8), Workload(0, 2048))


class Load(NamedTuple):
    """Groups that are sent together, one group at a time or however many."""

    name: str
    groups: Groups
    max_groups: int

    def elsewhere(self, draw: np.random.Generator) -> "Load":
        """The same, from another group on."""
        at, groups = int(draw.integers(len(self.groups.ends))), self.groups
        return self._replace(groups=joined([groups.part(at, len(groups.ends)), groups.part(0, at)]))

    def lookups_of(self, done: Progress) -> float:
        """A chunk that is not complete counts by its reads."""
        return self.groups.lookups_of(done.groups, done.reads)


def model(target: Path, stream, tokens: int, rounds: int) -> None:
    """Tokens/s of the model over those of the drive: layouts x workloads x reads in flight, without a cache and, as
    ``flashsim plan`` has it, with 1 GiB that the text before has warmed."""
    size = target.stat().st_size // PAGE * PAGE
    fd = os.open(target, os.O_RDONLY | os.O_DIRECT)
    loads = {name: _loads(stream, name, min(tokens, len(stream))) for name in LAYOUTS}
    ratios: dict[tuple[str, str, int], list[float]] = {}
    draw = np.random.default_rng(0)
    for _ in range(rounds):
        for name in LAYOUTS:
            pages = layout(name).pages
            fold = fold_of(size, pages, PAGE)
            for depth in DEPTHS:
                before = _calibration(fd, fold, loads[name][0], draw)
                for each in loads[name]:
                    if each.name.endswith("1 GiB") and depth != DEPTHS[-1]:
                        continue
                    load = each.elsewhere(draw)
                    start, now = _measured(fd, fold, load, depth, RAMP_MS, RUN_MS)
                    after = _calibration(fd, fold, loads[name][0], draw)
                    rate = _rate(load, start, now)
                    drive = _fitted((before + after) / 2, load)
                    ratios.setdefault((name, load.name, depth), []).append(_predicted(drive, load, depth) / rate)
                    before = after
    os.close(fd)
    _print(ratios, rounds)


def _loads(stream, name: str, tokens: int) -> list[Load]:
    made, counted = layout(name), counted_tokens(tokens)
    demands.KEPT_REFERENCES = KEPT
    warm = Warm(stream, made, 0, tokens - counted, enough=CACHE // PAGE)
    found = []
    for workload in WORKLOADS:
        demand = warm.demand(workload, tokens, [1, CACHE // PAGE])
        if not found:
            found.append(Load("stream", demand.kept, GROUPS_MAX))
        found.append(Load(workload.label, demand.kept, 1))
        found.append(Load(f"{workload.label}, 1 GiB", demand.sent(1), 1))
    return found


def _measured(fd: int, fold: int, load: Load, depth: int, ramp_ms: int, run_ms: int) -> tuple[Progress, Progress]:
    """What was done by the end of the ramp, and by the end."""
    groups = load.groups
    with Replayer(
        fd, groups.pages, groups.ends, groups.lookups, page_bytes=PAGE, max_reads=depth, max_groups=load.max_groups,
        fold=fold, engine="io_uring",
    ) as replayer:  # fmt: skip
        start = replayer.counters
        while start.wall_ns < ramp_ms * 10**6:
            start = replayer.slice()
        now = start
        while now.wall_ns < start.wall_ns + run_ms * 10**6:
            now = replayer.slice()
    return start, now


def _rate(load: Load, start: Progress, now: Progress) -> float:
    return (load.lookups_of(now) - load.lookups_of(start)) / (now.wall_ns - start.wall_ns) * 1e9


def _calibration(fd: int, fold: int, stream: Load, draw: np.random.Generator) -> np.ndarray:
    """float64, shape (depths, 2): reads/s and CPU us a read at each of CALIBRATED."""
    runs = [_measured(fd, fold, stream.elsewhere(draw), depth, 0, CALIBRATION_MS) for depth in CALIBRATED]
    return np.array([((now - start).reads_per_s, (now - start).cpu_us_per_read) for start, now in runs])


def _fitted(calibration: np.ndarray, load: Load) -> Drive:
    each = len(load.groups.pages) / load.groups.lookups.sum()
    points = [
        Measured(depth, "reads", "stream", each, 1, PAGE, *map(float, found))
        for depth, found in zip(CALIBRATED, calibration, strict=True)
    ]
    return calibrate(points, "fit", Source("just before and after", ""))


def _predicted(drive: Drive, load: Load, depth: int) -> float:
    simulation = Simulation(drive, load.groups, max_reads=depth, max_groups=load.max_groups)
    start = simulation.run(until_ns=RAMP_MS * 10**6)
    return _rate(load, start, simulation.run(until_ns=(RAMP_MS + RUN_MS) * 10**6))


def _print(ratios: dict[tuple[str, str, int], list[float]], rounds: int) -> None:
    print(f"tokens/s, model / drive, median of {rounds}, reads in flight:\n")
    print("| layout | workload | " + " | ".join(map(str, DEPTHS)) + " |\n" + "|---" * (2 + len(DEPTHS)) + "|")
    for name, load in dict.fromkeys((name, load) for name, load, _ in ratios):
        found = [ratios.get((name, load, depth)) for depth in DEPTHS]
        print(f"| {name} | {load} | " + " | ".join(f"{median(one):.2f}" if one else "" for one in found) + " |")
    off = sorted(abs(median(one) - 1) for one in ratios.values())
    within = sum(one <= 0.1 for one in off)
    spread = median(max(one) / min(one) - 1 for one in ratios.values())
    print(
        f"\nwithin 10 %: {within} of {len(off)}; worst {off[-1]:.0%}; a point's rounds spread by {spread:.0%} (median)"
    )
