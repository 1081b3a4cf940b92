"""Text files in: which files a path stands for, and the documents in them.

A file is a document; a long one is split where a paragraph ends. Files are read in blocks, plain, ``.gz`` or
``.zst``, so a file of many GB takes no more memory than a small one.
"""

import codecs
import gzip
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from flashsim.errors import DataError, UsageError
from flashsim.tokens import zst

DOCUMENT_CHARACTERS = 24_000  # a longer document is split
_BLOCK_BYTES = 1 << 20


@dataclass
class TextSource:
    """One PATH of the command line and what was found under it; the counts grow as :func:`read_documents`
    runs.

    ``bytes`` counts UTF-8 bytes after decompression; ``not_text`` files hold a NUL byte or are not UTF-8.
    """

    path: Path
    files: int = 0
    documents: int = 0
    bytes: int = 0
    not_text: int = 0
    empty: int = 0


def text_files(path: Path) -> Iterator[Path]:
    """The files under ``path`` in sorted order, or ``path`` itself. Raises UsageError for nothing there."""
    if path.is_dir():
        for folder, folders, names in os.walk(path):
            folders.sort()
            yield from (file for name in sorted(names) if (file := Path(folder, name)).is_file())
    elif path.is_file():
        yield path
    else:
        raise UsageError(f"{path}: 0 files there; give text files (plain, .gz, .zst) or folders of them")


def read_documents(source: TextSource, limit: int | None = DOCUMENT_CHARACTERS) -> Iterator[str]:
    """Yield the documents under ``source.path``, each of at most ``limit`` characters (None: one a file).

    Files that are not text are counted and skipped, and so are files of white space only. Raises DataError on
    a damaged ``.gz`` or ``.zst``, UsageError where the path does not exist.
    """
    for path in text_files(source.path):
        with _opened(path) as file:
            size = _text_bytes(file)
            if size is None:
                source.not_text += 1
                continue
            file.seek(0)
            found = 0
            for document in split_documents(_decoded(file), limit):
                found += 1
                yield document
        if not found:
            source.empty += 1
            continue
        source.files += 1
        source.documents += found
        source.bytes += size


def split_documents(pieces: Iterable[str], limit: int | None = DOCUMENT_CHARACTERS) -> Iterator[str]:
    """Join ``pieces`` of one text and cut it into documents of at most ``limit`` characters.

    A cut falls after the last blank line in the second half of a document, failing that after the last line
    break, failing that at ``limit``. Nothing is dropped but documents of white space only.
    """
    rest = ""
    for piece in pieces:
        rest += piece
        while limit is not None and len(rest) > limit:
            cut = _paragraph_end(rest, limit)
            if rest[:cut].strip():
                yield rest[:cut]
            rest = rest[cut:]
    if rest.strip():
        yield rest


def _paragraph_end(text: str, limit: int) -> int:
    for mark in ("\n\n", "\n"):
        at = text.rfind(mark, limit // 2, limit)
        if at >= 0:
            return at + len(mark)
    return limit


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The file's bytes, decompressed by its ending, seekable."""
    with open(path, "rb") as raw:
        if path.suffix == ".gz":
            try:
                with gzip.open(raw) as file:
                    yield file
            except (gzip.BadGzipFile, EOFError, zlib.error) as error:
                size = path.stat().st_size
                raise DataError(f"{path}: damaged or truncated .gz of {size} bytes ({error}); copy it again") from None
        elif path.suffix == ".zst":
            with zst.unpacked(raw, path) as file:
                file.seek(0)
                yield file
        else:
            yield raw


def _text_bytes(file: BinaryIO) -> int | None:
    """Bytes of text in ``file``, None where it is not text. Read to its end before a document is believed."""
    decoder, size = codecs.getincrementaldecoder("utf-8")(), 0
    try:
        while block := file.read(_BLOCK_BYTES):
            if b"\0" in block:
                return None
            decoder.decode(block)
            size += len(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return None
    return size


def _decoded(file: BinaryIO) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    while block := file.read(_BLOCK_BYTES):
        yield decoder.decode(block)
