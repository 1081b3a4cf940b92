"""Stamps written as fast as a drive takes them: blocks in order, several at a time, past the page cache if possible."""

import errno
import fcntl
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import local

from flashsim.device.target import aligned_buffer
from flashsim.device.verify import BLOCK_PAGES, in_order
from flashsim.errors import DataError, UsageError
from flashsim.kernels import backend
from flashsim.kernels.stamps import STAMP_BYTES
from flashsim.kernels.target import allocate
from flashsim.units import format_bytes

_BLOCK = BLOCK_PAGES * STAMP_BYTES


def bypass_cache(fd: int) -> None:
    """Read and write ``fd`` by direct I/O from now on, where its file system takes that."""
    with suppress(OSError):
        fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_DIRECT)


def make_room(fd: int, path: Path, size: int) -> None:
    """Give the file ``fd``, which is ``path``, its size and, where the file system can, its blocks. Raises UsageError
    where there is no room."""
    there = os.fstatvfs(fd)
    need, free = size - os.fstat(fd).st_blocks * 512, there.f_bavail * there.f_frsize
    text = f"{path.parent} has {free} B free, {need} B are to be written"
    if there.f_blocks and need > free:  # 0: it does not tell
        raise UsageError(f"{text}: free {format_bytes(need - free)}, or take a smaller --size")
    try:
        os.ftruncate(fd, size)
        allocate(fd, size)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.ENOSYS):
            raise UsageError(f"{text}: {error.strerror} (errno {error.errno}): take a smaller --size") from None


def fill(fd: int, path: Path, size: int, seed: int, kept: int, progress: Callable[[int], None]) -> float:
    """Write the stamps of ``seed`` to [kept, size) of ``fd``, which is ``path``; return the seconds that it took.
    ``progress`` is called with the bytes of each step. Raises UsageError where it is full, DataError where it fails."""
    began = time.perf_counter()
    done = kept if kept == size else kept // _BLOCK * _BLOCK
    blocks = ((at, min(_BLOCK, size - at)) for at in range(done, size, _BLOCK))
    bypass_cache(fd)
    write = _Writer(fd, seed)
    try:
        for first in blocks:  # alone: a killed run leaves a file that is empty or has its first page
            done += write(first)
            progress(first[1])
            break
        for written in in_order(write, blocks):
            done += written
            progress(written)
        os.fsync(fd)
    except OSError as error:
        text = f"{path}: {error.strerror} (errno {error.errno}) after {done} of {size} B, which stay"
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise UsageError(f"{text}: make room, and the same command goes on from there") from None
        raise DataError(f"{text}: see dmesg; the same command goes on from there") from None
    return time.perf_counter() - began


class _Writer(local):
    """Fills blocks with stamps and writes them; each thread has its own buffer."""

    def __init__(self, fd: int, seed: int) -> None:
        self._fd, self._seed, self._buffer = fd, seed, aligned_buffer(_BLOCK)

    def __call__(self, run: tuple[int, int]) -> int:
        at, size = run
        block = self._buffer[:size]
        backend("c").stamp_fill(block, at // STAMP_BYTES, self._seed)
        view, done = memoryview(block), 0
        while done < size:
            try:
                done += os.pwrite(self._fd, view[done:], at + done)
            except OSError as error:
                flags = fcntl.fcntl(self._fd, fcntl.F_GETFL)
                if error.errno != errno.EINVAL or not flags & os.O_DIRECT:
                    raise
                fcntl.fcntl(self._fd, fcntl.F_SETFL, flags & ~os.O_DIRECT)  # an end that fills no block of the drive
        return size
