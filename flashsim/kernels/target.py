"""What the kernel says of an open file: alignment of direct I/O, pages left in the page cache. Linux; no numba twin."""

from flashsim.kernels.c import _ffi, _lib


def dio_align(fd: int) -> tuple[int, int] | None:
    """(memory, offset) alignment of direct I/O on ``fd`` in bytes by statx, (0, 0) where it is not supported; None
    where the kernel does not tell: it is older than 6.1, or the file system reads through the page cache."""
    memory, offset = _ffi.new("uint32_t *"), _ffi.new("uint32_t *")
    return (memory[0], offset[0]) if _lib.fs_dio_align(fd, memory, offset) == 1 else None


def cached_pages(fd: int) -> int | None:
    """Pages of the file ``fd`` in the page cache by cachestat; None where the kernel (before 6.5) does not tell."""
    pages = _lib.fs_cached_pages(fd)
    return None if pages < 0 else pages
