"""Points to calibrate a drive by, from the JSON of a replay or of fio."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from flashsim.device.workload import GROUPS_MAX, MODES, UNITS, limits
from flashsim.errors import DataError, UsageError
from flashsim.files import parse_json

_SYNCHRONOUS = ("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap")  # fio's engines that ignore iodepth
_CHUNK = 2048  # tokens of a group of prefill, where a replay's JSON does not say


class Measured(NamedTuple):
    """One point. in_flight, in_flight_unit, mode: as in a replay. lookups_per_group: of what is waited for together.
    cpu_us_per_read: None unless one thread sent the reads. flags: names of what makes its figures doubtful."""

    in_flight: int
    in_flight_unit: str
    mode: str
    reads_per_lookup: float
    lookups_per_group: int
    page_bytes: int
    reads_per_s: float
    cpu_us_per_read: float | None = None
    flags: tuple[str, ...] = ()

    @property
    def reads_per_group(self) -> int:
        return max(1, round(self.reads_per_lookup * self.lookups_per_group))

    @property
    def reads_in_flight(self) -> int:
        """At most, at a time."""
        reads, groups = limits(self.mode, self.in_flight_unit, self.in_flight)
        return reads if groups == GROUPS_MAX else min(reads, groups * self.reads_per_group)


def measured(paths: Sequence[str | Path]) -> list[Measured]:
    """The points in ``paths``, each the JSON of a replay or of fio (--output-format=json), by depth; of those that were
    repeated the median. Raises DataError for a file that is neither, UsageError for one with nothing of use."""
    found: dict[tuple, list[Measured]] = {}
    for path in paths:
        facts = _json(Path(path))
        if "jobs" not in facts and "points" not in facts:
            raise DataError(f"{path}: 0 of the keys 'jobs' (fio) and 'points' (flashsim replay): what made this JSON?")
        try:
            points = list(_of_fio(facts, path) if "jobs" in facts else _of_replay(facts))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"{path}: {type(error).__name__} {error} in 1 of its points: is it whole?") from None
        if not points and (modelled := sum(row.get("source") == "model" for row in facts.get("points", ()))):
            raise UsageError(f"{path}: 0 measured points, {modelled} that a model predicted: replay with --target")
        if not points:
            raise UsageError(f"{path}: 0 points that were measured at full speed, without a cache: measure some")
        for trace, point in points:
            same = trace, *point._replace(reads_per_lookup=0, reads_per_s=0, cpu_us_per_read=None, flags=())
            found.setdefault(same, []).append(point)
    points = [
        same[0]._replace(
            reads_per_lookup=round(median(point.reads_per_lookup for point in same), 2),
            reads_per_s=median(point.reads_per_s for point in same),
            cpu_us_per_read=_median([point.cpu_us_per_read for point in same]),
            flags=tuple(dict.fromkeys(flag for point in same for flag in point.flags)),
        )
        for same in found.values()
    ]
    sizes = sorted({point.page_bytes for point in points})
    if len(sizes) > 1:
        raise UsageError(f"reads of {sizes[0]:,} and {sizes[-1]:,} B: 1 drive is calibrated by reads of 1 size")
    return sorted(points, key=lambda point: (point.mode, point.reads_in_flight, point.reads_per_group))


def _median(values: list[float | None]) -> float | None:
    """Of those that are known."""
    known = [value for value in values if value is not None]
    return round(median(known), 3) if known else None


def _json(path: Path) -> dict[str, Any]:
    try:
        text = path.read_bytes().decode()
    except OSError as error:
        raise DataError(f"{path}: {error.strerror} (errno {error.errno})") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not JSON (byte {error.start} is not UTF-8)") from None
    try:
        facts = parse_json(text[max(text.find("{"), 0) :])  # fio writes its notes before
    except ValueError as error:
        raise DataError(f"{path}: not JSON ({error}); fio writes it with --output-format=json --output=FILE") from None
    if not isinstance(facts, dict):
        raise DataError(f"{path}: 1 JSON value that is not an object: what made it?")
    return facts


def _of_fio(facts: dict[str, Any], path: str | Path) -> Iterator[tuple[str, Measured]]:
    """("", a point) for each group of jobs, which run side by side. With group_reporting such a group is one entry."""
    groups: dict[int, list] = {}
    for job in facts["jobs"]:
        groups.setdefault(job["groupid"], []).append(job)
    for jobs in groups.values():
        in_flight, rate, sizes = 0, 0.0, set()
        for job in jobs:
            options = facts.get("global options", {}) | job["job options"]
            kind = options.get("rw", options.get("readwrite", "read"))
            if kind != "randread":
                raise UsageError(f"{path}: rw={kind} (1 job): lookups are random reads; measure with --rw=randread")
            if options.get("direct") not in ("1", "") and options.get("buffered") != "0":
                raise UsageError(f"{path}: 1 job without direct=1, so through the page cache: measure with --direct=1")
            depth = 1 if options.get("ioengine", "psync") in _SYNCHRONOUS else int(options.get("iodepth", 1))
            in_flight += depth * (int(options.get("numjobs", 1)) if len(jobs) == 1 else 1)
            sizes.add(_bytes(options.get("bs", options.get("blocksize", "4k"))))
            rate += float(job["read"]["iops"])
        if len(sizes) > 1:
            raise UsageError(f"{path}: {len(sizes)} block sizes side by side: measure one at a time")
        if rate > 0:
            cpu = _cpu_of_fio(jobs[0], rate) if len(jobs) == 1 and in_flight == depth > 1 else None
            yield "", Measured(in_flight, "reads", "stream", 1.0, 1, sizes.pop(), rate, cpu)


def _cpu_of_fio(job: dict[str, Any], iops: float) -> float | None:
    """Microseconds of CPU a read, where the job says how much of the time its thread ran."""
    percent = job.get("usr_cpu", 0.0) + job.get("sys_cpu", 0.0)
    return percent / 100 * 1e6 / iops if percent else None


def _bytes(text: str) -> int:
    """A block size of fio: 4k, 4096."""
    scale = {"k": 1024, "m": 1024**2}.get(text[-1:].lower(), 1)
    return int(text if scale == 1 else text[:-1]) * scale


def _of_replay(facts: dict[str, Any]) -> Iterator[tuple[str, Measured]]:
    """(trace, point) of what was measured, not modelled, in closed loop and without a cache, behind which groups are of
    many sizes."""
    chunk = int(facts.get("asked", {}).get("chunk", _CHUNK))
    for row in facts["points"]:
        if row.get("source", "measured") != "measured" or row.get("rate") or row.get("cache_bytes"):
            continue
        mode, unit = row["mode"], row["in_flight_unit"]
        lookups = chunk if MODES[mode].chunked else 1
        in_flight, each, rate = int(row["in_flight"]), row["reads_per_lookup"], float(row["reads_per_s"])
        if unit not in UNITS:
            raise ValueError(f"in_flight_unit {unit!r} is none of {', '.join(UNITS)}")
        limits(mode, unit, in_flight)
        if rate > 0 and each is not None:  # else no lookup ended
            flags = tuple(flag["name"] for flag in row.get("flags", ()))
            page_bytes = int(row.get("page_bytes", 4096))
            cpu = row.get("cpu_us_per_read") if row.get("engine") == "io_uring" else None
            point = Measured(in_flight, unit, mode, float(each), lookups, page_bytes, rate, cpu, flags)
            yield str(row.get("trace")), point
