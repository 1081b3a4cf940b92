"""The state of an LRU cache on disk, so that a run can start warm: ``NAME.npy``, the page ids in order of recency,
oldest first, with ``NAME.json``. The last C of them are what a cache of C pages holds, so one file serves every size.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from tokenize import TokenError
from typing import Annotated, Any

import msgspec
import numpy as np

from flashsim.errors import DataError, UsageError
from flashsim.files import (
    NpyWriter,
    facts_path,
    parse_json,
    refuse_inputs,
    replacing,
    require_writable,
    same_name,
    sha256_of,
    write_facts,
)
from flashsim.studies.cells import Cell, names_of, unit_bytes
from flashsim.trace import Trace, layout_facts, source_facts
from flashsim.units import number_of

KIND = "cache state"  # in the JSON beside it
BY_ACCESS = "by last access, oldest first"


@dataclass(frozen=True)
class CacheState:
    """pages: uint32, distinct, oldest first, or in whatever order they are to be loaded. facts: the JSON beside them;
    "tokens" of it have made the state. sha256: of the file, which a run may replace by its own state."""

    path: Path
    pages: np.ndarray
    facts: dict[str, Any]
    sha256: str

    @property
    def described(self) -> dict[str, Any]:
        """What a result has to say of the state that it started from."""
        return {
            "path": str(self.path),
            "sha256": self.sha256,
            "pages": len(self.pages),
            "tokens": self.facts["tokens"],
            "source": self.facts["source"],
        }

    def last(self, size: int, cell: Cell) -> "CacheState":
        """The state of which only the last ``size`` bytes of pages are left, or all of it where it has no more: what
        a cache of that size holds. Raises UsageError where that is no page."""
        pages = size // unit_bytes(cell)
        if not pages:
            entry = f"{names_of(cell)['unit']} of {unit_bytes(cell)} B"
            raise UsageError(f"--warm {size} B holds no {entry}: take {unit_bytes(cell)}B or more, or no --warm-from")
        return replace(self, pages=self.pages[-pages:])

    def check(self, cell: Cell) -> None:
        """Raise UsageError where the state is of another layout than ``cell``."""
        facts, start = self.facts, f"--warm-from {self.path}: the state of"
        label, wanted = facts["label"], names_of(cell)["label"]
        if (label, facts["ids_below"]) != (wanted, cell.ids_below):
            raise UsageError(
                f"{start} {label}, ids below {facts['ids_below']}; this run is of {wanted}, ids below "
                f"{cell.ids_below}: give its own state, or run the state's layout alone"
            )
        held, asked = _hashed(facts["layout"]), _hashed(_layout(cell))
        if differing := [part for part, value in asked.items() if value != held[part]]:
            values = number_of(len(differing), "other value")
            raise UsageError(
                f"{start} another {label}, of {values} ({', '.join(differing)}): give this layout's own state"
            )

    def seen(self, cell: Cell) -> int:
        """Tokens of ``cell`` that the state has read before, as far as name, length and positions tell."""
        source, begin = _source(cell)
        past = self.facts["source"]
        if (past.get("name"), past.get("tokens")) != (source["name"], source.get("tokens")):
            return 0
        return max(0, min(begin + cell.tokens, self.facts["end"]) - max(begin, self.facts["begin"]))


def check_state_path(path: Path, cells: list[Cell], csv: Path) -> None:
    """Raise UsageError where :func:`save_state` could not write the one cell's state to ``path``, beside the result
    ``csv``."""
    if len(cells) != 1:
        raise UsageError(f"--save-state {path}: {len(cells)} states for 1 file: give one source and one layout")
    if path.suffix != ".npy":
        raise UsageError(f"--save-state {path}: a state is 1 .npy file and a .json beside it: let its name end in .npy")
    if same_name(path.with_suffix(".json"), csv.with_suffix(".json")):
        raise UsageError(f"--save-state {path}, -o {csv}: 1 .json for 2 results: give them other names")
    source = cells[0].source.path
    if source and same_name(path, source):
        raise UsageError(f"--save-state {path} is the source itself (1 name, 2 meanings): choose another name")
    refuse_inputs([path.with_suffix(".json")], [source])
    facts_path(path, KIND)
    require_writable(path)


def save_state(
    path: Path, cell: Cell, pages: np.ndarray, warm: CacheState | None = None, order: str = BY_ACCESS
) -> None:
    """Write the state after a run of ``cell``. pages: uint32, distinct, what LRU keeps longest last. warm: what the run
    started from. order: of the pages, in words."""
    source, begin = _source(cell)
    if not isinstance(cell.source, Trace):
        source = source_facts(cell.source)
    with replacing(path) as file:
        writer = NpyWriter(file, np.uint32)
        writer.write(pages)
        writer.close()
    facts = {
        "kind": KIND,
        "order": order,
        "label": names_of(cell)["label"],
        "ids_below": cell.ids_below,
        "pages": len(pages),
        "tokens": cell.tokens + (warm.facts["tokens"] if warm else 0),
        "begin": begin,
        "end": begin + cell.tokens,
        "source": source,
        "warm_from": warm and warm.described,
        "layout": _layout(cell),
    }
    write_facts(path, facts)


def load_state(path: str | Path, *cells: Cell) -> CacheState:
    """The state at ``path``, for runs of ``cells``. Raises DataError where it is no state, or UsageError where it is of
    another layout."""
    path = Path(path)
    facts = _facts(path)
    try:
        pages, digest = np.load(path, allow_pickle=False), sha256_of(path)
    except (OSError, ValueError, EOFError, TokenError) as error:
        reason = " ".join(str(error).split())
        raise DataError(f"{path}: 0 pages read ({reason}): save the state again") from None
    state = CacheState(path, pages, facts, digest)
    for cell in cells:
        state.check(cell)
    if getattr(pages, "dtype", None) != np.uint32 or pages.shape != (facts["pages"],):
        held = f"{pages.dtype} {pages.shape}" if isinstance(pages, np.ndarray) else "an archive"
        raise DataError(f"{path}: {held}, its JSON says {facts['pages']} uint32 pages: save the state again")
    if pages.max(initial=0) >= facts["ids_below"] or len(np.unique(pages)) < len(pages):
        raise DataError(f"{path}: {len(pages)} pages, not all different and below {facts['ids_below']}: save it again")
    return state


class _Spec(msgspec.Struct):
    rows: dict[str, Any]


class _LayoutFacts(msgspec.Struct):
    spec: _Spec


class _Facts(msgspec.Struct):
    """What a state's JSON has to hold for the state to be used; the rest is for people."""

    label: str
    ids_below: int
    pages: Annotated[int, msgspec.Meta(ge=0)]
    tokens: Annotated[int, msgspec.Meta(ge=0)]
    begin: int
    end: int
    source: dict[str, Any]
    layout: _LayoutFacts


