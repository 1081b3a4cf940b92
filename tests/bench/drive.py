"""The model of a drive: C and numba against the plain Python that they are tested by."""

import numpy as np

from flashsim import layout, trace_ids
from flashsim.device.spec import load_drive
from flashsim.kernels import backend
from flashsim.kernels.drive import DriveRun
from tests.bench.measure import interleaved
from tests.kernels.drive_reference import Drive


def drive(stream, tokens: int, rounds: int) -> None:
    """Reads a second over the page trace of the first ``tokens`` tokens; plain Python does a twentieth of it."""
    trace = trace_ids(stream, layout("pagegram"), end=min(tokens, len(stream)))
    ends = np.arange(2, len(trace) + 1, 2)
    load = trace, ends, np.ones(len(ends), np.int64)
    print(f"\n{len(trace):,} reads of pagegram-S4-20B, 2 a lookup; equal times to the last ns\n")
    print("| drive | in flight | C, M reads/s | numba, M reads/s | plain Python | C x | numba x |\n" + "|---" * 7 + "|")
    for name in ("nvmevirt-970pro", "virtio-blk"):
        for in_flight in (1, 16, 64, 256):
            _row(name, in_flight, load, rounds)


def _row(name: str, in_flight: int, load: tuple, rounds: int) -> None:
    stations, (trace, ends, lookups) = load_drive(name).stations(), load
    plain = Drive(stations, *(array.tolist() for array in load), in_flight, 2**31, 0)
    part, results = len(ends) // 20, {}

    def ours(kernel: str) -> None:
        run = DriveRun(stations, trace, ends, lookups, in_flight)
        results[kernel] = []
        for until in (part, len(ends)):
            backend(kernel).drive_run(run, until)
            results[kernel].append(run.state["now"][0])

    taken = interleaved(rounds, c=lambda: ours("c"), numba=lambda: ours("numba"))
    once = interleaved(1, warm=False, plain=lambda: plain.run(part))["plain"]
    assert results["c"] == results["numba"] and results["c"][0] == plain.now
    slow = plain.sent / once.median / 1e6
    ratios = " | ".join(f"{len(trace) / timing.median / 1e6 / slow:.0f}" for timing in taken.values())
    speeds = " | ".join(timing.rate(len(trace)) for timing in taken.values())
    print(f"| {name} | {in_flight} | {speeds} | {slow:.3f} | {ratios} |", flush=True)
