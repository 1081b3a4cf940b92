"""Traces of other tools: one file a format, in and out.

A format is a module with NAME, ABOUT and SUFFIXES; ``write(file, pages, page_bytes, target)`` where it can be written;
``sniff(head, size) -> bool`` and ``read(path, ignore_size) -> pages`` where it can be read. A new one is that module
and its row in FORMATS. Every object is one page: other sizes are refused, or ignored where the user says so.
"""

from pathlib import Path

import numpy as np

from flashsim.errors import DataError, UsageError
from flashsim.interop import fio, npy, oracle_general, text

FORMATS = {module.NAME: module for module in (oracle_general, text, fio, npy)}
WRITERS = {name: module for name, module in FORMATS.items() if hasattr(module, "write")}
READERS = {name: module for name, module in FORMATS.items() if hasattr(module, "read")}
_HEAD_BYTES = 4096


def export(path: str | Path, format_name: str, pages: np.ndarray, page_bytes: int, target: str = "target") -> None:
    """Write the trace ``pages`` (uint32 ids, in access order) for another tool; ``path`` ending in .zst is compressed.

    target: the file name that fio's iolog gives to the drive. Raises UsageError for an unknown format or a path that
    cannot be written.
    """
    from flashsim.files import replacing

    if format_name not in WRITERS:
        raise UsageError(f"{format_name!r} is none of the {len(WRITERS)} formats to write: {', '.join(WRITERS)}")
    with replacing(path) as file:
        if Path(path).suffix == ".zst":
            import zstandard

            with zstandard.ZstdCompressor(level=3).stream_writer(file, closefd=False) as packed:
                WRITERS[format_name].write(packed, pages, page_bytes, target)
        else:
            WRITERS[format_name].write(file, pages, page_bytes, target)


def read_trace(path: str | Path, format_name: str | None = None, ignore_size: bool = False) -> tuple[np.ndarray, str]:
    """(page ids, format) of a trace that another tool made, told by its content unless ``format_name`` says.

    Ids are integers >= 0, shape (references,), as the file has them. Raises DataError where the file is not such a
    trace, or has objects of several sizes and ``ignore_size`` is not set.
    """
    path = Path(path)
    if format_name is not None and format_name not in READERS:
        raise UsageError(f"{format_name!r} is none of the {len(READERS)} formats to read: {', '.join(READERS)}")
    try:
        with open(path, "rb") as file:
            head, size = file.read(_HEAD_BYTES), path.stat().st_size
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror} (errno {error.errno}): give a trace file") from None
    if size == 0:
        raise DataError(f"{path}: 0 bytes: give a trace with at least 1 reference")
    if path.suffix == ".zst":
        head, size = _unpacked_head(path), None
    module = READERS.get(format_name or "") or next((m for m in READERS.values() if m.sniff(head, size)), None)
    if module is None:
        raise DataError(f"{path}: none of the {len(READERS)} formats {', '.join(READERS)}: name it with --trace-format")
    return module.read(path, ignore_size), module.NAME


def _unpacked_head(path: Path) -> bytes:
    import zstandard

    try:
        with open(path, "rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as unpacked:
            return unpacked.read(_HEAD_BYTES)
    except zstandard.ZstdError as error:
        raise DataError(f"{path}: not zstd after 0 bytes ({error}): unpack it first") from None
