"""Which parts of a file are not on the drive: holes, and extents that were allocated but never written.

A read of either is answered with zeros that no flash has seen. lseek(SEEK_DATA) finds both, but takes an unwritten
extent for data once anybody has read it into the page cache; FIEMAP tells it at any time where a file system has it.
"""

import errno
import fcntl
import os
import struct

import numpy as np

_FIEMAP = 0xC020660B  # FS_IOC_FIEMAP, _IOWR('f', 11, struct fiemap)
_SYNC, _LAST, _UNWRITTEN = 0x1, 0x1, 0x800  # FIEMAP_FLAG_SYNC, FIEMAP_EXTENT_LAST, FIEMAP_EXTENT_UNWRITTEN
_HEAD = struct.Struct("=QQIIII")  # start, length, flags, mapped extents, room, reserved
_EXTENT = np.dtype(
    [("logical", "u8"), ("physical", "u8"), ("length", "u8"), ("_", "u8", 2), ("flags", "u4"), ("__", "u4", 3)]
)
_ROOM = 4096  # extents a call


def holes(fd: int, size: int) -> np.ndarray:
    """int64, shape (holes, 2): [begin, end) of each part of the file's ``size`` bytes that lseek takes for a hole."""
    found, at = [], 0
    while at < size:
        try:
            data = os.lseek(fd, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:  # EINVAL: a device, or a file system that cannot tell
                return np.zeros((0, 2), np.int64)
            data = size
        if data > at:
            found.append((at, min(data, size)))
        at = os.lseek(fd, data, os.SEEK_HOLE) if data < size else size
    return np.array(found, np.int64).reshape(-1, 2)


def unwritten(fd: int, size: int) -> np.ndarray:
    """int64, shape (extents, 2): [begin, end) of each extent that is allocated but not written, as FIEMAP tells; none
    where the file system has no FIEMAP."""
    found, at = [np.zeros((0, 2), np.int64)], 0
    while at < size:
        request = bytearray(_HEAD.size + _ROOM * _EXTENT.itemsize)
        _HEAD.pack_into(request, 0, at, size - at, _SYNC, 0, _ROOM, 0)
        try:
            fcntl.ioctl(fd, _FIEMAP, request)
        except OSError:
            break
        extents = np.frombuffer(request, _EXTENT, _HEAD.unpack_from(request)[3], _HEAD.size)
        ends = extents["logical"] + extents["length"]
        dry = extents["flags"] & _UNWRITTEN != 0
        found.append(np.stack([extents["logical"][dry], ends[dry]], axis=1).astype(np.int64))
        if not len(extents) or extents["flags"][-1] & _LAST:
            break
        at = int(ends[-1])
    return np.minimum(np.concatenate(found), size)


def overlapping(extents: np.ndarray, offsets: np.ndarray, length: int) -> np.ndarray:
    """bool, one for each read of ``length`` bytes at ``offsets``: whether it touches one of ``extents`` (increasing,
    apart from each other)."""
    if not len(extents):
        return np.zeros(len(offsets), bool)
    first = np.searchsorted(extents[:, 1], offsets, side="right")  # the first that ends behind the offset
    begins = np.append(extents[:, 0], np.iinfo(np.int64).max)
    return begins[first] < offsets + length


def union(*parts: np.ndarray) -> np.ndarray:
    """The extents of all ``parts``, increasing and apart from each other."""
    extents = np.concatenate(parts)
    extents = extents[np.argsort(extents[:, 0], kind="stable")]
    ends = np.maximum.accumulate(extents[:, 1])
    apart = extents[1:, 0] > ends[:-1]
    begins = np.append(True, apart)[: len(extents)]
    return np.stack([extents[begins, 0], ends[np.append(apart, True)[: len(extents)]]], axis=1)
