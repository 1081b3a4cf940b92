"""``.zst`` around a single-file format: streamed into an unlinked temporary file, so memory is bounded."""

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from flashsim.errors import DataError, UsageError

_FRAME = b"\x28\xb5\x2f\xfd"
_MAX_WINDOW_BYTES = 1 << 27  # zstd --long=27, the most that its own command line unpacks without being asked
# A block of 4 packed bytes can stand for 128 KiB, so one piece of input makes at most 128 MiB of output.
_PIECE_BYTES = 1 << 12


def sniff(head: bytes) -> bool:
    """True where ``head`` begins a zstd frame, or the skippable frame that parallel compressors put first."""
    return head[:4] == _FRAME or (head[1:4] == b"\x2a\x4d\x18" and head[0] >> 4 == 5)


def unpacked(packed: BinaryIO, path: Path) -> BinaryIO:
    """A temporary file (unlinked, gone when closed and unmapped) with what all frames of ``packed`` hold.

    Raises DataError when ``packed`` is truncated or corrupt, UsageError when the temporary folder is full.
    """
    import zstandard

    try:
        with ExitStack() as on_error:
            target = on_error.enter_context(tempfile.TemporaryFile(prefix="flashsim-"))
            _unpack(packed, target, zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW_BYTES), path)
            target.flush()
            on_error.pop_all()
            return target
    except zstandard.ZstdError as error:
        raise DataError(
            f"{path}: corrupt .zst before byte {packed.tell()}: {error}; copy it again (or, for a window "
            f"over {_MAX_WINDOW_BYTES} bytes, pack it again with --long=27 or less)"
        ) from None
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be unpacked into {tempfile.gettempdir()}: {error.strerror} (errno "
            f"{error.errno}); set TMPDIR to a folder with more room, or unpack it yourself"
        ) from None


def _unpack(packed: BinaryIO, target: BinaryIO, decompressor, path: Path) -> None:
    packed.seek(0)
    piece = packed.read(_PIECE_BYTES)
    while piece:
        frame = decompressor.decompressobj()  # one frame; unlike the stream readers it tells whether it ended
        while not frame.eof:
            if not piece:
                raise DataError(f"{path}: truncated .zst: its frame is open at byte {packed.tell()}; copy it again")
            target.write(frame.decompress(piece))
            piece = frame.unused_data if frame.eof else packed.read(_PIECE_BYTES)
        piece = piece or packed.read(_PIECE_BYTES)
