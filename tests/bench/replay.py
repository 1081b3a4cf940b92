"""The replay against fio: same file, engine, depth and kind of reads, in pairs that alternate."""

import json
import os
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from flashsim.kernels.replay import Replayer

DEPTHS = (1, 4, 16, 64, 256)
PAGE = 4096
RAMP_MS, RUN_MS = 300, 1000
CACHED_MIB = (32, 512)  # about a last-level cache; and beyond, where both wait for memory most of the time


class Run(NamedTuple):
    reads_per_s: float
    cpu_us: float  # per read
    p50_us: float  # submit to complete
    p99_us: float


def replay(target: Path, rounds: int) -> None:
    """Reads a second and CPU time a read against fio on the drive and from the page cache, and the loop alone."""
    if shutil.which("fio") is None:
        raise SystemExit("no fio (0 found on PATH) to compare with: apt-get install fio")
    size = target.stat().st_size // PAGE * PAGE
    print(
        f"{target}: {size / 2**30:.1f} GiB; 4 KiB random reads, io_uring, {rounds} pairs of {RUN_MS} ms; "
        "median, and quartiles of the ratios to fio\n"
    )
    _head()
    for depth in DEPTHS:
        _row(f"direct, depth {depth}", target, size, depth, True, rounds)
    for mib in CACHED_MIB:
        with tempfile.NamedTemporaryFile(dir=target.parent) as copy:
            subprocess.run(["head", "-c", str(mib << 20), target], stdout=copy, check=True)
            _row(f"page cache, {mib} MiB, depth 64", Path(copy.name), mib << 20, 64, False, rounds)
    pages = np.arange(1 << 20, dtype=np.uint32)
    for depth in (1, 64):
        rate = statistics.median(_replayed(-1, pages, depth, "null").reads_per_s for _ in range(rounds))
        print(f"\nengine null, depth {depth}: {rate / 1e6:.1f} M reads/s")


def _head() -> None:
    names = (
        "fio, reads/s",
        "flashsim",
        "ratio",
        "fio, CPU us/read",
        "flashsim",
        "ratio",
        "fio, p50 / p99 us",
        "flashsim",
    )
    print("| what | " + " | ".join(names) + " |\n" + "|---" * 9 + "|")


def _row(what: str, path: Path, size: int, depth: int, direct: bool, rounds: int) -> None:
    pages = np.random.default_rng(0).integers(0, size // PAGE, 1 << 20, dtype=np.uint32)
    fd = os.open(path, os.O_RDONLY | (os.O_DIRECT if direct else 0))
    sides = {"fio": lambda: _fio(path, size, depth, direct), "ours": lambda: _replayed(fd, pages, depth, "io_uring")}
    runs: dict[str, list[Run]] = {"fio": [], "ours": []}
    for turn in range(rounds):
        for side in ("fio", "ours") if turn % 2 else ("ours", "fio"):
            runs[side].append(sides[side]())
    os.close(fd)
    fio, ours = (np.array(runs[side]) for side in ("fio", "ours"))
    low, median, high = np.percentile(ours / fio, [25, 50, 75], axis=0)
    theirs, mine = np.median(fio, axis=0), np.median(ours, axis=0)
    ratio = [f"{median[k]:.2f} ({low[k]:.2f} - {high[k]:.2f})" for k in range(2)]
    print(
        f"| {what} | {theirs[0]:,.0f} | {mine[0]:,.0f} | {ratio[0]} | {theirs[1]:.2f} | {mine[1]:.2f} | {ratio[1]} | "
        f"{theirs[2]:.0f} / {theirs[3]:.0f} | {mine[2]:.0f} / {mine[3]:.0f} |",
        flush=True,
    )


def _replayed(fd: int, pages: np.ndarray, depth: int, engine: str) -> Run:
    ends = np.arange(1, len(pages) + 1, dtype=np.int64)
    with Replayer(fd, pages, ends, np.ones_like(ends), page_bytes=PAGE, max_reads=depth, engine=engine) as replayer:
        for _ in range(RAMP_MS // 100):
            start = replayer.slice()
        for _ in range(RUN_MS // 100):
            end = replayer.slice()
    done = end - start
    p50, p99 = done.read.percentiles_ns([50, 99]) / 1e3
    return Run(done.reads_per_s, done.cpu_us_per_read, p50, p99)


def _fio(path: Path, size: int, depth: int, direct: bool) -> Run:
    options = {
        "name": "read",
        "filename": path,
        "rw": "randread",
        "bs": PAGE,
        "size": size,
        "ioengine": "io_uring",
        "iodepth": depth,
        "direct": int(direct),
        "invalidate": int(direct),
        "runtime": f"{RUN_MS}ms",
        "ramp_time": f"{RAMP_MS}ms",
        "randrepeat": 0,
        "allow_file_create": 0,
        "lat_percentiles": 1,
        "percentile_list": "50:99",
        "output-format": "json",
    }
    command = ["fio", "--readonly", "--thread", "--time_based", "--norandommap"]
    command += [f"--{name}={value}" for name, value in options.items()]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(f"fio ended with {ran.returncode}: {ran.stderr.strip()}")
    job = json.loads(ran.stdout[ran.stdout.index("{") :])["jobs"][0]
    read, latency = job["read"], job["read"]["lat_ns"]["percentile"]
    cpu_us = (job["usr_cpu"] + job["sys_cpu"]) / 100 * read["runtime"] * 1e3 / read["total_ios"]
    return Run(read["iops"], cpu_us, latency["50.000000"] / 1e3, latency["99.000000"] / 1e3)
