"""A result CSV that grows as a study runs, and lets one that was killed go on where it stopped.

The JSON beside the CSV says what was asked ("asked", a digest of everything that decides a row), which CSV it vouches
for ("csv_sha256") and whether all of it is there ("complete"). Rows are kept as text, so a study in two parts ends with
the same bytes as one in one.
"""

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from flashsim.files import facts_path, require_writable, sha256_of, write_facts, write_text

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
    one cell's rows from another's. Raises UsageError where ``path`` cannot be written or its JSON is another file's.
    """

    def __init__(
        self, path: Path, kind: str, columns: Sequence[str], key: Sequence[str], asked: dict[str, Any]
    ) -> None:
        from importlib.metadata import version

        self._path, self._columns, self._key = path, columns, key
        text = json.dumps([version("flashsim"), asked], sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()
        self._facts = {"kind": kind, "asked": digest} | asked
        facts = facts_path(path, kind)
        require_writable(path)
        self.done: dict[tuple[str, ...], list[Row]] = {}
        if facts.is_file() and path.is_file():
            held = json.loads(facts.read_bytes())
            ours = held.get("csv_sha256") == sha256_of(path)  # not of a run that was killed between the two files
            if held.get("asked") == digest and held.get("complete") is False and ours:
                self.done = self._read()

    def _read(self) -> dict[tuple[str, ...], list[Row]]:
        """Rows of the cells that ended, by their key."""
        with open(self._path, newline="") as file:
            reader = csv.DictReader(file)
            rows = list(reader) if reader.fieldnames == list(self._columns) else []
        done: dict[tuple[str, ...], list[Row]] = {}
        for row in rows:
            done.setdefault(tuple(row[column] for column in self._key), []).append(row)
        return done

    def keep(self, rows: list[Row]) -> None:
        """Replace the CSV by ``rows``, which are whole cells in order."""
        write_text(self._path, to_csv(rows, self._columns))
        self._vouch(complete=False)

    def close(self) -> None:
        """Say in the JSON that all of it is there."""
        self._vouch(complete=True)

    def _vouch(self, complete: bool) -> None:
        write_facts(self._path, self._facts | {"complete": complete, "csv_sha256": sha256_of(self._path)})
