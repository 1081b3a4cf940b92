"""A drive from measurements: few points of a replay or of fio, and the network that comes nearest to them.

Three *families* are tried, each with two values: the latency of a lone read, and the most reads a second.

queue   one thread works in batches: w_us to wake up, h_us a read; so D reads in flight take w + h D each. Virtual disks
        are like this.
flash   pages lie on dies, which serve one read at a time, behind a controller. How much of the latency is the die's can
        hardly be told from a curve; what the published drives have is near.
link    a delay, then one read at a time: media faster than their controller.

The dies of a fit are *effective*: how often reads wait for one another, not what the drive is built of.

Of a lone read's latency a part is the sender's CPU, c_us: the CPU time a read of the deepest point, where waking up is
shared by most. A queue that is kept full hides it, for the drive works meanwhile. Reads that are sent together do not:
the drive is idle until a burst of them is through.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from flashsim.device.measured import Measured
from flashsim.device.model import simulate
from flashsim.device.spec import FLAGGED, Drive, Figure, Point, Source
from flashsim.device.workload import Groups, limits
from flashsim.errors import UsageError
from flashsim.units import number_of

_READS, _GROUPS = 6_000, 2  # of a prediction while fitting, at least
_DRAINS = 100  # reads of a group for each in flight, from which on its end does not matter
_SHARES = (0.65, 0.35, 0.5, 0.8, 0.95)  # of the latency, the die's; first the middle of the presets with dies
_PULL = 0.05  # toward that, for what few noisy points hardly tell: noise of 2 % over a spread of 40 %
_PARALLEL = 8  # reads that a drive of flash serves at a time, at least; a queue's (w + h) / h is about 5
_DOUBT = 2  # so much larger may the sum of squares be of the family which that makes likely
_GROUP_US, _COST_LEAST_US = 1.0, 0.1  # first guess of a host's cost a group; what counts as none, of CPU's too
_DRIVE_LEAST = 0.01  # of a lone read's latency, the drive's share
_FIRST_STEP, _ROUGH_STEP, _LAST_STEP = 0.2, 0.015, 0.002  # of a search, in log


class Family(NamedTuple):
    """What a latency of a lone read, without the CPU's part (us), and a cap (reads/us) are as parameters. doubt, pull:
    the sum of squares is taken times the one, and the other's square comes on top."""

    parameters: Callable[[float, float], dict[str, float]]
    doubt: float = 1.0
    pull: float = 0.0


def _queue(latency: float, cap: float) -> dict[str, float]:
    return {"w_us": max(latency - 1 / cap, 0.0), "h_us": 1 / cap}


def _flash(share: float) -> Callable[[float, float], dict[str, float]]:
    def parameters(latency: float, cap: float) -> dict[str, float]:
        sense = share * latency
        dies = max(1, round(cap * sense))
        return {"dies": dies, "z_us": max(latency - sense - 1 / cap, 0.0), "s_us": sense, "l_us": 1 / cap}

    return parameters


def _link(latency: float, cap: float) -> dict[str, float]:
    return {"z_us": max(latency - 1 / cap, 0.0), "l_us": 1 / cap}


def _families(depths: int, parallel: float) -> list[Family]:
    """What may be told apart at so many depths. parallel: a lone read's latency over what each one more adds."""
    like_queue = parallel < _PARALLEL
    if depths == 2:
        return [Family(_queue if like_queue else _flash(_SHARES[0]))]
    doubts = (1, _DOUBT) if like_queue else (_DOUBT, 1)
    flash = [Family(_flash(share), doubts[1], _PULL * math.log(share / _SHARES[0])) for share in _SHARES]
    return [Family(_queue, doubts[0]), *flash, Family(_link, _DOUBT)]


def calibrate(
    points: Sequence[Measured], name: str, source: Source, progress: Callable[[list], Iterable] = iter
) -> Drive:
    """The drive that comes nearest to ``points``, in the logarithm of reads/s; its ``points`` hold them beside its own.

    With three depths or more the best family is taken; with two, ``queue`` where each read more in flight adds an
    eighth of a lone read's latency or more, else ``flash``. A cost of the host a group (hl_us) is fitted too where
    groups of several sizes were measured. progress: goes through the list of what is tried, as tqdm does. Raises
    UsageError for fewer than two depths, and for what no drive does.
    """
    depths = len({point.reads_in_flight for point in points})
    if depths < 2:
        raise UsageError(
            f"{depths} depth in {number_of(len(points), 'point')}: 2 are needed at least, such as 1 and 64 in flight"
        )
    for point in points:
        if not 1e-7 <= point.reads_in_flight / point.reads_per_s <= 1:
            rate, reads = point.reads_per_s, point.reads_in_flight
            raise UsageError(
                f"{rate:,.4g} reads/s with {reads} in flight: no drive takes under 0.1 us or over 1 s a read"
            )
    alone, each = _line(points)
    by_load: dict[int, tuple[_Load, list[float]]] = {}
    for point in points:
        load = _load(point)
        by_load.setdefault(id(load), (load, []))[1].append(point.reads_per_s)
    start, cpu_us = [alone, 1 / each], _cpu_us(points)
    if len({point.reads_per_group for point in points}) > 1:
        start.append(_GROUP_US)
    roughly = []
    for family in progress(_families(depths, alone / each)):
        loss = _Loss(family, cpu_us, list(by_load.values()))
        roughly.append((*_search(loss, start, _FIRST_STEP, _ROUGH_STEP), loss))
    _, values, loss = min(roughly, key=lambda found: found[0])
    _, values = _search(loss, values, _ROUGH_STEP, _LAST_STEP)
    parameters = loss.parameters(values)
    made = []
    for point in points:
        modelled = _load(point).reads_per_s(_drive(parameters))
        held = point._asdict()
        note = f"{FLAGGED}{', '.join(flags)}" if (flags := held.pop("flags")) else ""
        made.append(Point("measured", "A", model_reads_per_s=round(modelled, 1), note=note, **held))
    figures = {key: Figure(float(f"{value:.5g}"), "measured", "C") for key, value in parameters.items()}
    title = f"fitted to {len(points)} points at {depths} depths; dies, if any, are effective"
    return Drive(name, title, {"measured": source}, figures, tuple(made), page_bytes=points[0].page_bytes)


