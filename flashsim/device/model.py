"""What a drive that is not there would do: ``simulate`` sends it groups of reads, and returns what a replay would.

The drive is a closed queueing network, simulated event by event (``csim/drive.c``); :mod:`flashsim.device.spec` says
what it is made of, :mod:`flashsim.device.mva` what a formula says of it.
"""

from dataclasses import dataclass, fields

from flashsim import kernels
from flashsim.device.spec import Drive, drive_names, load_drive
from flashsim.errors import UsageError
from flashsim.kernels.drive import NS_MAX, DriveRun
from flashsim.kernels.replay import Latency

__all__ = ["Drive", "Prediction", "drive_names", "load_drive", "simulate"]

_WARM_UP = 10  # this share of the lookups comes before, uncounted


@dataclass(frozen=True)
class Prediction:
    """What the model did; the names are those of a replay's ``Counters``."""

    lookups: int
    groups: int
    reads: int
    bytes: int
    in_flight_ns: int  # reads in flight, summed over time
    wall_ns: int
    read: Latency
    lookup: Latency

    @property
    def mean_in_flight(self) -> float:
        """Reads in flight, averaged over time."""
        return self.in_flight_ns / self.wall_ns

    @property
    def reads_per_s(self) -> float:
        return self.reads / self.wall_ns * 1e9

    @property
    def lookups_per_s(self) -> float:
        return self.lookups / self.wall_ns * 1e9

    def __sub__(self, earlier: "Prediction") -> "Prediction":
        return Prediction(*(getattr(self, each.name) - getattr(earlier, each.name) for each in fields(self)))


def simulate(
    drive: Drive,
    groups,
    *,
    max_reads: int,
    max_groups: int,
    rate: float = 0.0,
    lookups: int | None = None,
    seed: int = 0,
    backend: str = "c",
) -> Prediction:
    """What ``drive`` does with ``groups`` (flashsim.device.workload.Groups), at most ``max_reads`` reads and
    ``max_groups`` groups in flight.

    rate: lookups a second, each sent when it is due; 0 = as fast as the limits allow. lookups: how many are counted,
    after a tenth of that as a warm-up; None = those of ``groups``. seed: of where pages lie on the drive. Raises
    UsageError for a template, and where no lookup reads anything.
    """
    stations = drive.stations(seed)
    total = int(groups.lookups.sum())
    if not len(groups.pages):
        raise UsageError(f"0 of {total:,} lookups read from the drive: there is nothing to model; take a smaller cache")
    counted = total if lookups is None else lookups
    run = DriveRun(stations, groups.pages, groups.ends, groups.lookups, max_reads, min(max_groups, NS_MAX), float(rate))
    drive_run = kernels.backend(backend).drive_run
    drive_run(run, max(1, counted // _WARM_UP))
    before = _so_far(run, groups.page_bytes)
    drive_run(run, before.lookups + counted)
    made = _so_far(run, groups.page_bytes) - before
    if not made.wall_ns:
        raise UsageError(f"the first {counted:,} lookups read nothing: let more be counted, or take a smaller cache")
    return made


def _so_far(run: DriveRun, page_bytes: int) -> Prediction:
    state = {name: int(run.state[name][0]) for name in run.state.dtype.names}
    read = Latency(run.read_bins.copy(), state["reads"], state["read_sum"], state["read_max"])
    lookup = Latency(run.lookup_bins.copy(), state["lookups"], state["lookup_sum"], state["lookup_max"])
    return Prediction(
        state["lookups"], state["groups"], state["reads"], state["reads"] * page_bytes, state["in_flight_ns"],
        state["now"], read, lookup,
    )  # fmt: skip
