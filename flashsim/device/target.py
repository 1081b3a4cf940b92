"""``Target``: a file or block device whose pages are to be read past the page cache, opened read-only, and what is
known of it. Whether a replay on it would mean something is for :mod:`flashsim.device.checks` to say."""

import errno
import mmap
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from flashsim.device.machine import BlockDevice, Mount, disk_under, mount_of
from flashsim.errors import DataError
from flashsim.kernels import backend
from flashsim.kernels.stamps import GOOD, STAMP_BYTES, number_and_seed
from flashsim.kernels.target import dio_align

_STATX_SINCE = (6, 1)  # the Linux whose statx tells the alignment of direct I/O


class Direct(NamedTuple):
    """How direct I/O works on a file. memory_align, offset_align: bytes. source: who said so. refusal: why reads are
    not direct, or ""."""

    memory_align: int
    offset_align: int
    source: str
    refusal: str


@dataclass(frozen=True)
class Target:
    """An open target.

    kind: "file" or "block device". size: bytes. buffered: it was asked to read through the page cache. direct: whether
    direct I/O is real here, and its alignment. mount: of a file, None where /proc does not tell. disk: None where /sys
    has none. seed: of its stamps, None where it does not begin with one. modified: ns, of the last write before.
    """

    path: Path
    fd: int
    kind: str
    size: int
    buffered: bool
    direct: Direct
    mount: Mount | None
    disk: BlockDevice | None
    seed: int | None
    modified: int

    @classmethod
    def open(cls, path: str | os.PathLike, *, buffered: bool = False) -> "Target":
        """Open ``path`` for reading, by direct I/O unless ``buffered``. Raises DataError where there is nothing that
        could be read; where it could, but not past the page cache, ``direct.refusal`` says why."""
        path = Path(path)
        status = _status(path)
        fd, refused = _open(path, status, buffered)
        try:
            size = _size(fd)
            if size == 0:
                raise DataError(f"{path} is empty (0 B): 'flashsim replay prepare --force' fills it")
            block = stat.S_ISBLK(status.st_mode)
            mount = None if block else mount_of(fd)
            disk = BlockDevice.of(status.st_rdev) if block else disk_under(path, mount)
            direct = Direct(0, 0, "", refused) if refused else direct_of(fd, size, disk)
            kind = "block device" if block else "file"
            seed, modified = _seed_of(fd, size, direct), os.fstat(fd).st_mtime_ns
            return cls(path, fd, kind, size, buffered, direct, mount, disk, seed, modified)
        except BaseException:
            os.close(fd)
            raise

    def close(self) -> None:
        os.close(self.fd)

    def __enter__(self) -> "Target":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    @property
    def file_system(self) -> str:
        """Name of the file system, or "block device"."""
        return self.kind if self.kind != "file" else self.mount.type if self.mount else "unknown file system"

    def changed(self) -> str | None:
        """What has changed in the file since it was opened, or None: asked for when a run ends."""
        size, modified = _size(self.fd), os.fstat(self.fd).st_mtime_ns
        if size != self.size:
            return f"{self.path} had {self.size} B when it was opened and has {size} B now: run it again"
        if modified != self.modified:
            return f"{self.path} was written to after it was opened (1 or more times): run it again"
        return None


def aligned_buffer(size: int) -> np.ndarray:
    """uint8, shape (size,), aligned to a page of memory."""
    return np.frombuffer(mmap.mmap(-1, size), np.uint8)


def read_into(fd: int, offset: int, buffer: np.ndarray) -> int:
    """Fill ``buffer`` (an aligned_buffer, or whole alignments of one) from ``offset``; return the bytes that there were
    before the end of the file. Raises OSError."""
    view, done = memoryview(buffer), 0
    while done < len(view):
        got = os.preadv(fd, [view[done:]], offset + done)
        done += got
        if got == 0:
            break
    return done


