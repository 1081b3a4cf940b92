"""The rows of a study as it runs, so that one that was killed goes on where it stopped.

They stand in ``NAME.csv.partial`` until the study has ended, so an earlier ``NAME.csv`` stays whole; then they become
``NAME.csv``, with the facts in the JSON beside it. The partial's first line is a seal, a digest of its rows and of
everything that decides them. Rows are kept as text, so a study in two parts ends with the same bytes as one in one.
"""

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from flashsim.errors import UsageError
from flashsim.files import require_writable, sha256_of, write_facts, write_text
from flashsim.units import number_of

Row = dict[str, Any]


def to_csv(rows: Iterable[Row], columns: Sequence[str]) -> str:
    """``rows`` as CSV: None and NaN are empty, floats have all the digits that tell them apart."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_text(row[column]) for column in columns] for row in rows)
    return text.getvalue()


def _text(value: Any) -> str:
    return "" if value is None or value != value else repr(value) if isinstance(value, float) else str(value)


class Ledger:
    """The CSV ``path`` of a study with these ``columns``.

    asked: JSON-able, everything that decides the rows; a run with other wishes starts anew. key: the columns that tell
    one cell's rows from another's. Raises UsageError where the partial cannot be written or is somebody else's.
    """

    def __init__(
        self, path: Path, kind: str, columns: Sequence[str], key: Sequence[str], asked: dict[str, Any]
    ) -> None:
        from importlib.metadata import version

        self._path, self._partial, self._columns = path, path.with_name(f"{path.name}.partial"), columns
        self._asked = _digest(json.dumps([version("flashsim"), *columns, asked], sort_keys=True))
        self._facts = {"kind": kind, "asked": self._asked} | asked
        self._kept = 0
        require_writable(self._partial)
        self.done: dict[tuple[str, ...], list[Row]] = {}  # rows of the cells that ended before, by their key
        if self._partial.is_file():
            seal, _, text = self._partial.read_bytes().decode(errors="replace").partition("\n")
            if seal + text and not seal.startswith(_SEAL):
                raise UsageError(f"{self._partial} is 1 file of somebody else's: move it, or choose another -o")
            for row in csv.DictReader(io.StringIO(text, newline="")) if seal == self._seal(text) else ():
                self.done.setdefault(tuple(row[column] for column in key), []).append(row)

    def keep(self, rows: list[Row]) -> None:
        """Replace the rows by these, which are whole cells in order."""
        self._kept, self._csv = len(rows), to_csv(rows, self._columns)
        write_text(self._partial, f"{self._seal(self._csv)}\n{self._csv}")

    def told(self) -> str:
        """What of a study that was interrupted is kept, and how to go on."""
        rows = self._kept or sum(map(len, self.done.values()))
        if not rows:
            return f"0 rows for {self._path} were done: run it again"
        kept = f"{number_of(rows, 'row', ',')} {'is' if rows == 1 else 'are'} kept"
        return f"{kept} in {self._partial}: the same command goes on after them"

    def close(self) -> None:
        """The study has ended: what was kept last is all of it."""
        write_text(self._path, self._csv)
        write_facts(self._path, self._facts | {"csv_sha256": sha256_of(self._path)})
        self._partial.unlink(missing_ok=True)  # last: until then a killed run can do all of this again

    def _seal(self, text: str) -> str:
        return _SEAL + _digest(self._asked + text)


_SEAL = "# not the whole study yet: the same command goes on from here; "


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()
