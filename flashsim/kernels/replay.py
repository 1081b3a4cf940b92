"""The replay of page reads against a file or block device: ``Replayer`` over csim's loop, and what it counts."""

import errno
import os
import threading
from dataclasses import dataclass, field, fields

import numpy as np

from flashsim.errors import DataError, UsageError
from flashsim.kernels import stamps
from flashsim.kernels.c.binding import ffi, lib, pointer
from flashsim.kernels.drive import BINS, MAX_READS

SLICE_NS = lib.FS_REPLAY_SLICE
NOTES = {
    lib.FS_NOTE_WORKERS: "fewer threads than reads asked for in flight",
    lib.FS_NOTE_BUFFERS: "buffers not registered (see ulimit -l)",
    lib.FS_NOTE_FILE: "file not registered",
    lib.FS_NOTE_FLAGS: "ring without DEFER_TASKRUN (Linux before 6.1)",
}
_NO_LIMIT = 2**63 - 1


def require_rate(rate: float) -> None:
    """Raise UsageError where lookups cannot be sent at ``rate`` a second; 0 = as fast as the limits allow."""
    if rate and not 1e-6 <= rate <= 1e12:
        raise UsageError(f"--rate {rate:g}: 0.000001 to 10^12 lookups a second are possible, or 0 for no rate")


def engine_names() -> list[str]:
    """The engines of the C loop in the order of their numbers, "test" among them."""
    names = []
    while (name := lib.fs_engine_name(len(names))) != ffi.NULL:
        names.append(ffi.string(name).decode())
    return names


def engine_error(name: str) -> int:
    """0 where the engine ``name`` can be used, EOPNOTSUPP where it was not built, or its system calls' errno here."""
    return -lib.fs_engine_available(engine_names().index(name))


