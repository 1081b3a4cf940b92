"""What every format reader is given and gives back: an open file of known size in, ids mapped from it out."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from flashsim.errors import DataError
from flashsim.tokens import zst

HEAD_BYTES = 4096


class Payload(NamedTuple):
    """What a reader found in a file.

    ids: shape (N,), the file's own integer dtype, memory-mapped.
    starts: int64, increasing, first 0: the document starts that the format itself holds, or None.
    boundary: what ``starts`` is called for people.
    notes: choices that were made for the user and have to be told.
    """

    ids: np.ndarray
    starts: np.ndarray | None = None
    boundary: str = "none"
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    """An open regular file, unpacked if it was a ``.zst``.

    path: the name that the user knows it by.
    size: bytes of ``file``. head: its first ``HEAD_BYTES`` bytes, or all of them.
    """

    path: Path
    file: BinaryIO
    size: int
    head: bytes

    def map(self, dtype: np.dtype | type, offset: int, count: int) -> np.ndarray:
        """``count`` items at byte ``offset``, memory-mapped read-only; the file has to hold them all."""
        if count == 0:  # an empty range cannot be mapped
            return np.zeros(0, dtype)
        return np.memmap(self.file, dtype, "r", offset, shape=(count,)).view(np.ndarray)

    def error(self, text: str) -> DataError:
        """The error to raise when this file is not what it should be."""
        return DataError(f"{self.path}: {text}")

    def require_size(self, expected: int, held: str) -> None:
        """Raise DataError unless the file has ``expected`` bytes, which is what ``held`` takes up."""
        if self.size < expected:
            raise self.error(f"truncated: {self.size} of {expected} bytes ({held}); copy or write it again")
        if self.size > expected:
            raise self.error(f"{self.size - expected} bytes over: {held} end at byte {expected}; write it again")


@contextmanager
def opened(path: Path) -> Iterator[Source]:
    """Open ``path`` for mapping; what was mapped stays valid after the block.

    Raises DataError for what is missing, unreadable, no regular file, or a ``.zst`` that cannot be unpacked.
    """
    with _regular_file(path) as file:
        if not zst.sniff(file.read(4)):
            if path.suffix == ".zst" and os.fstat(file.fileno()).st_size:
                raise DataError(
                    f"{path}: named .zst, but byte 0 on is no zstd frame: corrupt, or in need of another name"
                )
            yield _source(path, file)
            return
        with zst.unpacked(file, path) as unpacked:
            yield _source(path, unpacked)


def _regular_file(path: Path) -> BinaryIO:
    try:
        mode = path.stat().st_mode  # before open(): opening a FIFO would wait for its writer
        if not stat.S_ISREG(mode):
            raise DataError(f"{path} is {_kind(mode)} (mode {stat.filemode(mode)}): give a file that can be mapped")
        return open(path, "rb")
    except FileNotFoundError:
        raise DataError(f"{path}: no such file (errno 2): check the path") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{path}: cannot be read: {reason} (errno {getattr(error, 'errno', 22)})") from None


def _source(path: Path, file: BinaryIO) -> Source:
    file.seek(0)
    return Source(path, file, os.fstat(file.fileno()).st_size, file.read(HEAD_BYTES))


def _kind(mode: int) -> str:
    kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a FIFO"), (stat.S_ISSOCK, "a socket"))
    return next((name for test, name in kinds if test(mode)), "a device")
