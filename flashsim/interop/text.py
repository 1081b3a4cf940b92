"""Plain text: one page id a line; or CSV (comma, semicolon or tab) whose header names the column of ids."""

import csv
import re
import tempfile
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from flashsim.errors import UsageError
from flashsim.interop.exchange import Accesses, Export, Progress
from flashsim.tokens.source import Source
from flashsim.units import number_of

NAME, SUFFIXES = "text", (".txt",)
ID_COLUMNS = ("page", "page_id", "id", "obj_id", "object", "key", "lba")
SIZE_COLUMNS = ("size", "obj_size", "length", "len")
_BOM = b"\xef\xbb\xbf"
_NUMBER = re.compile(r"\s*[0-9]{1,30}\s*", re.ASCII)
_STEP, _STEP_BYTES, _LINE_BYTES_MAX = 1 << 20, 1 << 22, 1 << 16


def write(file: BinaryIO, export: Export, progress: Progress) -> None:
    """Write a line for each reference."""
    for at in range(0, len(export.pages), _STEP):
        ids = export.pages[at : at + _STEP].tolist()
        file.write(("\n".join(map(str, ids)) + "\n").encode())
        progress(len(ids))


def sniff(source: Source) -> bool:
    """Printable ASCII, perhaps behind a byte order mark."""
    head = source.head.removeprefix(_BOM)
    return bool(head) and all(32 <= byte < 127 or byte in b"\t\r\n" for byte in head)


def read(source: Source, ignore_size: bool) -> Accesses:
    """int64 ids in order, kept in an unlinked temporary file (8 B each). Raises DataError naming the line that is not
    an id, or whose size is another one; UsageError where the temporary folder is full."""
    columns, count, size, ignored = None, 0, None, False
    try:
        with tempfile.TemporaryFile(prefix="flashsim-") as spool:
            for number, lines in _blocks(source):
                if columns is None:
                    columns = _Columns(source, lines[0])
                    number, lines = number + columns.has_header, lines[columns.has_header :]
                ids, sizes = columns.split(number, lines)
                spool.write(_numbers(source, number, ids, "page id").tobytes())
                count += len(ids)
                if sizes and not ignore_size:
                    values = _numbers(source, number, sizes, "size")
                    size = int(values[0]) if size is None else size
                    if size == 0 or (values != size).any():
                        bad = int(np.argmax((values != size) | (values == 0)))
                        raise source.error(
                            f"line {number + bad} has {values[bad]} bytes, the first {size}, and all pages are of one "
                            "size above 0: --ignore-size counts each object as 1 page"
                        )
                ignored |= bool(sizes) and ignore_size
            spool.flush()
            held = np.memmap(spool, np.int64, "r", shape=(count,)).view(np.ndarray) if count else np.zeros(0, np.int64)
    except OSError as error:
        raise UsageError(
            f"{source.path}: its ids do not fit {tempfile.gettempdir()}: {error.strerror} (errno {error.errno}); set "
            "TMPDIR to a folder with more room"
        ) from None
    return Accesses(held, size, ("sizes not looked at, each object counted as 1 page",) if ignored else ())


def _blocks(source: Source) -> Iterator[tuple[int, list[str]]]:
    """(number of the first line, lines) in steps; what is not ASCII becomes a sign that no number has."""
    source.file.seek(len(_BOM) if source.head.startswith(_BOM) else 0)
    number = 1
    while block := source.file.read(_STEP_BYTES):
        rest = b"" if block.endswith(b"\n") else source.file.readline(_LINE_BYTES_MAX)
        lines = (block + rest).decode("ascii", "replace").removesuffix("\n").split("\n")
        if len(rest) == _LINE_BYTES_MAX:
            raise source.error(
                f"line {number + len(lines) - 1} is over {_LINE_BYTES_MAX} bytes: no text; give another --trace-format"
            )
        yield number, lines
        number += len(lines)


class _Columns:
    """Where a line holds its id and its size, as the file's first line says."""

    def __init__(self, source: Source, first: str) -> None:
        self._source = source
        self._delimiter = next((sign for sign in ",;\t" if sign in first), None)
        cells = first.split(self._delimiter) if self._delimiter else [first]
        names = [cell.strip().strip('"').lower() for cell in cells]
        self._count = len(names)
        self._id = next((names.index(name) for name in ID_COLUMNS if name in names), None)
        self._size = next((names.index(name) for name in SIZE_COLUMNS if name in names), None)
        self.has_header = self._id is not None
        if not self.has_header and self._count > 1:
            raise source.error(
                f"line 1 has {self._count} columns, none named {', '.join(ID_COLUMNS)}: put a header line in front"
            )

    def split(self, number: int, lines: list[str]) -> tuple[list[str], list[str]]:
        """The ids and the sizes (none where there is no such column) of ``lines``, the first of which is ``number``."""
        if self._delimiter is None:
            return lines, []
        try:
            rows = list(csv.reader(lines, delimiter=self._delimiter))
        except csv.Error as error:
            raise self._source.error(f"lines {number} to {number + len(lines) - 1} are not CSV ({error})") from None
        if len(rows) != len(lines) or any(len(row) != self._count for row in rows):
            bad = next((at for at, row in enumerate(rows) if len(row) != self._count), len(rows) - 1)
            raise self._source.error(
                f"line {number + bad} has {number_of(len(rows[bad]), 'column')} or open quotes, the header "
                f"{self._count}: mend it"
            )
        return [row[self._id] for row in rows], [] if self._size is None else [row[self._size] for row in rows]


def _numbers(source: Source, number: int, cells: list[str], what: str) -> np.ndarray:
    """int64 of ``cells``, the first of which is of line ``number``. Raises DataError for the first that is none."""
    try:
        together = "".join(cells)
        if not ("_" in together or "+" in together or "-" in together):  # int() takes them
            return np.array(list(map(int, cells)), np.int64)
    except (ValueError, OverflowError):
        pass
    bad = next(at for at, cell in enumerate(cells) if not _NUMBER.fullmatch(cell) or int(cell) >= 2**63)
    shown = cells[bad].strip()
    shown = shown if len(shown) <= 40 else shown[:40] + "..."
    raise source.error(f"line {number + bad} has {shown!r} where a {what} from 0 to 2^63 - 1 belongs: mend it")
