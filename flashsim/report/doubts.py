"""What a reader has to know of a result before its figures: what makes them doubtful."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from flashsim.device.spec import FLAGGED
from flashsim.studies.replay_sample import TOO_LOW
from flashsim.units import number_of


class Doubt(NamedTuple):
    """mark: one word in capitals. text: what it means here."""

    mark: str
    text: str


def doubts(facts: dict[str, Any], table) -> Iterator[Doubt]:
    """The doubts that ``facts``, a result's JSON, and ``table``, its CSV (or None), tell of."""
    if facts.get("complete") is False:
        yield Doubt("INCOMPLETE", "the run stopped before its end; what had ended by then is here")
    rows = 0 if table is None else len(table)
    synthetic = int((table["synthetic"].astype(str) == "True").sum()) if rows and "synthetic" in table else 0
    if synthetic or any(one.get("synthetic") is True for one in dicts_in(facts)):
        of_rows = f"{synthetic:,} of {number_of(rows, 'row', ',')} {'is' if rows == 1 else 'are'}"
        what = of_rows if synthetic else "a file that was read is"
        yield Doubt("SYNTHETIC", f"{what} of tokens drawn at random, not of text")
    if isinstance(share := facts.get("sample"), float):
        yield Doubt("SAMPLED", f"{share:g} of the pages only, each figure with an error")
    read = [one for one in dicts_in(facts) if "ngrams" in one or "starts_sha256" in one]  # layouts and token files
    for text in dict.fromkeys(f"{one.get('name')}: {doubt}" for one in read for doubt in _list(one, "uncertain")):
        yield Doubt("UNCERTAIN", text)
    yield from of_drives(facts)
    for note in _list(facts, "notes"):
        yield Doubt("NOTE", str(note))
    yield from _flags(facts, table)


def of_drives(facts: dict[str, Any]) -> Iterator[Doubt]:
    """What the drives that were modelled say of themselves, and the flags of the points that they were fitted to."""
    found = []
    for drive in (one for one in dicts_in(facts) if isinstance(one.get("parameters"), dict) and "title" in one):
        name = f"drive {drive.get('name')}"
        if isinstance(note := drive.get("note"), str):
            found.append(f"{name}: {' '.join(note.split())}")
        points = [point for point in _list(drive, "points") if isinstance(point, dict)]
        notes = [str(point.get("note")) for point in points]
        flags = [note.removeprefix(FLAGGED).split(", ") for note in notes if note.startswith(FLAGGED)]
        if flags:
            names = ", ".join(dict.fromkeys(flag for of_point in flags for flag in of_point))
            counts = f"{len(flags):,} of {number_of(len(points), 'point', ',')}"
            found.append(f"{name}: fitted to what is flagged itself, {counts}: {names}")
    for text in dict.fromkeys(found):
        yield Doubt("UNCERTAIN", text)


def _flags(facts: dict[str, Any], table) -> Iterator[Doubt]:
    """Each flag of a replay: at how many points, and what the worst of them said."""
    found: dict[str, list[tuple[float, str]]] = {}
    points = [point for point in _list(facts, "points") if isinstance(point, dict) and point.get("source") != "model"]
    for flag in (flag for point in points for flag in _list(point, "flags") if isinstance(flag, dict)):
        value = flag["value"] if isinstance(flag.get("value"), int | float) else 0
        worse = abs(value) * (-1 if flag.get("name") in TOO_LOW else 1)
        found.setdefault(str(flag.get("name")), []).append((worse, str(flag.get("text"))))
    if not found and table is not None and "flags" in table:  # an older JSON: names alone
        for flag in (flag for flags in table["flags"].dropna() for flag in str(flags).split(";")):
            found.setdefault(flag.partition("=")[0], []).append((0, flag))
    for name, texts in found.items():
        all_of = len(points) or len(table)
        some = f"{len(texts):,} of {all_of:,} points: " if len(texts) < all_of else ""
        yield Doubt(name.upper(), some + max(texts)[1])


def dicts_in(facts: Any) -> Iterator[dict[str, Any]]:
    """Every dict in a JSON value, itself included."""
    if isinstance(facts, dict):
        yield facts
        facts = list(facts.values())
    for value in facts if isinstance(facts, list | tuple) else ():
        yield from dicts_in(value)


def _list(facts: dict[str, Any], name: str) -> list | tuple:
    return facts[name] if isinstance(facts.get(name), list | tuple) else []
