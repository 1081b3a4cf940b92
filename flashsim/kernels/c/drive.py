"""``csim/drive.c``."""

from dataclasses import asdict

import numpy as np

from flashsim.kernels.c.binding import ffi, lib, pointer
from flashsim.kernels.drive import GROUP, READ, STATE, TIME_MAX, DriveRun


def drive_run(run: DriveRun, lookups: int, until_ns: int = TIME_MAX) -> None:
    """Go on with ``run`` until ``lookups`` lookups are complete since its beginning, or so much simulated time is over.
    Raises ValueError where it is 2^46 ns (19 hours), or what :class:`DriveRun` raises for numbers out of range."""
    run.require_valid()
    buffers = {
        "pages": pointer("uint32_t[]", run.pages, np.uint32),
        "ends": pointer("int64_t[]", run.ends, np.int64),
        "lookups": pointer("int64_t[]", run.lookups, np.int64),
        "reads": pointer("struct fs_drive_read[]", run.reads, READ, writable=True),
        "begun": pointer("struct fs_drive_group[]", run.begun, GROUP, writable=True),
    }
    for name in ("die_free", "channel_free", "free_reads", "free_groups"):
        buffers[name] = pointer("int64_t[]", getattr(run, name), np.int64, writable=True)
    for name in ("heap", "read_bins", "lookup_bins"):
        buffers[name] = pointer("uint64_t[]", getattr(run, name), np.uint64, writable=True)
    numbers = asdict(run.stations) | {"groups": len(run.ends), "max_reads": run.max_reads, "max_groups": run.max_groups}
    drive = ffi.new("struct fs_drive *", buffers | numbers | {"rate": run.rate})
    code = lib.fs_drive_run(
        drive, pointer("struct fs_drive_state[]", run.state, STATE, writable=True), lookups, until_ns
    )
    if code:
        passed = run.state["lookups"][0]
        raise ValueError(f"drive_run: errno {-code}, or 2^46 ns of simulated time, after {passed:,} lookups: {numbers}")
