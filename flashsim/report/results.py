"""The results in a folder: a JSON whose kind and run flashsim wrote, with the CSV, the figure, or both beside it."""

import os
from pathlib import Path
from typing import Any, NamedTuple

from flashsim.errors import DataError
from flashsim.figures.tables import read_rows
from flashsim.files import parse_json, sha256_of
from flashsim.report.doubts import Doubt, doubts
from flashsim.report.svg import Figure, read_figure
from flashsim.units import number_of


class Result(NamedTuple):
    """name: of its files, without ending. facts: its JSON. table: the DataFrame of its CSV. Of the last two, one may
    be None."""

    name: str
    facts: dict[str, Any]
    doubts: list[Doubt]
    table: Any
    figure: Figure | None


class Folder(NamedTuple):
    """name: of the folder. results: by name. left_out: what could not be read, and why. files: all that may be read."""

    name: str
    results: list[Result]
    left_out: list[str]
    files: list[Path]


_ENDINGS = (".csv", ".json", ".csv.partial")
_AGAIN = "make it again, or move it away"


def read_folder(path: Path) -> Folder:
    """The results in the folder ``path``, not in those below it. Raises DataError where there is no such folder."""
    if not path.is_dir():
        what = "1 file, not a folder" if path.exists() else "0 results, there is no such folder"
        raise DataError(f"{path}: {what}: give the folder of a study's .csv and .json, like reports")
    beside = {file.name for file in path.iterdir()}
    stems = {name.removesuffix(".partial").rpartition(".")[0] for name in beside if name.endswith(_ENDINGS)}
    names = sorted(stems - {""})
    results: list[Result] = []
    left_out: list[str] = []
    for name in names:
        try:
            if result := _read(path / name, beside, f"f{len(results) + 1}-", left_out):
                results.append(result)
        except DataError as error:
            left_out.append(_told(error, path))
    files = [path / f"{name}{ending}" for name in names for ending in (*_ENDINGS, ".svg")]
    return Folder(path.resolve().name, results, left_out, files)


def _told(error: DataError, folder: Path) -> str:
    """An error in one line, the same wherever the folder was called from."""
    return " ".join(str(error).removeprefix(f"{folder}/").split())


def _read(stem: Path, beside: set[str], prefix: str, left_out: list[str]) -> Result | None:
    """The result of this name; None where there is another thing of flashsim's or of somebody else's."""
    csv, json_path, svg = (stem.with_name(stem.name + ending) for ending in (".csv", ".json", ".svg"))
    partial = f"{csv.name}.partial" in beside
    if json_path.name not in beside:
        if partial and csv.name not in beside:
            raise DataError(f"{csv}.partial: 1 study that has not ended: call the same command again, which goes on")
        raise DataError(f"{csv}: 0 facts beside it ({json_path.name} is missing): {_AGAIN}")
    facts = _facts(json_path)
    if csv.name not in beside and (svg.name not in beside or not _is_result(facts)):
        return None
    if not _is_result(facts):
        raise DataError(f"{json_path}: 0 facts of a result (a kind and a run): {_AGAIN}")
    table = _table(csv) if csv.name in beside else None
    figure, found = None, list(doubts(facts, table))
    if partial:
        found.insert(0, Doubt("OLDER", "a later run of this study has not ended: these are the results before it"))
    if table is not None and "csv_sha256" in facts and facts["csv_sha256"] != sha256_of(csv):
        found.insert(0, Doubt("CHANGED", f"{csv.name} is not the file that was written by the run below"))
    if svg.name in beside:
        label = f"figure of {stem.name}, {facts['kind']}" + ("" if table is None else "; its numbers are in the table")
        try:
            figure = read_figure(svg, prefix, label)
        except DataError as error:
            left_out.append(_told(error, stem.parent))
    return Result(stem.name, facts, found, table, figure)


def _table(csv: Path):
    """The DataFrame in a CSV of 1 row or more that ends as it was written."""
    import pandas as pd

    table = read_rows(csv, _AGAIN)
    if not isinstance(table.index, pd.RangeIndex):  # what pandas makes of it
        raise DataError(f"{csv}: {number_of(len(table), 'row', ',')} with more fields than the header: {_AGAIN}")
    if table.empty:
        raise DataError(f"{csv}: 0 rows under the header: {_AGAIN}")
    with open(csv, "rb") as file:
        file.seek(-1, os.SEEK_END)
        if file.read() != b"\n":
            raise DataError(f"{csv}: {number_of(len(table), 'row', ',')}, the last of them cut: {_AGAIN}")
    return table


def _facts(path: Path) -> Any:
    try:
        if not path.is_file():
            raise ValueError("not a regular file")
        return parse_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: 0 facts read ({' '.join(str(error).split())}): {_AGAIN}") from None


def _is_result(facts: Any) -> bool:
    return isinstance(facts, dict) and isinstance(facts.get("kind"), str) and isinstance(facts.get("run"), dict)
