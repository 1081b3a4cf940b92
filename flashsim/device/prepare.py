"""Targets made: a file or device filled with stamped pages, so that every read of a replay finds written flash and can
prove what it brought.

A file grows as ``FILE.partial`` and takes its name when it is whole. A run that was killed is gone on with behind the
last page that stands.
"""

import errno
import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from flashsim.device.extents import holes
from flashsim.device.fill import bypass_cache, fill, make_room
from flashsim.device.machine import BlockDevice
from flashsim.device.target import Target
from flashsim.device.verify import sound_pages, verify
from flashsim.errors import DataError, UsageError
from flashsim.kernels.stamps import STAMP_BYTES
from flashsim.units import format_bytes, number_of

_LOOKED_AT = 256  # stamps, before a target is said to be prepared already


class Prepared(NamedTuple):
    """size: bytes of the target. kept: those that stood from before, all of them where nothing was to be done.
    seconds: that writing the others took, fsync included."""

    path: Path
    size: int
    seed: int
    kept: int
    seconds: float

    @property
    def gb_per_s(self) -> float:
        return (self.size - self.kept) / self.seconds / 1e9


class Order(NamedTuple):
    """What is asked for. size: bytes, whole stamps. force: replace a file that is there, write to a device. progress:
    is called with the bytes that each step wrote or found; note: with what else is to be told."""

    path: Path
    size: int
    seed: int
    force: bool
    progress: Callable[[int], None]
    note: Callable[[str], None]


