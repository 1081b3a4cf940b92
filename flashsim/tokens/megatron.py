"""Megatron ``.bin`` + ``.idx``: ids of all sequences end to end, and an index of sequences and documents.

The ``.idx``, little-endian: 9 bytes of magic, u64 version 1, u8 dtype code, u64 sequence count, u64 length of
the document index; then int32 sequence lengths in tokens, int64 sequence pointers in bytes, the int64
document index (first sequence of each document, and the sequence count at its end), and at times an int8 mode
for each sequence.
"""

import struct
from pathlib import Path

import numpy as np

from flashsim.errors import DataError
from flashsim.tokens.source import Payload, Source, opened

NAME = "megatron"
_MAGIC, _LEGACY_MAGIC = b"MMIDIDX\x00\x00", b"TNTIDX\x00\x00"
MAGICS = (_MAGIC, _LEGACY_MAGIC)  # of the index; legacy ones are known only to be refused

_HEADER = struct.Struct("<9sQBQQ")
_DTYPES = {1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "float64", 7: "float32", 8: "uint16"}
_PIECE_ITEMS = 1 << 20  # index entries checked at a time


def data_path(path: Path) -> Path:
    """The ``.bin`` that ``path`` stands for: that of the pair for a Megatron prefix or ``.idx``, or itself.

    Raises DataError where only one of the pair is there.
    """
    if path.suffix == ".idx" and path.is_file():
        return _both(path.with_suffix(".bin"), path)[0]
    data, index = Path(f"{path}.bin"), Path(f"{path}.idx")
    if path.exists() or not (data.exists() or index.exists()):
        return path
    return _both(data, index)[0]


def sniff(source: Source) -> bool:
    """True for a ``.bin`` with an index of this format beside it, or for an index under another name."""
    if source.head.startswith(MAGICS):
        return True
    data = source.path.with_name(source.path.name.removesuffix(".zst"))  # packed: known, to be refused
    index = data.with_suffix(".idx")
    if data.suffix != ".bin" or not index.is_file():
        return False
    with opened(index) as beside:
        return beside.head.startswith(MAGICS)


def read(source: Source, dtype: np.dtype | None, vocab_size: int | None) -> Payload:
    """Map the ids and check the whole index. Raises DataError where the two files disagree in any entry."""
    if source.path.suffix != ".bin":
        raise source.error("Megatron needs 2 uncompressed files, NAME.bin and NAME.idx: unpack or rename it first")
    _, index = _both(source.path, source.path.with_suffix(".idx"))
    with opened(index) as source_index:
        ids_dtype, lengths, pointers, documents = _index(source_index)
        end = _check_pointers(source_index, lengths, pointers, ids_dtype.itemsize)
        if end != source.size:
            fault = "truncated" if source.size < end else f"{source.size - end} bytes over"
            raise source.error(
                f"{fault}: it has {source.size} bytes, but {index.name} ends at {end}; the "
                "two may be from different builds: write both again"
            )
        count = source.size // ids_dtype.itemsize
        starts = _document_starts(source_index, documents, pointers, ids_dtype.itemsize, count)
    return Payload(source.map(ids_dtype, 0, count), starts, "Megatron document index")


def _both(data: Path, index: Path) -> tuple[Path, Path]:
    for missing, other in ((data, index), (index, data)):
        if not missing.exists():
            raise DataError(
                f"{missing}: no such file, only {other.name} is there: Megatron needs 2 files side by side"
                + (f"; for the ids alone, give {data.name} and --format raw" if missing is index else "")
            )
    return data, index


def _index(source: Source) -> tuple[np.dtype, np.ndarray, np.ndarray, np.ndarray]:
    """dtype of the ids; sequence lengths (int32), pointers (int64) and document index (int64), all mapped."""
    if not source.head.startswith(_MAGIC):
        raise source.error(f"no Megatron index: it begins with {source.head[:9]!r}, not {_MAGIC!r}; build it again")
    if len(source.head) < _HEADER.size:
        raise source.error(f"truncated: {source.size} of {_HEADER.size} header bytes; copy or build it again")
    _, version, code, sequences, documents = _HEADER.unpack_from(source.head)
    if version != 1:
        raise source.error(f"Megatron index of version {version}, expected 1: build it again")
    held = _DTYPES.get(code)
    if held is None or held.startswith("float"):
        raise source.error(
            f"dtype code {code} ({held or 'unknown'}), an integer dtype (1-5 or 8) expected: build it again"
        )
    sections = ((np.dtype("<i4"), sequences), (np.dtype("<i8"), sequences), (np.dtype("<i8"), documents))
    size = _HEADER.size + sum(dtype.itemsize * count for dtype, count in sections)
    if source.size != size + sequences:  # a multimodal index ends in one mode byte a sequence
        source.require_size(size, f"the header, {sequences} sequences and {documents} document index entries")
    arrays, offset = [], _HEADER.size
    for dtype, count in sections:
        arrays.append(source.map(dtype, offset, count))
        offset += dtype.itemsize * count
    return np.dtype(held).newbyteorder("<"), *arrays


def _check_pointers(source: Source, lengths: np.ndarray, pointers: np.ndarray, width: int) -> int:
    """Where the last sequence ends, in bytes; DataError unless each begins where the one before it ends."""
    end = 0
    for first in range(0, len(lengths), _PIECE_ITEMS):
        sizes = lengths[first : first + _PIECE_ITEMS].astype(np.int64) * width
        if sizes.min() < 0:
            bad = int(np.argmax(sizes < 0))
            raise source.error(f"sequence {first + bad} has a length of {sizes[bad] // width} tokens: build it again")
        ends = end + np.cumsum(sizes)
        wrong = pointers[first : first + _PIECE_ITEMS] != ends - sizes
        if wrong.any():
            bad = int(np.argmax(wrong))
            found, expected = int(pointers[first + bad]), int(ends[bad] - sizes[bad])
            cause = "wrapped at 32 bits" if (found - expected) % 2**32 == 0 else "a gap or overlap"
            raise source.error(
                f"sequence {first + bad} points to byte {found}, but the one before it ends at {expected}: "
                f"{cause}; build it again, or read the ids alone with --format raw"
            )
        end = int(ends[-1])
    return end


def _document_starts(source: Source, documents: np.ndarray, pointers: np.ndarray, width: int, count: int) -> np.ndarray:
    """int64 token positions at which a document starts; empty documents leave none. Raises DataError."""
    sequences = len(pointers)
    if len(documents) == 0 or documents[0] != 0 or documents[-1] != sequences:
        ends = f"{documents[0]} to {documents[-1]}" if len(documents) else "nowhere (0 entries)"
        raise source.error(
            f"its document index goes from {ends}, not from 0 to its {sequences} sequences: finish the last "
            "document and build it again, or pass --format raw"
        )
    falls = documents[1:] < documents[:-1]
    if falls.any():
        bad = int(np.argmax(falls)) + 1
        raise source.error(
            f"entry {bad} of its document index is {documents[bad]} after {documents[bad - 1]}: out of "
            "order; build it again, or pass --format raw"
        )
    firsts = documents[documents < sequences]  # the last entry, and empty documents before it, start nothing
    starts = np.unique(pointers[firsts] // width)
    return starts[starts < count]
