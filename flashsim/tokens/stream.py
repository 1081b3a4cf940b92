"""``TokenStream``: token ids, where documents start, and where both came from.

A stream never holds the whole file: ``ids`` is usually memory-mapped, and :meth:`TokenStream.chunks` hands it
out in pieces that a kernel can take, with the context that n-grams reach back into.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from flashsim.errors import DataError, UsageError

ID_LIMIT = 2**31  # no vocabulary reaches it: such an id is a negative one, or was read with a wrong dtype
CHUNK_TOKENS = 1 << 18  # 1 MiB of uint32 ids: stays in a core's L2 while the kernels work on it


class Chunk(NamedTuple):
    """A piece of a stream.

    ids: uint32, shape (context + n,); the first ``context`` ids only serve as history.
    context: how many leading ids belong to the piece before.
    starts: int64, increasing positions in ``ids`` at which a document starts. Position 0 counts as a start
        whether listed or not: it is either the start of the stream or further back than any n-gram reaches.
    """

    ids: np.ndarray
    context: int
    starts: np.ndarray


@dataclass(frozen=True)
class TokenStream:
    """Token ids in order, with document boundaries.

    ids: shape (N,), any integer dtype; checked to lie in [0, vocab_size) as it is read.
    format: name of the file format it was read as.
    eot: id of the token that ends its document, or None.
    starts: int64, shape (documents,), increasing, first 0: explicit document starts, if not by ``eot``.
    boundary: where the boundaries come from, for people ("--eot 0", "Megatron document index", "none").
    vocab_size: number of ids in the vocabulary where known, else None.
    synthetic: True where the stream was made by a generator; every table and figure says so.
    uncertain: what makes results from it doubtful, for people; it goes into their JSON.
    """

    ids: np.ndarray
    format: str = "array"
    eot: int | None = None
    starts: np.ndarray | None = None
    boundary: str = "none"
    vocab_size: int | None = None
    synthetic: bool = False
    path: Path | None = None
    notes: tuple[str, ...] = field(default=())
    uncertain: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.ids.ndim != 1 or self.ids.dtype.kind not in "iu":
            raise UsageError(f"token ids are {self.ids.ndim}-D {self.ids.dtype}: give 1-D integers")
        if self.eot is not None and (
            type(self.eot) is bool or not isinstance(self.eot, int | np.integer) or self.eot < 0
        ):
            raise UsageError(f"eot {self.eot!r}: give a token id, a whole number from 0")
        if self.starts is not None and len(self.starts) and (self.starts[0] != 0 or (np.diff(self.starts) <= 0).any()):
            raise UsageError(f"{len(self.starts)} document starts: give increasing positions, the first 0")

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def name(self) -> str:
        """What the stream is called in tables, figures and file names: the file's name without endings. Bytes that are
        not UTF-8, which no table can hold, are written as ``\\xe9``."""
        if self.path is None:
            return "tokens"
        stem = Path(self.path.name.removesuffix(".zst")).stem
        return stem.encode(errors="surrogateescape").decode(errors="backslashreplace")

    def chunks(self, context: int, begin: int = 0, end: int | None = None, size: int = CHUNK_TOKENS) -> Iterator[Chunk]:
        """Yield tokens [begin, end) in pieces of at most ``size`` tokens.

        ``context`` ids before each piece come with it (fewer at the very start of the stream), so n-grams of
        order up to ``context + 1`` are the same however the stream is cut. Raises DataError on an id below 0,
        at or above ``vocab_size``, or of over 31 bits, naming the first position.
        """
        end = len(self.ids) if end is None else end
        for first in range(begin, end, size):
            last, lead = min(first + size, end), min(context, first)
            ids = self._checked(slice(first - lead, last))
            yield Chunk(ids, lead, self._starts(first - lead, ids))

    def take(self, positions: np.ndarray) -> np.ndarray:
        """uint32: the ids at ``positions``, any order. Raises DataError as :meth:`chunks` does."""
        return self._checked(positions)

    def document_starts(self, begin: int, end: int) -> np.ndarray:
        """int64, increasing: where in [begin, end) a document starts, as far as it is known; 0 where it is in there."""
        if self.starts is not None:
            return self.starts[np.searchsorted(self.starts, begin) : np.searchsorted(self.starts, end)].astype(np.int64)
        first = [np.zeros(1 if begin <= 0 < end else 0, np.int64)]
        if self.eot is None:
            return first[0]
        found = [
            np.flatnonzero(self.ids[at : min(at + CHUNK_TOKENS, end - 1)] == self.eot) + at + 1
            for at in range(max(begin - 1, 0), end - 1, CHUNK_TOKENS)
        ]
        return np.concatenate(first + found)

    def _checked(self, where: slice | np.ndarray) -> np.ndarray:
        raw = self.ids[where]
        unsigned = raw.view(raw.dtype.str.replace("i", "u"))  # so that one maximum finds the negative ids too
        limit = min(self.vocab_size or ID_LIMIT, ID_LIMIT, int(np.iinfo(raw.dtype).max) + 1)
        if np.iinfo(unsigned.dtype).max >= limit and len(raw) and unsigned.max() >= limit:
            bad = int(np.argmax(unsigned >= limit))
            position = where.start + bad if isinstance(where, slice) else int(where[bad])
            raise DataError(_out_of_range(position, int(raw[bad]), self))
        return raw.astype(np.uint32)

    def _starts(self, first: int, ids: np.ndarray) -> np.ndarray:
        if self.starts is not None:
            low, high = np.searchsorted(self.starts, (first, first + len(ids)))
            return self.starts[low:high].astype(np.int64) - first
        if self.eot is not None:
            return np.flatnonzero(ids[:-1] == self.eot) + 1
        return np.zeros(0, np.int64)


def _out_of_range(position: int, value: int, stream: TokenStream) -> str:
    dtype = stream.ids.dtype
    where = f"{stream.path or 'tokens'}: token {position} is {value}"
    signed = value - 2 ** (8 * dtype.itemsize)
    if value < 0:
        return f"{where}, a negative id ({dtype.name}): a placeholder or a wrong --dtype; write the ids unsigned"
    if signed >= -128 and dtype.itemsize > 1:  # -1, -100 and their like
        where += f" ({signed} if it was written as int{8 * dtype.itemsize})"
    if stream.vocab_size is None or value < stream.vocab_size:
        return f"{where}, over 31 bits ({dtype.name}), and no vocabulary is: a placeholder, or a wrong --dtype?"
    fits = "uint16" if stream.vocab_size <= 2**16 else "uint32"
    other = "" if dtype.name == fits else f" (read as {dtype.name}, where {fits} would fit it)"
    return (
        f"{where}, outside the vocabulary of {stream.vocab_size}{other}: pass the tokenizer's true --vocab-size, "
        "or write the file again"
    )
