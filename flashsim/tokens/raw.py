"""Raw ``.bin``: nothing but little-endian uint16 or uint32 ids (``ids.tofile(...)``).

The width is told by content. Read as 16-bit words, uint32 ids show a tiny high half in every odd word (no
vocabulary reaches 2^20 ids), while uint16 ids look alike in even and odd words, and huge as uint32.
"""

import codecs

import numpy as np

from flashsim.tokens.source import Payload, Source

NAME = "raw"
MAGICS = ()
DTYPES = ("uint16", "uint32")

_SAMPLE_BLOCKS, _BLOCK_WORDS = 64, 2048
_HIGH_HALVES = 16  # a high half below this belongs to an id below 2^20
_MIN_PAIRS = 8  # fewer that tell prove nothing: tiny words fall on 8 odd places by chance 1 time in 256
_MIN_TEXT_BYTES = 64
_CONTRADICTIONS = {
    "uint16": "every second id is 0 or tiny, as the high halves of 32-bit ids are",
    "uint32": "many ids lie above 1,048,576, as pairs of 16-bit ids do",
}
_FOREIGN = {
    b"\x1f\x8b\x08": "gzip data",
    b"PK\x03\x04": "a zip archive (.npz, .pt)",
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"\x89HDF": "an HDF5 file",
    b"\x7fELF": "a program",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"%PDF": "a PDF file",
    b"SQLite": "a database",
    b"GGUF": "a GGUF model",
}


def sniff(source: Source) -> bool:
    """True: any bytes can be ids. Raises DataError for what is plainly something else."""
    for magic, kind in _FOREIGN.items():
        if source.head.startswith(magic):
            raise source.error(
                f"{kind} (its first {len(magic)} bytes say so), not token ids: unpack it or convert it to "
                ".npy, or force it with --format raw"
            )
    if _is_text(source.head):
        raise source.error(
            f"its first {len(source.head)} bytes are text, not token ids: make tokens of it with 'flashsim "
            "corpus build', or force it with --format raw"
        )
    return True


def read(source: Source, dtype: np.dtype | None, vocab_size: int | None) -> Payload:
    """Map the ids. Raises DataError where the width cannot be told or ``dtype`` is against the content."""
    words = _sample(source)
    shape = _shape(words)
    if shape == "uint64":
        raise source.error(
            "every second 32-bit word is 0, so these are 8-byte ids, not uint16 or uint32: save them as "
            ".npy, which holds its own dtype"
        )
    if _shape(words.reshape(-1, 2)[:, ::-1].ravel()) == "uint32" and (dtype is None or dtype.name != "uint16"):
        raise source.error(
            "every first half of a 32-bit word is 0 or tiny, as in big-endian uint32 ids: write them "
            "little-endian, or, if they are uint16 all the same, pass --dtype uint16"
        )
    if dtype is None:
        chosen = shape or _only_fit(words, source.size, vocab_size)
        if chosen is None:
            raise source.error(
                f"cannot tell {source.size // 2} uint16 from {source.size // 4} uint32 ids: pass --dtype, or "
                "save them as .npy, which holds its own dtype"
            )
        notes = (f"{source.path.name}: read as raw {chosen}, told by its content",)
    else:
        chosen, notes = dtype.name, ()
        if chosen not in DTYPES:
            raise source.error(
                f"raw ids are uint16 or uint32, not {chosen}: save others as .npy, which holds its dtype"
            )
        if shape not in (None, chosen):
            raise source.error(
                f"--dtype {chosen} is against the content: {_CONTRADICTIONS[chosen]}. Pass --dtype {shape}, "
                "or, if you are sure, save it as .npy, which holds its own dtype and is never doubted"
            )
    ids_dtype = np.dtype(chosen).newbyteorder("<")
    count = -(-source.size // ids_dtype.itemsize)
    source.require_size(count * ids_dtype.itemsize, f"{count} {chosen} tokens")
    return Payload(source.map(ids_dtype, 0, count), notes=notes)


def _sample(source: Source) -> np.ndarray:
    """uint16 words, an even number of them: the whole file, or blocks from all over it."""
    words = source.map("<u2", 0, source.size // 4 * 2)
    if len(words) <= _SAMPLE_BLOCKS * _BLOCK_WORDS:
        return words
    firsts = np.linspace(0, len(words) - _BLOCK_WORDS, _SAMPLE_BLOCKS).astype(np.int64) // 4 * 4
    return np.concatenate([words[first : first + _BLOCK_WORDS] for first in firsts])


def _shape(words: np.ndarray) -> str | None:
    """The dtype that the sampled ``words`` look like, or None where they could be either."""
    low, high = words[0::2], words[1::2]
    if len(low) >= 2 * _MIN_PAIRS and low.any() and not low[1::2].any() and not high.any():
        return "uint64"
    # two tiny words tell nothing; of the other pairs uint16 has as many with a tiny left as a tiny right
    for_uint16 = np.count_nonzero(~_small(high))
    for_uint32 = np.count_nonzero(_small(high) & ~_small(low))
    if for_uint16 > 0.1 * (for_uint16 + for_uint32):
        return "uint16"
    return "uint32" if for_uint32 >= _MIN_PAIRS else None


def _only_fit(words: np.ndarray, size: int, vocab_size: int | None) -> str | None:
    """The dtype that is left where the other does not divide ``size`` or breaks the vocabulary, or None."""
    if size % 4:
        return "uint16"
    if vocab_size is None or len(words) == 0:
        return None
    fits = [name for name in DTYPES if int(words.view(name).max()) < vocab_size]
    return fits[0] if len(fits) == 1 else None


def _small(halves: np.ndarray) -> np.ndarray:
    """Which of ``halves`` could be the high half of an id, or of a negative placeholder such as -1."""
    return (halves < _HIGH_HALVES) | (halves == 0xFFFF)


def _is_text(head: bytes) -> bool:
    if len(head) < _MIN_TEXT_BYTES:
        return False
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(head)  # incremental: the last letter may be cut
    except UnicodeDecodeError:
        return False
    return all(letter >= " " or letter in "\t\n\r\f" for letter in text)