def errors(drive: Drive) -> np.ndarray:
    """Of each point that a drive was fitted to: reads/s of the model over those measured, - 1."""
    return np.array([point.model_reads_per_s / point.reads_per_s - 1 for point in drive.points])


class _Load(NamedTuple):
    """What was asked of the drive."""

    groups: Groups
    max_reads: int
    max_groups: int

    def reads_per_s(self, drive: Drive) -> float:
        return simulate(drive, self.groups, max_reads=self.max_reads, max_groups=self.max_groups).reads_per_s


def _load(point: Measured) -> _Load:
    """The point's; one object for points that come to the same."""
    reads = point.reads_in_flight
    _, max_groups = limits(point.mode, point.in_flight_unit, point.in_flight)
    return _loaded(reads, max_groups, min(point.reads_per_group, _DRAINS * reads), point.lookups_per_group)


@cache
def _loaded(max_reads: int, max_groups: int, size: int, lookups_per_group: int) -> _Load:
    """Groups of ``size`` reads, on pages drawn at random."""
    count = max(_GROUPS, _READS // size)
    pages = np.random.default_rng(0).integers(0, 2**32, count * size, dtype=np.uint32)
    ends = np.arange(1, count + 1, dtype=np.int64) * size
    lookups = np.full(count, lookups_per_group, np.int64)
    return _Load(Groups(pages, ends, lookups, 4096), max_reads, max_groups)


def _line(points: Sequence[Measured]) -> tuple[float, float]:
    """Microseconds of a lone read, and what each one more in flight adds, by a least-squares line."""
    reads = np.array([point.reads_in_flight for point in points], np.float64)
    latency = reads / np.array([point.reads_per_s for point in points]) * 1e6
    each, alone = np.polyfit(reads - 1, latency, 1, w=1 / latency)
    least = latency.min()
    return max(float(alone), least / 100), max(float(each), least / 1000)


def _cpu_us(points: Sequence[Measured]) -> float:
    """Microseconds of CPU for a read of the deepest point, 0 where that is not known. One thread has no more than reads
    are apart."""
    deepest = max(point.reads_in_flight for point in points)
    of_those = [point for point in points if point.reads_in_flight == deepest and point.cpu_us_per_read]
    return min((min(point.cpu_us_per_read, 1e6 / point.reads_per_s) for point in of_those), default=0.0)


class _Loss(NamedTuple):
    """The sum of squares of a family with its doubt, of latency (us), cap (reads/us) and maybe hl_us. cpu_us: of a
    read."""

    family: Family
    cpu_us: float
    measured: Sequence[tuple[_Load, list[float]]]  # reads/s under each load

    def parameters(self, values: Sequence[float]) -> dict[str, float]:
        latency, cap, *group = values
        costs = {"c_us": self.cpu_us, "hl_us": group[0] if group else 0.0}
        drive = self.family.parameters(max(latency - self.cpu_us, latency * _DRIVE_LEAST), cap)
        return drive | {name: cost for name, cost in costs.items() if cost >= _COST_LEAST_US}

    def __call__(self, values: Sequence[float]) -> float:
        drive = _drive(self.parameters(values))
        off = self.family.pull**2
        for load, rates in self.measured:
            modelled = load.reads_per_s(drive)
            off += sum(math.log(modelled / rate) ** 2 for rate in rates)
        return self.family.doubt * off


def _search(loss: _Loss, values: list[float], step: float, least: float) -> tuple[float, list[float]]:
    """Lowest loss and where: each value up and down by a factor, which shrinks from exp(step) when neither helps."""
    best = loss(values)
    while step > least:
        improved = False
        for at in range(len(values)):
            for factor in (math.exp(step), math.exp(-step)):
                tried = [value * factor if k == at else value for k, value in enumerate(values)]
                if (reached := loss(tried)) < best:
                    best, values, improved = reached, tried, True
                    break
        if not improved:
            step /= 2
    return best, values


def _drive(parameters: dict[str, float]) -> Drive:
    return Drive("fit", "", parameters={key: Figure(value, "", "C") for key, value in parameters.items()})
