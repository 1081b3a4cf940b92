"""Whole files as bytes: memory-mapped, or unpacked where they end in .zst."""

import mmap
from pathlib import Path

from flashsim.errors import DataError


def data_of(path: Path) -> bytes | mmap.mmap:
    """The bytes of ``path``. Raises DataError where a .zst is broken or cut short."""
    with open(path, "rb") as file:
        if path.suffix != ".zst":
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        import zstandard

        unpacked = bytearray()
        try:
            with zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(
                file, read_across_frames=True
            ) as stream:
                while piece := stream.read(1 << 24):
                    unpacked += piece
        except zstandard.ZstdError as error:
            raise DataError(f"{path}: broken zstd after {len(unpacked)} bytes ({error}): get it again") from None
        return bytes(unpacked)
