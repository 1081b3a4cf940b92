"""llm.c and modded-nanogpt ``.bin``: 256 little-endian int32 of header (magic, version, count), then ids.

The count is read as unsigned, so that a file of 2^31 tokens and more opens.
"""

import numpy as np

from flashsim.tokens.source import Payload, Source

NAME = "llmc"

_HEADER_BYTES = 1024
_KINDS = {
    20240520: (1, np.dtype("<u2")),
    20240801: (7, np.dtype("<u4")),
}  # magic -> version, dtype of the ids
MAGICS = tuple(magic.to_bytes(4, "little") for magic in _KINDS)


def sniff(source: Source) -> bool:
    """True where the file begins with one of the two magic numbers."""
    return source.head.startswith(MAGICS)


def read(source: Source, dtype: np.dtype | None, vocab_size: int | None) -> Payload:
    """Map the ids. Raises DataError unless magic, version and count x width == size - 1024 all agree."""
    if source.size < _HEADER_BYTES and sniff(source):
        raise source.error(f"truncated: {source.size} of {_HEADER_BYTES} header bytes; copy or write it again")
    magic, version, count = (int.from_bytes(source.head[at : at + 4], "little") for at in (0, 4, 8))
    if magic not in _KINDS:
        known = " or ".join(map(str, _KINDS))
        raise source.error(f"no llm.c header: it begins with {magic}, not {known}; drop --format, or try --format raw")
    expected_version, ids_dtype = _KINDS[magic]
    if version != expected_version:
        raise source.error(
            f"llm.c header of magic {magic} has version {version}, expected {expected_version}: write it "
            "again, or save the ids as .npy"
        )
    _check_width(source, count, ids_dtype)
    source.require_size(_HEADER_BYTES + count * ids_dtype.itemsize, f"the header and {count} {ids_dtype} tokens")
    return Payload(source.map(ids_dtype, _HEADER_BYTES, count))


def _check_width(source: Source, count: int, dtype: np.dtype) -> None:
    """Raise DataError where the size fits the count, but at another width than the magic stands for."""
    width, rest = divmod(source.size - _HEADER_BYTES, max(count, 1))
    if rest == 0 and width != dtype.itemsize and width in (1, 2, 4, 8):
        raise source.error(
            f"the magic stands for {dtype} ids, but {count} tokens in {source.size - _HEADER_BYTES} bytes "
            f"are {width} bytes each, likely uint{8 * width}: save the ids as .npy, which holds its own dtype"
        )
