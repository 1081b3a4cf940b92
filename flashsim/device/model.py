"""What a drive that is not there would do: a ``Simulation`` sends it groups of reads, and returns what a replay would.

The drive is a closed queueing network, simulated event by event (``csim/drive.c``); :mod:`flashsim.device.spec` says
what it is made of, :mod:`flashsim.device.mva` what a formula says of it.
"""

from flashsim import kernels
from flashsim.device.spec import Drive, drive_names, load_drive
from flashsim.errors import UsageError
from flashsim.kernels.drive import NS_MAX, TIME_MAX, DriveRun
from flashsim.kernels.replay import Latency, Progress

__all__ = ["Drive", "Simulation", "drive_names", "load_drive", "simulate"]

_WARM_UP = 10  # this share of the lookups comes before, uncounted


class Simulation:
    """``drive`` under the load of ``groups`` (flashsim.device.workload.Groups), at most ``max_reads`` reads and
    ``max_groups`` groups in flight, from time 0 on.

    rate: lookups a second, each sent when it is due; 0 = as fast as the limits allow. seed: of where pages lie on the
    drive. Raises UsageError for a template, and where no lookup reads anything.
    """

    def __init__(
        self, drive: Drive, groups, *, max_reads: int, max_groups: int, rate: float = 0.0, seed: int = 0,
        backend: str = "c",
    ) -> None:  # fmt: skip
        stations = drive.stations(seed, groups.page_bytes)
        if not len(groups.pages):
            total = int(groups.lookups.sum())
            raise UsageError(
                f"0 of {total:,} lookups read from the drive: there is nothing to model; take a smaller cache"
            )
        self._run = DriveRun(
            stations, groups.pages, groups.ends, groups.lookups, max_reads, min(max_groups, NS_MAX), float(rate)
        )
        self._drive_run, self._page_bytes = kernels.backend(backend).drive_run, groups.page_bytes

    def run(self, lookups: int = NS_MAX, until_ns: int = TIME_MAX) -> Progress:
        """Go on until ``lookups`` lookups are complete, or it is ``until_ns``; return what has been done by then."""
        self._drive_run(self._run, lookups, until_ns)
        state = {name: int(self._run.state[name][0]) for name in self._run.state.dtype.names}
        read = Latency(self._run.read_bins.copy(), state["reads"], state["read_sum"], state["read_max"])
        lookup = Latency(self._run.lookup_bins.copy(), state["lookups"], state["lookup_sum"], state["lookup_max"])
        return Progress(
            state["lookups"], state["groups"], state["reads"], state["reads"] * self._page_bytes,
            state["in_flight_ns"], state["now"], read, lookup,
        )  # fmt: skip


def simulate(drive: Drive, groups, *, lookups: int | None = None, **more) -> Progress:
    """What :class:`Simulation` does in ``lookups`` lookups, None = those of ``groups``, after a tenth of that as a
    warm-up. Raises UsageError as it does, and where those lookups read nothing."""
    simulation = Simulation(drive, groups, **more)
    counted = int(groups.lookups.sum()) if lookups is None else lookups
    before = simulation.run(max(1, counted // _WARM_UP))
    made = simulation.run(before.lookups + counted) - before
    if not made.wall_ns:
        raise UsageError(f"the first {counted:,} lookups read nothing: let more be counted, or take a smaller cache")
    return made
