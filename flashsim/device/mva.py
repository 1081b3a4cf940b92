"""Formulas for a drive in closed loop: exact mean value analysis, and the bounds that no simulation may pass."""

import math
from typing import NamedTuple

from flashsim.device.spec import Drive


class Network(NamedTuple):
    """reads_per_s, and read_us: the mean latency of a read."""

    reads_per_s: float
    read_us: float


class Bounds(NamedTuple):
    """What limits a drive. latency_us: of a read that meets no other. caps: reads/s by station, those that are there.
    knee: reads in flight at which the least cap could be reached."""

    latency_us: float
    caps: dict[str, float]

    @property
    def cap(self) -> float:
        return min(self.caps.values(), default=math.inf)

    @property
    def knee(self) -> float:
        return self.latency_us * 1e-6 * self.cap

    def reads_per_s(self, in_flight: float) -> float:
        """The most reads/s with ``in_flight`` in flight: Little's law with the least latency, or the least cap."""
        return min(in_flight / self.latency_us * 1e6, self.cap)


def bounds(drive: Drive, reads_per_lookup: float = 1.0) -> Bounds:
    """Asymptotic bounds (Denning and Buzen, 1978) where a lookup of ``reads_per_lookup`` reads is sent together. Raises
    UsageError for a template."""
    drive.require_calibrated()
    servers, demands = _servers(drive), _demands(drive, reads_per_lookup)
    alone = drive.value("z_us") + drive.value("w_us") + sum(demands.values())
    return Bounds(alone, {name: servers[name] / demand * 1e6 for name, demand in demands.items() if demand})


def mva(drive: Drive, in_flight: int, reads_per_lookup: float = 1.0) -> Network:
    """Mean value analysis (Reiser and Lavenberg, 1980) with ``in_flight`` reads circulating, in O(in_flight) steps.

    Exact for exponential service times and pages that lie on random dies; the simulation's are nearly constant, which
    queues less. The set-up of the host's batches breaks the product form: a read that meets q at the host is taken to
    wait for w + h (1 + q), exact where the host is all there is. Raises UsageError for a template.
    """
    drive.require_calibrated()
    delay, wake = drive.value("z_us"), drive.value("w_us")
    servers, demands = _servers(drive), _demands(drive, reads_per_lookup)
    queues, network = dict.fromkeys(demands, 0.0), Network(0.0, 0.0)
    for reads in range(1, in_flight + 1):
        waits = {name: demand * (1 + queues[name]) for name, demand in demands.items()}
        waits["host"] += wake
        latency = delay + sum(waits.values())
        rate = reads / latency
        queues = {name: rate * wait / servers[name] for name, wait in waits.items()}
        network = Network(rate * 1e6, latency)
    return network


def _servers(drive: Drive) -> dict[str, float]:
    return {"die": drive.value("dies"), "channel": drive.value("channels"), "link": 1, "host": 1, "cpu": 1}


def _demands(drive: Drive, reads_per_lookup: float) -> dict[str, float]:
    """Microseconds of a read at each station that serves one at a time."""
    host = drive.value("h_us") + drive.value("hl_us") / reads_per_lookup
    times = {"die": "s_us", "channel": "b_us", "link": "l_us", "cpu": "c_us"}
    return {name: drive.value(parameter) for name, parameter in times.items()} | {"host": host}