def prepare(
    path: str | os.PathLike,
    size: int,
    *,
    seed: int = 0,
    force: bool = False,
    progress: Callable[[int], None] = lambda size: None,
    note: Callable[[str], None] = lambda text: None,
) -> Prepared:
    """Fill ``path``, a file to be made or (with ``force``) a block device, with ``size`` bytes of stamps of ``seed``;
    size is rounded up to whole stamps. The rest is as :class:`Order` says.

    Raises UsageError where it may not or cannot be written, DataError where the drive fails; what was written by then
    stays, and the same call goes on from there.
    """
    if not 0 < size < 2**62:
        raise UsageError(f"a target of {size} B: take 4KiB or more, such as 10GiB")
    if os.fspath(path).endswith("/"):
        raise UsageError(f"{path} names a folder (0 pages fit): give a file, such as {path}target")
    size = -(-size // STAMP_BYTES) * STAMP_BYTES
    order = Order(Path(os.path.realpath(path)), size, seed, force, progress, note)  # a link stays one
    status = _status(order.path)
    if status is not None and _already(order):
        return Prepared(order.path, size, seed, size, 0.0)
    if status is not None and stat.S_ISBLK(status.st_mode):
        return _device(order, BlockDevice.of(status.st_rdev))
    if status is not None and not force:
        text = f"{path} is there already ({status.st_size} B) and is not the target of {size} B and seed {seed}"
        raise UsageError(f"{text}: --force replaces it, or give another name")
    return _file(order)


def _status(path: Path) -> os.stat_result | None:
    """stat of what is to be written, None where it is to be made. Raises UsageError."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise UsageError(f"{path.parent}: 0 folders of this name: mount the drive, or make the folder") from None
        if path.parent == Path("/dev"):  # a slip of the pen would fill RAM
            raise UsageError(f"{path}: 0 devices of this name: see lsblk") from None
        return None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror} (errno {error.errno}): give another file") from None
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISBLK(status.st_mode)):
        raise UsageError(f"{path} is a folder, pipe or the like (0 pages fit): give a file or a block device")
    return status


def _already(order: Order) -> bool:
    """Whether it is there, by a look at some of its stamps."""
    try:
        with Target.open(order.path) as target:
            fits = target.size == order.size or (target.kind != "file" and target.size > order.size)
            if not fits or target.seed != order.seed:
                return False
            last = order.size // STAMP_BYTES - 1
            numbers = np.append(np.random.default_rng(0).integers(0, last + 1, _LOOKED_AT), last)
            return not verify(target, np.unique(numbers)).bad
    except DataError:
        return False


def _file(order: Order) -> Prepared:
    partial, fresh = Path(f"{order.path}.partial"), not os.path.lexists(f"{order.path}.partial")
    try:
        fd = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise UsageError(f"{partial}: {error.strerror} (errno {error.errno}): choose another folder") from None
    with _closing(fd):
        _lock(fd, partial)
        kept = 0 if fresh else _kept(fd, partial, order)
        try:
            make_room(fd, partial, order.size)
        except BaseException:
            if fresh:
                partial.unlink()
            raise
        seconds = fill(fd, partial, order.size, order.seed, kept, order.progress)
        os.replace(partial, order.path)
        with suppress(OSError):
            _sync_folder(order.path.parent)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    return Prepared(order.path, order.size, order.seed, kept, seconds)


def _device(order: Order, disk: BlockDevice | None) -> Prepared:
    path, size = order.path, order.size
    name = f"{path} ({disk.model or 'model not told'}, {format_bytes(disk.bytes)})" if disk else str(path)
    if disk and disk.partitions and not disk.partition:
        parts = " ".join(disk.partitions)
        raise UsageError(
            f"{name} has {number_of(len(disk.partitions), 'partition')} ({parts}): give one of them, or another device"
        )
    if not order.force:
        raise UsageError(f"{name} is a block device, its first {size} B would be lost: --force writes to it")
    try:
        fd = os.open(path, os.O_RDWR | os.O_EXCL | os.O_CLOEXEC)
    except OSError as error:
        reasons = {
            errno.EBUSY: "it is mounted, or in use by RAID, LVM, swap or the like: release it first",
            errno.EPERM: "a device cgroup forbids it, even to root (containers): allow the device, or take a file",
        }
        reason = reasons.get(error.errno, "give one that may be written")
        raise UsageError(f"{name}: {error.strerror} (errno {error.errno}): {reason}") from None
    with _closing(fd):
        holds = os.lseek(fd, 0, os.SEEK_END)
        if size > holds:
            raise UsageError(f"{name} holds {holds} B, {size} B are asked for: take --size {holds}B or less")
        bypass_cache(fd)
        kept = _sound(fd, size, path, order)
        seconds = fill(fd, path, size, order.seed, kept, order.progress)
    return Prepared(path, size, order.seed, kept, seconds)


@contextmanager
def _closing(fd: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.close(fd)


def _lock(fd: int, partial: Path) -> None:
    """One prepare at a time: raises UsageError in the others."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno == errno.EWOULDBLOCK:  # else it is a file system without locks
            raise UsageError(f"{partial} is being written by 1 other prepare: wait until it is done") from None
    if not os.path.exists(partial) or not os.path.samestat(os.stat(partial), os.fstat(fd)):
        raise UsageError(f"{partial} was finished by 1 other prepare just now: give the command again")


def _kept(fd: int, partial: Path, order: Order) -> int:
    """Bytes that a killed run left and that can be gone on from. Raises UsageError where the file is none of ours."""
    size = os.lseek(fd, 0, os.SEEK_END)
    bypass_cache(fd)
    if kept := _sound(fd, size, partial, order):
        return min(kept, order.size)
    gaps = holes(fd, size)
    killed_at_once = int((gaps[:, 1] - gaps[:, 0]).sum()) == size
    if not killed_at_once and not order.force:
        text = f"{partial} is there already ({size} B) and holds no page of seed {order.seed}"
        raise UsageError(f"{text}: delete it, or --force writes over it")
    return 0


def _sound(fd: int, size: int, path: Path, order: Order) -> int:
    """Bytes before the first page that is not there, each of them read back."""
    pages = sound_pages(fd, min(size, order.size), order.seed, lambda pages: order.progress(pages * STAMP_BYTES))
    if pages:
        text = f"{pages * STAMP_BYTES} of {order.size} B were written before, and every page of them stands"
        order.note(f"{path}: {text}: going on from there")
    return pages * STAMP_BYTES


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY)
    with _closing(fd):
        os.fsync(fd)