def bin_edges() -> np.ndarray:
    """float64, shape (BINS + 1,): bin b of a latency histogram holds the times t with edges[b] <= t < edges[b + 1], ns.

    64 bins an octave, single nanoseconds below 128; the last bin takes what is longer too."""
    bins = np.arange(BINS + 1)
    shift = np.maximum(bins // 64 - 1, 0)
    return np.ldexp((bins - 64 * shift).astype(np.float64), shift)


def percentiles(histogram: np.ndarray, qs) -> np.ndarray:
    """float64, shape (len(qs),): the percentiles ``qs`` (0 .. 100) in ns, within 1/64 of the time at that rank.

    histogram: uint64, shape (BINS,). The rank is the smallest with at least q percent of the times at or below it
    (numpy's "inverted_cdf"); the middle of its bin is returned. NaN where the histogram is empty.
    """
    cumulative = np.cumsum(histogram, dtype=np.uint64)
    if not cumulative[-1]:
        return np.full(len(qs), np.nan)
    ranks = np.maximum(np.ceil(np.asarray(qs, np.float64) / 100 * float(cumulative[-1])), 1)
    edges = bin_edges()
    bins = np.searchsorted(cumulative, ranks.astype(np.uint64))
    return (edges[bins] + edges[bins + 1] - 1) / 2


@dataclass(frozen=True)
class Latency:
    """Latencies: a histogram (uint64, shape (BINS,), see :func:`bin_edges`), with exact count, sum and largest."""

    bins: np.ndarray = field(repr=False)
    count: int
    sum_ns: int
    max_ns: int

    @property
    def mean_ns(self) -> float:
        return self.sum_ns / self.count if self.count else float("nan")

    def percentiles_ns(self, qs) -> np.ndarray:
        """See :func:`percentiles`."""
        return percentiles(self.bins, qs)

    def mean_over_ns(self, limit_ns: float) -> float:
        """Mean of by how much they are longer than ``limit_ns``, 0 where one is not; within 1/64 of the times."""
        if limit_ns <= 0:
            return self.mean_ns - limit_ns
        edges = bin_edges()
        over = np.maximum((edges[:-1] + edges[1:] - 1) / 2 - limit_ns, 0)
        return float(over @ self.bins) / self.count if self.count else 0.0

    def __sub__(self, earlier: "Latency") -> "Latency":
        """What came after ``earlier``; its largest is that of both, or the edge of the last bin that is not empty."""
        bins = self.bins - earlier.bins
        last = np.flatnonzero(bins)
        most = min(self.max_ns, int(bin_edges()[last[-1] + 1]) - 1) if len(last) else 0
        return Latency(bins, self.count - earlier.count, self.sum_ns - earlier.sum_ns, most)


@dataclass(frozen=True)
class Progress:
    """What has been done since the beginning, by a drive or a model of one; differences (``later - earlier``) are what
    was done in between."""

    lookups: int  # complete, and so are the next three
    groups: int
    reads: int
    bytes: int
    in_flight_ns: int  # reads in flight, summed over time
    wall_ns: int  # since the beginning
    read: Latency
    lookup: Latency

    @property
    def mean_in_flight(self) -> float:
        """Reads in flight, averaged over time."""
        return self.in_flight_ns / self.wall_ns if self.wall_ns else 0.0

    @property
    def reads_per_s(self) -> float:
        return self.reads / self.wall_ns * 1e9 if self.wall_ns else 0.0

    @property
    def lookups_per_s(self) -> float:
        return self.lookups / self.wall_ns * 1e9 if self.wall_ns else 0.0

    def __sub__(self, earlier):
        return type(self)(
            **{each.name: getattr(self, each.name) - getattr(earlier, each.name) for each in fields(self)}
        )


@dataclass(frozen=True)
class Counters(Progress):
    """What a replay has done since its first slice; ``wall_ns`` goes up to the end of the last one."""

    gap_ns: int  # of wall_ns, outside of slices
    cpu_ns: int  # of all threads of this process, inside slices
    enters: int  # system calls that sent or awaited reads
    short_reads: int  # read on
    retries: int  # sent again after EINTR or EAGAIN
    checked: int  # reads whose stamps were compared,
    bad: int  # and were wrong

    @property
    def cpu_us_per_read(self) -> float:
        return self.cpu_ns / self.reads / 1e3 if self.reads else float("nan")


_PLAIN = [each.name for each in fields(Counters) if each.name not in ("read", "lookup")]


def _latency(histogram) -> Latency:
    bins = np.frombuffer(ffi.buffer(histogram.bins), np.uint64).copy()
    return Latency(bins, histogram.count, histogram.sum, histogram.max)


class Replayer:
    """Sends page reads to ``fd`` in the order of their groups and waits for them; a context manager.

    fd: an open file (with O_DIRECT for the drive itself); the caller closes it.
    pages: uint32, shape (reads,): page ids in the order they are sent.
    ends: int64, shape (groups,): pages[ends[g-1]:ends[g]] are group g's, maybe none.
    lookups: int64, shape (groups,): tokens of each group.
    base, fold, page_bytes: page p is read at base + (p modulo fold, where that is not 0) * page_bytes.
    max_reads (1 .. MAX_READS), max_groups (None = no limit): in flight at most. Past the last group comes the first.
    rate: lookups a second, each sent when it is due; 0 = as fast as the limits allow.
    verify: the stamps of every n-th read are checked against ``seed``; 0 = none.
    faults: the struct fs_replay_faults of the engine "test"; for tests.

    All calls come from the thread that made the Replayer: the ring of io_uring belongs to it. Raises UsageError for
    arguments out of range, OSError where the engine cannot be had.
    """

    def __init__(
        self,
        fd: int,
        pages: np.ndarray,
        ends: np.ndarray,
        lookups: np.ndarray,
        *,
        page_bytes: int,
        max_reads: int,
        max_groups: int | None = None,
        base: int = 0,
        fold: int = 0,
        engine: str = "io_uring",
        rate: float = 0.0,
        verify: int = 0,
        seed: int = 0,
        faults=None,
    ) -> None:
        if not 1 <= max_reads <= MAX_READS:
            raise UsageError(f"{max_reads:,} reads in flight: 1 to {MAX_READS:,} are possible; ask for fewer")
        if max_groups is not None and not 1 <= max_groups < 2**32:
            raise UsageError(f"{max_groups:,} lookups in flight: at least 1 is needed")
        if page_bytes % 512 or not 512 <= page_bytes <= 1 << 20:
            raise UsageError(f"pages of {page_bytes:,} B: direct I/O takes a multiple of 512 B, at most 1,048,576 B")
        if len(ends) != len(lookups) or not len(ends) or ends[-1] > len(pages):
            last = ends[-1] if len(ends) else 0
            raise ValueError(f"{len(ends)} ends up to {last}, {len(lookups)} lookups, {len(pages)} pages")
        require_rate(rate)
        if verify and (page_bytes % 4096 or base % 4096):
            raise UsageError(
                f"stamps are of 4,096 B: pages of {page_bytes:,} B at {base:,} cannot be verified; take --verify none"
            )
        if verify and engine == "null":
            raise UsageError("the engine null reads 0 bytes: there is nothing to verify; take io_uring or threads")
        self._thread, self._handle = threading.get_ident(), None
        self._result = ffi.new("struct fs_replay_result *")
        self._arrays = {
            "pages": pointer("uint32_t[]", pages, np.uint32),
            "ends": pointer("int64_t[]", ends, np.int64),
            "lookups": pointer("int64_t[]", lookups, np.int64),
        }
        plan = self._arrays | {
            "groups": len(ends),
            "page_bytes": page_bytes,
            "base": base,
            "fold": fold,
            "max_reads": max_reads,
            "max_groups": max_groups or 0,
            "rate": rate,
            "verify": verify,
            "seed": seed,
        }
        self._faults = faults or ffi.NULL
        opened = ffi.new("struct fs_replay **")
        number = engine_names().index(engine)
        code = lib.fs_replay_open(ffi.new("struct fs_replay_plan *", plan), number, fd, self._faults, opened)
        if code == -errno.EINVAL:
            raise ValueError(f"a replay of {len(ends)} groups was refused (errno {errno.EINVAL}): {plan}")
        if code:
            hint = "; raise ulimit -l, or take --engine threads" if code == -errno.ENOMEM else ""
            raise OSError(-code, f"engine {engine} does not open: {_named(-code)}{hint}")
        self._handle = opened[0]

    def slice(self, max_ns: int = SLICE_NS, max_lookups: int | None = None) -> Counters:
        """Go on for ``max_ns`` (at most SLICE_NS), and return the counters since the first slice.

        max_lookups: no group starts once that many lookups have started since the first slice; when those are complete
        the slice ends. Raises OSError where a read fails and DataError where a stamp is wrong; ``counters`` still tells
        what was done.
        """
        if self._handle is None or threading.get_ident() != self._thread:
            raise ValueError("a replay is driven by the thread that opened it, and not after it is closed")
        limit = _NO_LIMIT if max_lookups is None else max_lookups
        code = lib.fs_replay_slice(self._handle, max_ns, limit, self._result)
        if self._result.error:
            raise self._read_error()
        if code:
            raise OSError(-code, f"the replay cannot go on: {_named(-code)}")
        if self._result.bad:
            raise self._stamp_error()
        return self.counters

    def drain(self) -> Counters:
        """Start no more groups, wait for those that have, and return the counters."""
        counters = self.slice(max_lookups=0)
        while self._result.in_flight:
            counters = self.slice(max_lookups=0)
        return counters

    @property
    def counters(self) -> Counters:
        """The counters as of the last slice."""
        plain = {name: getattr(self._result, name) for name in _PLAIN}
        return Counters(**plain, read=_latency(self._result.read), lookup=_latency(self._result.lookup))

    @property
    def notes(self) -> list[str]:
        """What the engine had to do without; known after the first slice."""
        return [text for bit, text in NOTES.items() if self._result.notes & bit]

    def close(self) -> None:
        """Wait for the reads in flight and free everything; harmless when called again."""
        if self._handle is not None:
            handle, self._handle = self._handle, None
            lib.fs_replay_close(handle)

    def __enter__(self) -> "Replayer":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def _read_error(self) -> OSError:
        code, page, offset = self._result.error, self._result.error_page, self._result.error_offset
        if code == errno.ENODATA:
            return OSError(
                code, f"page {page:,}, offset {offset:,}: the target ends here; replay a smaller trace, or fold"
            )
        return OSError(code, f"page {page:,}, offset {offset:,} cannot be read: {_named(code)}")

    def _stamp_error(self) -> DataError:
        result = self._result
        holds = {
            stamps.ZERO: "holds nothing but zeros",
            stamps.FOREIGN: "holds no stamp",
            stamps.DAMAGED: "is damaged",
            stamps.OTHER_SEED: "holds a stamp of another target",
            stamps.OTHER_PAGE: f"holds page {result.bad_held}",
        }[result.bad_state]
        return DataError(
            f"page {result.bad_number} (byte {result.bad_number * stamps.STAMP_BYTES}) {holds}: {result.bad:,} of the "
            f"{result.checked:,} reads verified are wrong; prepare the target again"
        )


def _named(code: int) -> str:
    return f"{errno.errorcode.get(code, 'errno')} (errno {code}): {os.strerror(code)}"
