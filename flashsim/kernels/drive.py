"""``DriveRun``: a simulated drive under a load, on which the kernels in C and numba work. See ``csim/csim.h``."""

from dataclasses import dataclass, field, fields

import numpy as np

# not from the compiled part, which the numba kernels do without
MAX_READS = 4096  # FS_REPLAY_READS: in flight at a time, in a replay too
BINS = 1856  # FS_HISTOGRAM_BINS
TIME_MAX = 1 << 46  # ns
NS_MAX = 2**31 - 1  # of one station
_NAMES = (
    "now lookups groups reads in_flight groups_in_flight in_flight_ns read_sum read_max lookup_sum lookup_max "
    "started sent next_group next_read end sending burst cpu_free host_free gate link_free hole"
)
STATE = np.dtype([(name, np.int64) for name in _NAMES.split()])  # struct fs_drive_state
READ = np.dtype([(name, np.int64) for name in ("sent", "group", "channel")])
GROUP = np.dtype([(name, np.int64) for name in ("began", "lookups", "left")])


@dataclass(frozen=True)
class Stations:
    """What a read passes, in whole ns; ``struct fs_drive`` says how. dies, channels: how many. seed: of where pages
    lie, and of the jitter."""

    cpu: int = 0
    wake: int = 0
    read: int = 0
    group: int = 0
    delay: int = 0
    sense: int = 0
    jitter: int = 0
    bus: int = 0
    link: int = 0
    dies: int = 1
    channels: int = 1
    seed: int = 0


@dataclass
class DriveRun:
    """The drive ``stations`` and its load, with what has happened so far in ``state`` (shape (1,), dtype STATE).

    pages: uint32, shape (reads,), in the order they are sent. ends, lookups: int64, shape (groups,): group g's pages
    are pages[ends[g-1]:ends[g]], maybe none, for that many lookups. At most ``max_reads`` reads (1 .. MAX_READS) and
    ``max_groups`` groups are in flight. rate: lookups a second; 0 = as fast as the limits allow.
    read_bins, lookup_bins: uint64, shape (BINS,), histograms of latencies. Raises ValueError for what cannot be run.
    """

    stations: Stations
    pages: np.ndarray
    ends: np.ndarray
    lookups: np.ndarray
    max_reads: int
    max_groups: int = NS_MAX
    rate: float = 0.0
    state: np.ndarray = field(default_factory=lambda: np.zeros(1, STATE))
    read_bins: np.ndarray = field(default_factory=lambda: np.zeros(BINS, np.uint64))
    lookup_bins: np.ndarray = field(default_factory=lambda: np.zeros(BINS, np.uint64))

    def __post_init__(self) -> None:
        self.require_valid()
        self.die_free = np.zeros(self.stations.dies, np.int64)
        self.channel_free = np.zeros(self.stations.channels, np.int64)
        self.heap = np.zeros(self.max_reads, np.uint64)
        self.reads = np.zeros(self.max_reads, READ)
        self.begun = np.zeros(self.max_reads, GROUP)
        self.free_reads = np.arange(self.max_reads, dtype=np.int64)
        self.free_groups = np.arange(self.max_reads, dtype=np.int64)

    def require_valid(self) -> None:
        """Raise ValueError unless every number is in the range that ``fs_drive_run`` takes, and TypeError for arrays of
        another dtype."""
        for name, dtype in (("pages", np.uint32), ("ends", np.int64), ("lookups", np.int64)):
            array = getattr(self, name)
            if array.dtype != dtype or array.ndim != 1:
                raise TypeError(f"{name}: expected a 1-D {np.dtype(dtype)} array, got {array.ndim}-D {array.dtype}")
        ends, lookups, stations = self.ends, self.lookups, self.stations
        for each in fields(stations):
            least = 1 if each.name in ("dies", "channels") else 0
            most = 2**64 - 1 if each.name == "seed" else stations.sense if each.name == "jitter" else NS_MAX
            if not least <= getattr(stations, each.name) <= most:
                raise ValueError(f"{each.name} {getattr(stations, each.name)}: {least} to {most} are possible")
        if not len(ends) or len(ends) != len(lookups) or not lookups.any():
            raise ValueError(f"{len(ends)} groups with {lookups.sum()} lookups in {len(lookups)}: nothing to run")
        if ends[0] < 0 or (np.diff(ends) < 0).any() or ends[-1] > len(self.pages):
            raise ValueError(f"ends rise from 0 to {len(self.pages)} pages, not from {ends[0]} to {ends[-1]}")
        if lookups.min() < 0 or lookups.max() > NS_MAX:
            raise ValueError(f"{lookups.min()} to {lookups.max()} lookups a group: 0 to {NS_MAX} are possible")
        if not (1 <= self.max_reads <= MAX_READS and self.max_groups >= 1 and self.rate >= 0):
            raise ValueError(f"{self.max_reads} reads and {self.max_groups} groups in flight at rate {self.rate}")
