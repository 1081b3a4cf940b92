"""Documents of ids to a token file: spilled as they come, shuffled by document, written in llm.c's format.

The file is a header of 256 little-endian int32 (magic, version, token count), then the ids, uint16 where the
vocabulary fits 65,536 ids and uint32 otherwise. A ``.json`` of facts stands beside it.
"""

import os
import tempfile
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from flashsim.errors import DataError, UsageError
from flashsim.files import replacing, sha256_of, write_facts

_HEADER_INTS = 256
_MOST_TOKENS = 2**32 - 1  # the header counts in 32 bits


def ids_dtype(vocabulary: int) -> np.dtype:
    """The dtype of a token file whose ids are below ``vocabulary``: uint16 or uint32, little-endian."""
    return np.dtype("<u2" if vocabulary <= 2**16 else "<u4")


def _checked(output: str | os.PathLike) -> Path:
    path = Path(output)
    if path.suffix == ".json":
        raise UsageError(f"{path}: the facts go into the .json beside the token file, 1 name for 2 files: give a .bin")
    if path.is_dir():
        raise UsageError(f"{path} is a folder (1 name, 2 meanings): give the name of a file")
    return path


def _temporary(output: Path) -> BinaryIO:
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryFile(prefix=".flashsim-", dir=output.parent)
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror} (errno {error.errno}); choose another -o") from None


class Spool:
    """Documents of ids in a temporary file beside ``output``, with the source each came from.

    Ids take 2 or 4 bytes on disk and a document 12 bytes of memory, so GBs of text need little of it. A
    context manager: the file goes away at the end of the block.
    """

    def __init__(self, output: str | os.PathLike, vocabulary: int, eot: int) -> None:
        self.vocabulary, self.eot, self.dtype = vocabulary, eot, ids_dtype(vocabulary)
        self._lengths, self._sources = array("q"), array("i")
        self.tokens = 0
        self._file = _temporary(_checked(output))

    def __enter__(self) -> "Spool":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, ids: list[int], source: int) -> None:
        """Append one document and its end. Raises DataError for an id outside the vocabulary."""
        document = np.asarray([*ids, self.eot], np.int64)
        low, high = int(document.min()), int(document.max())
        if low < 0 or high >= self.vocabulary:
            raise DataError(
                f"the tokenizer gave id {low if low < 0 else high}, outside its vocabulary of "
                f"{self.vocabulary}: its list of ids is incomplete, take the tokenizer.json of the same model"
            )
        self._file.write(document.astype(self.dtype).tobytes())
        self._lengths.append(len(document))
        self._sources.append(source)
        self.tokens += len(document)
        if self.tokens > _MOST_TOKENS:
            raise UsageError(
                f"over {_MOST_TOKENS} tokens, more than an llm.c header counts: build it in 2 parts or more"
            )

    def tokens_by_source(self, sources: int) -> list[int]:
        """Tokens (ends of documents included) of each of ``sources`` sources."""
        counts = np.bincount(np.asarray(self._sources), weights=np.asarray(self._lengths), minlength=sources)
        return [int(count) for count in counts]

    def shuffled(self, seed: int) -> Iterator[np.ndarray]:
        """The documents' ids in an order that depends on ``seed`` and their number only."""
        self._file.flush()
        ids = np.memmap(self._file, self.dtype, mode="r", shape=(self.tokens,))
        ends = np.cumsum(np.asarray(self._lengths, np.int64))
        for index in np.random.Generator(np.random.PCG64(seed)).permutation(len(ends)):
            yield ids[ends[index] - self._lengths[index] : ends[index]]


TOKEN_FILE = "token file"  # in the JSON beside one


def refuse_overwrite(output: str | os.PathLike, force: bool) -> None:
    """Raise UsageError where ``output`` is there already: token files are somebody's input. ``force`` lets it pass."""
    path = Path(output)
    if path.is_file() and not force:
        raise UsageError(f"{path} exists, {path.stat().st_size} bytes: give another -o, or --force to replace it")


def write_tokens(
    output: str | os.PathLike,
    pieces: Iterable[np.ndarray],
    count: int,
    vocabulary: int,
    facts: dict[str, Any],
) -> dict[str, Any]:
    """Write ``count`` ids that come in ``pieces`` as an llm.c token file, and its facts; returns the facts.

    pieces: arrays of any integer dtype, ids below ``vocabulary``; their lengths add up to ``count``.
    facts: what the caller knows (documents, eot, tokenizer, seed, sources ...); tokens, vocabulary, dtype,
        format and sha256 are added here.
    """
    dtype = ids_dtype(vocabulary)
    header = np.zeros(_HEADER_INTS, "<u4")
    header[:3] = (20240520, 1, count) if dtype.itemsize == 2 else (20240801, 7, count)
    with replacing(_checked(output)) as file:
        file.write(header.tobytes())
        for piece in pieces:
            file.write(piece.astype(dtype, copy=False).tobytes())
        if file.tell() != header.nbytes + count * dtype.itemsize:
            raise AssertionError(f"wrote {file.tell()} bytes for {count} tokens")
    facts = {
        "kind": TOKEN_FILE,
        "tokens": count,
        "vocabulary": vocabulary,
        "dtype": dtype.name,
        "format": f"llm.c header (magic {header[0]}, version {header[1]})",
        "sha256": sha256_of(output),
    } | facts
    write_facts(output, facts)
    return facts