def _seed_of(fd: int, size: int, direct: Direct) -> int | None:
    """The seed of a target's stamps: of the first, or where that one is damaged, of a later one."""
    length = max(STAMP_BYTES, direct.offset_align)
    block, last = aligned_buffer(length), max(0, size // length - 1)
    for at in dict.fromkeys((0, last, last // 2)):
        try:
            if read_into(fd, at * length, block) < STAMP_BYTES:
                continue
        except OSError:  # the checks find it again, and say so
            continue
        number, seed = number_and_seed(block[:STAMP_BYTES])
        if backend("c").stamp_check(block[:STAMP_BYTES], number, seed)[0] == GOOD:
            return seed
    return None


def _size(fd: int) -> int:
    return os.lseek(fd, 0, os.SEEK_END)


def _status(path: Path) -> os.stat_result:
    """stat of what may be a target. Raises DataError."""
    try:
        status = os.stat(path)
    except OSError as error:
        way_out = "'flashsim replay prepare' makes one" if error.errno == errno.ENOENT else "give a file or a device"
        raise DataError(f"{path}: {error.strerror} (errno {error.errno}): {way_out}") from None
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISBLK(status.st_mode)):
        kinds = {stat.S_IFDIR: "folder", stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket"}
        what = kinds.get(stat.S_IFMT(status.st_mode), "character device")
        raise DataError(f"{path} is a {what} (0 pages to read): give a file or a block device")
    if not hasattr(os, "O_DIRECT"):
        raise DataError(f"{path}: 0 ways to read past the page cache on {os.uname().sysname}: replay on Linux")
    return status


def _open(path: Path, status: os.stat_result, buffered: bool) -> tuple[int, str]:
    """The open file, and why it could not be opened for direct I/O, or "". Raises DataError."""
    flags = os.O_RDONLY | os.O_CLOEXEC
    try:
        if not buffered:
            try:
                return os.open(path, flags | os.O_DIRECT), ""
            except OSError as error:
                if error.errno != errno.EINVAL:
                    raise
        return os.open(path, flags), "" if buffered else "open with O_DIRECT: Invalid argument (errno 22)"
    except OSError as error:
        told = f"{path}: cannot be opened for reading: {error.strerror} (errno {error.errno})"
        if error.errno == errno.EPERM and stat.S_ISBLK(status.st_mode):
            number = f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
            raise DataError(
                f"{told}: a device cgroup forbids it, even to root (containers): allow it with docker run "
                f"--device={path} or DeviceAllow='{path} r' (device {number}), or replay on a file"
            ) from None
        raise DataError(f"{told}; its mode is {stat.S_IMODE(status.st_mode):04o}, owner {status.st_uid}") from None


def direct_of(fd: int, size: int, disk: BlockDevice | None) -> Direct:
    """Whether direct I/O on ``fd`` is real. It is where statx tells an alignment; file systems that take O_DIRECT and
    answer from RAM (tmpfs, btrfs with checksums, FUSE, overlays on those) tell none. Linux before 6.1 cannot tell:
    there a read at an odd offset has to be refused."""
    told = dio_align(fd)
    if disk and disk.backing and not disk.backing_direct:
        return Direct(0, 0, "", f"{disk.name} reads {disk.backing} through the page cache (losetup --direct-io=on)")
    if told and told[1]:
        return Direct(*told, "statx DIOALIGN", "")
    if told:
        return Direct(0, 0, "", "statx tells an alignment of 0: direct I/O is not supported")
    if _linux() >= _STATX_SINCE:
        return Direct(0, 0, "", "O_DIRECT is accepted, but statx tells no alignment: reads go through the page cache")
    if _takes_odd_offset(fd, size):
        return Direct(0, 0, "", "a read at byte 1 was answered: reads come through the page cache")
    aligned = disk.logical_block if disk else STAMP_BYTES
    return Direct(aligned, aligned, f"logical block of {disk.name}" if disk else "assumed: no disk in /sys", "")


def _takes_odd_offset(fd: int, size: int) -> bool:
    try:
        return os.preadv(fd, [memoryview(aligned_buffer(STAMP_BYTES))[: min(512, size - 1)]], 1) > 0
    except OSError as error:
        return error.errno != errno.EINVAL


def _linux() -> tuple[int, int]:
    major, minor = os.uname().release.split(".")[:2]
    return int(major), int("".join(filter(str.isdigit, minor)) or 0)
