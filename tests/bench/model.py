"""A model of a drive, calibrated from 1 and 64 reads in flight alone, against the drive itself.

A drive drifts, a shared one by a quarter within minutes, and is slow for moments. So all is measured in short windows
that take turns, calibrations among them, and medians are compared: what drifts falls on all alike. Every window begins
elsewhere in the text, or a cache of the host would answer.
"""

import os
from collections.abc import Sequence
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
RAMP_MS, WINDOW_MS, PREDICTED_MS = 15, 60, 600
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


def model(target: Path, stream, tokens: int, rounds: int, depths: Sequence[int] = DEPTHS) -> None:
    """Reads/s of the model over those of the drive: layouts x workloads x reads in flight, without a cache and, as
    ``flashsim plan`` has it, with 1 GiB that the text before has warmed. Tokens/s are these by a factor of the text."""
    size = target.stat().st_size // PAGE * PAGE
    fd = os.open(target, os.O_RDONLY | os.O_DIRECT)
    loads = {name: _loads(stream, name, min(tokens, len(stream))) for name in LAYOUTS}
    rates: dict[tuple[str, str, int], list[float]] = {}
    calibrations: dict[str, list[np.ndarray]] = {name: [] for name in LAYOUTS}
    draw = np.random.default_rng(0)
    for _ in range(rounds):
        for name in LAYOUTS:
            fold = fold_of(size, layout(name).pages, PAGE)
            for depth in depths:
                calibrations[name].append(_calibration(fd, fold, loads[name][0], draw))
                for load in loads[name]:
                    if depth == depths[-1] or not load.name.endswith("1 GiB"):
                        load = load.elsewhere(draw)
                        done = _measured(fd, fold, load, depth)
                        rates.setdefault((name, load.name, depth), []).append(done.reads_per_s)
    os.close(fd)
    drives = {name: _fitted(np.median(calibrations[name], axis=0), loads[name][0]) for name in LAYOUTS}
    by_name = {(name, load.name): load for name in LAYOUTS for load in loads[name]}
    ratios = {}
    for (name, of, depth), found in rates.items():
        rate, predicted = median(found), _predicted(drives[name], by_name[name, of], depth)
        error = 1.25 * np.std(found) / len(found) ** 0.5 / rate  # of a median, as of a normal distribution
        ratios[name, of, depth] = predicted / rate, error
    _print(ratios, rounds, depths)


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


def _measured(fd: int, fold: int, load: Load, depth: int) -> Progress:
    """What was done in a window, after a ramp."""
    groups = load.groups
    with Replayer(
        fd, groups.pages, groups.ends, groups.lookups, page_bytes=PAGE, max_reads=depth, max_groups=load.max_groups,
        fold=fold, engine="io_uring",
    ) as replayer:  # fmt: skip
        start = replayer.counters
        while start.wall_ns < RAMP_MS * 10**6:
            start = replayer.slice()
        now = start
        while now.wall_ns < start.wall_ns + WINDOW_MS * 10**6:
            now = replayer.slice()
    return now - start


def _calibration(fd: int, fold: int, stream: Load, draw: np.random.Generator) -> np.ndarray:
    """float64, shape (depths, 2): reads/s and CPU us a read at each of CALIBRATED."""
    runs = [_measured(fd, fold, stream.elsewhere(draw), depth) for depth in CALIBRATED]
    return np.array([(done.reads_per_s, done.cpu_us_per_read) for done in runs])


def _fitted(calibration: np.ndarray, load: Load) -> Drive:
    each = len(load.groups.pages) / load.groups.lookups.sum()
    points = [
        Measured(depth, "reads", "stream", each, 1, PAGE, *map(float, found))
        for depth, found in zip(CALIBRATED, calibration, strict=True)
    ]
    return calibrate(points, "fit", Source("windows among the others", ""))


def _predicted(drive: Drive, load: Load, depth: int) -> float:
    simulation = Simulation(drive, load.groups, max_reads=depth, max_groups=load.max_groups)
    start = simulation.run(until_ns=RAMP_MS * 10**6)
    return (simulation.run(until_ns=(RAMP_MS + PREDICTED_MS) * 10**6) - start).reads_per_s


def _print(ratios: dict[tuple[str, str, int], tuple[float, float]], rounds: int, depths) -> None:
    print(f"reads/s, model / drive, medians of {rounds} windows of {WINDOW_MS} ms, reads in flight:\n")
    print("| layout | workload | " + " | ".join(map(str, depths)) + " |\n" + "|---" * (2 + len(depths)) + "|")
    for name, load in dict.fromkeys((name, load) for name, load, _ in ratios):
        found = [ratios.get((name, load, depth)) for depth in depths]
        print(f"| {name} | {load} | " + " | ".join(f"{one[0]:.2f}" if one else "" for one in found) + " |")
    for what in ("1 GiB", ""):
        off = sorted(
            abs(ratio - 1) for (_, load, _), (ratio, _) in ratios.items() if load.endswith("1 GiB") == bool(what)
        )
        print(
            f"\n{what or 'no cache'}: within 10 % {sum(one <= 0.1 for one in off)} of {len(off)}, worst {off[-1]:.0%}"
        )
    print(f"\nstandard error of a drive's median: {median(error for _, error in ratios.values()):.1%} (median)")
