"""The engines that send a replay's reads, whether each can be used here, and the choice among them."""

import errno
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from flashsim.errors import UsageError
from flashsim.kernels.replay import Replayer, engine_error, engine_names

ENGINES = tuple(name for name in engine_names() if name != "test")
PREFERRED = ("io_uring", "threads")  # what "auto" tries, in this order


class EngineState(NamedTuple):
    """One row of the table of engines; reason: why it cannot be used here, or "" where it can."""

    name: str
    available: bool
    reason: str


def engines() -> list[EngineState]:
    """Every engine, in the order of the table in csim/io.c."""
    states = []
    for name in ENGINES:
        code = engine_error(name)
        states.append(EngineState(name, not code, _reason(name, code) if code else ""))
    return states


def choose(asked: str, fd: int, page_bytes: int, base: int = 0) -> tuple[str, str]:
    """The engine to take for ``asked`` ("auto" or a name), and why in one line.

    "auto" takes the first of PREFERRED with which one page at ``base`` of ``fd`` can really be read. Raises UsageError
    where the engine asked for by name, or every one, cannot be used.
    """
    if asked != "auto" and asked not in ENGINES:
        raise UsageError(f"{asked!r} is none of the {len(ENGINES)} engines: {', '.join(ENGINES)}, or auto")
    refusals = []
    for name in PREFERRED if asked == "auto" else (asked,):
        reason = _try(name, fd, page_bytes, base)
        if not reason:
            return name, "; ".join([*refusals, f"{name}: one page read" if name != "null" else "null: nothing is read"])
        refusals.append(reason)
    hint = "take --engine auto" if asked in PREFERRED else "none is left"
    raise UsageError(f"{'; '.join(refusals)}: {hint}")


def io_workers() -> int:
    """Kernel threads that serve io_uring for this process. More than 0 right after a run: reads were handed to threads,
    as on files and devices that cannot be read without blocking, and what was measured is those."""
    count = 0
    for comm in Path("/proc/self/task").glob("*/comm"):
        try:
            count += comm.read_text().startswith("iou-wrk")
        except OSError:  # it has ended meanwhile
            continue
    return count


def _try(name: str, fd: int, page_bytes: int, base: int) -> str:
    """Why ``name`` cannot read a page, or ""."""
    code = engine_error(name)
    if code:
        return _reason(name, code)
    one = np.ones(1, np.int64)
    plan = {"page_bytes": page_bytes, "max_reads": 1, "base": base, "engine": name}
    try:
        with Replayer(fd, np.zeros(1, np.uint32), one, one, **plan) as replayer:
            while not replayer.slice(max_lookups=1).lookups:
                pass
    except OSError as error:
        return f"{name}: {error.strerror}"
    return ""


def _reason(name: str, code: int) -> str:
    if code == errno.EOPNOTSUPP:
        return f"{name}: not built: liburing (liburing-dev) was not found when flashsim was built"
    shown = f"{name}: may not be used here: {errno.errorcode.get(code, '')} (errno {code})"
    if code == errno.EPERM:
        return (
            f"{shown}: kernel.io_uring_disabled=2, or a seccomp filter (containers): "
            "sysctl -w kernel.io_uring_disabled=0 / --security-opt seccomp=unconfined"
        )
    if code == errno.ENOSYS:
        return f"{shown}: a kernel before Linux 5.11, or a seccomp filter: --security-opt seccomp=unconfined"
    if code == errno.ENOMEM:
        return f"{shown}: no memory may be locked for a ring: raise ulimit -l"
    return f"{shown}: {os.strerror(code)}"
