"""What Linux tells of an open file, or does to it, that Python has no call for; there are no numba twins."""

import os

from flashsim.kernels.c.binding import ffi, lib


def dio_align(fd: int) -> tuple[int, int] | None:
    """(memory, offset) alignment of direct I/O on ``fd`` in bytes by statx, (0, 0) where it is not supported; None
    where the kernel does not tell: it is older than 6.1, or the file system reads through the page cache."""
    memory, offset = ffi.new("uint32_t *"), ffi.new("uint32_t *")
    return (memory[0], offset[0]) if lib.fs_dio_align(fd, memory, offset) == 1 else None


def cached_pages(fd: int) -> int | None:
    """Pages of the file ``fd`` in the page cache by cachestat; None where the kernel (before 6.5) does not tell."""
    pages = lib.fs_cached_pages(fd)
    return None if pages < 0 else pages


def allocate(fd: int, size: int) -> None:
    """Allocate the first ``size`` bytes of the file ``fd``, as unwritten extents where there is nothing. Raises
    OSError: EOPNOTSUPP where the file system cannot, ENOSPC where there is no room."""
    code = lib.fs_allocate(fd, size)
    if code:
        raise OSError(-code, os.strerror(-code))
