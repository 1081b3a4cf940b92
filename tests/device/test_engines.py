"""Engines that may not be used here say why, and "auto" takes one that may."""

import errno
import os
import subprocess
import sys
import textwrap

import pytest

from flashsim.device.engines import ENGINES, choose, engines
from flashsim.errors import UsageError
from flashsim.kernels.replay import engine_error

needs_uring = pytest.mark.skipif(engine_error("io_uring") != 0, reason="io_uring cannot be used here")


@pytest.fixture
def target(tmp_path):
    path = tmp_path / "target"
    path.write_bytes(bytes(16384))
    with path.open("rb") as file:
        yield file.fileno()


def in_a_child(code: str, *args) -> str:
    """What a Python process prints that runs ``code``; io_uring may be forbidden to it for good."""
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(code), *map(str, args)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    if ran.stdout.startswith("skip"):
        pytest.skip(ran.stdout)
    return ran.stdout


FORBID = '''
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
SECCOMP, NO_NEW_PRIVS, IO_URING_SETUP, ALLOW, ERRNO = 22, 38, 425, 0x7FFF0000, 0x00050000
def forbid(code):
    """io_uring_setup answers `code` from now on: a container's seccomp filter."""
    steps = [(0x20, 0, 0, 0), (0x15, 0, 1, IO_URING_SETUP), (0x06, 0, 0, ERRNO | code), (0x06, 0, 0, ALLOW)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    head = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(program))
    if libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(SECCOMP, 2, head, 0, 0):
        print("skip: no seccomp filter can be set here, errno", ctypes.get_errno())
        sys.exit()
'''


@needs_uring
@pytest.mark.parametrize("code", [errno.EPERM, errno.ENOSYS, errno.ENOMEM])
def test_where_io_uring_is_forbidden_threads_are_taken_and_why_is_said(code, tmp_path):
    path = tmp_path / "target"
    path.write_bytes(bytes(4096))
    printed = in_a_child(
        FORBID
        + """
from flashsim.device.engines import choose, engines
from flashsim.errors import UsageError
fd = os.open(sys.argv[1], os.O_RDONLY)
forbid(int(sys.argv[2]))
print(*choose("auto", fd, 4096), sep="|")
print(*[state for state in engines() if state.name == "io_uring"][0], sep="|")
try:
    choose("io_uring", fd, 4096)
except UsageError as error:
    print(error)
""",
        path,
        code,
    )
    auto, row, refused = printed.splitlines()
    why = f"io_uring: may not be used here: {errno.errorcode[code]} (errno {code}): "
    hint = {errno.EPERM: "kernel.io_uring_disabled", errno.ENOSYS: "before Linux 5.11", errno.ENOMEM: "ulimit -l"}[code]
    assert auto.startswith(f"threads|{why}") and hint in auto and auto.endswith("; threads: one page read")
    assert row.startswith(f"io_uring|False|{why}") and hint in row
    assert refused.startswith(why) and "--engine auto" in refused


LOCK_LITTLE = """
import os, resource, sys
import numpy as np
from flashsim.device.engines import choose
from flashsim.kernels.replay import Replayer
fd, one = os.open(sys.argv[1], os.O_RDONLY), np.ones(1, np.int64)
resource.setrlimit(resource.RLIMIT_MEMLOCK, (int(sys.argv[2]),) * 2)
if os.getuid() == 0:
    os.setresuid(65534, 65534, 65534)  # root may lock what it likes
print(*choose("auto", fd, 4096), sep="|")
with Replayer(fd, np.zeros(1, np.uint32), one, one, page_bytes=65536, max_reads=64) as replayer:
    while replayer.slice(max_lookups=50).lookups < 50:
        pass
    print(replayer.counters.reads, *replayer.notes)
"""


@needs_uring
def test_with_little_locked_memory_buffers_are_not_registered(tmp_path):
    path = tmp_path / "target"
    path.write_bytes(bytes(65536))
    path.chmod(0o644)
    chosen, done = in_a_child(LOCK_LITTLE, path, 1 << 20).splitlines()
    assert chosen.startswith("io_uring|")
    assert done.startswith("50 buffers not registered") and "ulimit -l" in done


def test_every_engine_has_a_row_and_the_engine_of_tests_has_none(target):
    assert [state.name for state in engines()] == list(ENGINES) == ["null", "threads", "io_uring"]
    assert all(state.available == (state.reason == "") for state in engines())
    with pytest.raises(UsageError, match="'test' is none of the 3 engines: null, threads, io_uring"):
        choose("test", target, 4096)


def test_auto_reads_one_page_of_the_target(target):
    name, reason = choose("auto", target, 4096)
    assert name == ("threads" if engine_error("io_uring") else "io_uring") and reason.endswith("one page read")
    assert choose("threads", target, 4096, base=8192) == ("threads", "threads: one page read")
    assert choose("null", -1, 4096)[0] == "null"


def test_a_target_that_no_engine_can_read_is_refused_with_every_reason(target, tmp_path):
    folder = os.open(tmp_path, os.O_RDONLY)
    with pytest.raises(UsageError, match=r"io_uring: .*; threads: .*EISDIR \(errno 21\).*: none is left"):
        choose("auto", folder, 4096)
    os.close(folder)
    with pytest.raises(UsageError, match="offset 16,384: the target ends here"):
        choose("threads", target, 4096, base=16384)


def test_an_engine_that_was_not_built_says_so(monkeypatch, target):
    monkeypatch.setattr("flashsim.device.engines.engine_error", lambda name: (name == "io_uring") * errno.EOPNOTSUPP)
    reason = "not built: liburing (liburing-dev) was not found when flashsim was built"
    assert engines()[-1] == ("io_uring", False, f"io_uring: {reason}")
    assert choose("auto", target, 4096) == ("threads", f"io_uring: {reason}; threads: one page read")


def test_kernel_threads_of_io_uring_are_counted():
    """In a process of its own: earlier tests may have left some that are about to end."""
    script = (
        "import threading, time; from pathlib import Path; from flashsim.device.engines import io_workers;"
        "before = io_workers(); named, ended = threading.Event(), threading.Event();"
        "work = lambda: (Path('/proc/thread-self/comm').write_text('iou-wrk-1234'), named.set(), ended.wait());"
        "thread = threading.Thread(target=work); thread.start(); named.wait(); during = io_workers();"
        "ended.set(); thread.join(); [time.sleep(0.01) for _ in range(1000) if io_workers()];"  # joined, not yet gone
        "print(before, during, io_workers())"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ran.stdout.split() == ["0", "1", "0"], ran.stderr