def _facts(path: Path) -> dict[str, Any]:
    way_out = "give --warm-from a .npy that --save-state wrote"
    try:
        facts = parse_json(path.with_suffix(".json").read_bytes())
        if path.suffix != ".npy" or not isinstance(facts, dict) or facts.get("kind") != KIND:
            raise ValueError(f"its .json is not of a {KIND}")
        msgspec.convert(facts, _Facts)
    except (OSError, ValueError) as error:  # msgspec's errors are ValueErrors
        reason = error.strerror if isinstance(error, OSError) else error
        raise DataError(f"{path}: 0 pages of a cache state read ({reason}): {way_out}") from None
    return facts


def _layout(cell: Cell) -> dict[str, Any]:
    """The layout of a cell as JSON holds it."""
    facts = layout_facts(cell.layout) if cell.layout else cell.source.facts["layout"]
    return json.loads(json.dumps(facts))


def _hashed(layout: dict[str, Any]) -> dict[str, Any]:
    """What decides the ids of a layout, which two layout files of one label may still differ in."""
    spec = layout["spec"]
    rows = {key: value for key, value in spec["rows"].items() if key != "params"}  # 20B may be written 20000M
    return {
        "table_sizes": layout.get("table_sizes"),
        "rows": rows,
        **{part: spec.get(part) for part in ("ngrams", "hash", "placement")},
    }


def _source(cell: Cell) -> tuple[dict[str, Any], int]:
    """What is known of a cell's token file without reading it, and the position in it at which the cell begins."""
    if isinstance(cell.source, Trace):
        return cell.source.facts["source"], cell.source.facts.get("skip", 0) + cell.begin
    return {"name": cell.source.name, "tokens": len(cell.source)}, cell.begin
