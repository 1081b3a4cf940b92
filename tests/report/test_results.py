"""What in a folder is a result, what is left out and why, and what has to be said of a result at once."""

import json
import os
from pathlib import Path

import pandas as pd
import pytest

from flashsim.errors import DataError
from flashsim.files import sha256_of
from flashsim.report.doubts import doubts
from flashsim.report.page import page
from flashsim.report.results import read_folder
from tests.report.folders import RUN, put
from tests.report.test_svg import PLAIN


def test_results_of_every_kind(results):
    read = read_folder(results)
    kinds = {result.name: result.facts["kind"] for result in read.results}
    assert kinds == {
        "cold-start": "cold start", "collisions": "collisions", "curve": "curve", "policies": "cache sweep",
        "plan": "plan", "replay": "replay", "sampled": "curve", "sim": "simulation", "sweep": "cache sweep",
    }  # fmt: skip
    assert list(kinds) == sorted(kinds) and read.left_out == [] and read.name == results.name
    for result in read.results:
        assert (result.figure is None) == (result.name == "sim")
        assert len(result.table) == len(pd.read_csv(results / f"{result.name}.csv"))
        marks = {"sampled": ["SAMPLED"], "sweep": ["SYNTHETIC"], "plan": ["UNCERTAIN"], "replay": ["UNCERTAIN"]}.get(
            result.name, []
        )
        assert [doubt.mark for doubt in result.doubts] == marks


def test_a_result_needs_no_csv_or_no_figure(tmp_path):
    put(tmp_path, "plan", csv=None, svg=PLAIN)
    put(tmp_path, "rows.of.2")
    put(tmp_path, "nothing", csv=None)  # a JSON of flashsim's, but no result: a trace, a token file
    (tmp_path / "other.json").write_text("[1, 2]")
    (tmp_path / "alone.svg").write_text(PLAIN)
    put(tmp_path / "below", "not-seen")
    read = read_folder(tmp_path)
    assert [(one.name, one.table is None, one.figure is None) for one in read.results] == [
        ("plan", True, False), ("rows.of.2", False, True),
    ]  # fmt: skip
    assert read.left_out == []
    html = page(read)
    assert html.count("<svg") == 1 and "Written 2026-01-02T03:04:05Z by flashsim 9.9.9" in html
    assert "Command: <code>flashsim x</code>" in html


def spoil(folder: Path, name: str, **files: bytes | None) -> None:
    put(folder, name, svg=PLAIN)
    for ending, content in files.items():
        path = folder / f"{name}.{ending}"
        path.unlink()
        if content is not None:
            path.write_bytes(content)


def test_what_is_left_out_is_named(tmp_path):
    put(tmp_path, "good")
    spoil(tmp_path, "json", json=b'{"kind": "a')
    spoil(tmp_path, "deep", json=b"[" * 100_000)
    spoil(tmp_path, "kind", json=b'{"kind": 1, "run": {}}')
    spoil(tmp_path, "run", json=b'{"kind": "a", "run": 1}')
    spoil(tmp_path, "facts", json=None)
    spoil(tmp_path, "empty", csv=b"")
    spoil(tmp_path, "header", csv=b"a,b\n")
    spoil(tmp_path, "cut", csv=b"a,b\n1,2\n3,")
    spoil(tmp_path, "wide", csv=b"a,b\n1,2\n3,4,5\n")
    spoil(tmp_path, "wider", csv=b"a,b\n1,2,3\n")
    spoil(tmp_path, "binary", csv=bytes(range(256)))
    spoil(tmp_path, "drawn", svg=b"<svg")
    (tmp_path / "begun.csv.partial").write_text("# not the whole study yet\na\n1\n")
    os.mkfifo(tmp_path / "pipe.json")
    put(tmp_path, "poured")
    os.mkfifo(tmp_path / "poured.svg")
    (tmp_path / "folder.csv").mkdir()
    put(tmp_path, "folder", csv=None)
    read = read_folder(tmp_path)
    assert [result.name for result in read.results] == ["drawn", "good", "poured"] and read.results[0].figure is None
    left_out = dict(why.split(": ", 1) for why in read.left_out)
    assert len(left_out) == len(read.left_out)
    said = {
        "json.json": "0 facts read", "deep.json": "0 facts read", "kind.json": "0 facts of a result",
        "run.json": "0 facts of a result", "facts.csv": "0 facts beside it", "empty.csv": "0 rows read",
        "header.csv": "0 rows under the header", "cut.csv": "2 rows, the last of them cut", "wide.csv": "0 rows read",
        "wider.csv": "1 row with more fields than the header", "binary.csv": "0 rows read",
        "drawn.svg": "0 figures read", "poured.svg": "0 figures read", "pipe.json": "0 facts read",
        "begun.csv.partial": "1 study that has not ended", "folder.csv": "0 rows read",
    }  # fmt: skip
    assert {name: next((text for text in [said.get(name, "?")] if text in why), why)
            for name, why in left_out.items()} == said  # fmt: skip
    html = page(read)
    assert f"{len(said)} files left out" in html and all(f"<li>{name}: " in html for name in said)


def test_doubts_that_files_tell_of(tmp_path):
    put(tmp_path, "a", csv_sha256="0" * 64)
    put(tmp_path, "b", complete=False)
    (tmp_path / "b.csv.partial").write_text("x")
    put(tmp_path, "c", complete=True)
    put(tmp_path, "d", csv_sha256=sha256_of(tmp_path / "c.csv"))
    marks = {result.name: [doubt.mark for doubt in result.doubts] for result in read_folder(tmp_path).results}
    assert marks == {"a": ["CHANGED"], "b": ["OLDER", "INCOMPLETE"], "c": [], "d": []}
    html = page(read_folder(tmp_path))
    assert html.count(">CHANGED<") == html.count(">OLDER<") == 2  # in the list at the top, and where the result is


def told(facts, table=None):
    return [tuple(doubt) for doubt in doubts(facts, table)]


def test_synthetic_tokens():
    table = pd.DataFrame({"synthetic": [True, False, True]})
    assert [text[:14] for _, text in told({}, table)] == ["2 of 3 rows ar"]
    assert told({}, pd.DataFrame({"synthetic": [False]})) == told({"sources": [{"synthetic": False}]}) == []
    ((mark, text),) = told({"traces": [{"source": {"synthetic": True}}]})
    assert (mark, text[:8]) == ("SYNTHETIC", "a file t")


def test_layouts_that_are_not_sure_say_so_once():
    spec = {"name": "longcat", "ngrams": {}, "uncertain": ["the base", "the shards"]}
    facts = {"layout": {"spec": spec}, "others": [{"spec": spec}, {"spec": {"ngrams": {}, "uncertain": []}}]}
    assert told(facts) == [("UNCERTAIN", "longcat: the base"), ("UNCERTAIN", "longcat: the shards")]


def test_drives_that_are_not_sure_say_so_once():
    point = {"source": "measured", "reads_per_s": 9.0}
    flagged = [
        {**point, "note": "flags: drift, steal"},
        {**point, "note": "rated peak"},
        {**point, "note": "flags: drift"},
    ]
    mine = {"name": "mine", "title": "a drive", "parameters": {}, "points": [*flagged, point]}
    preset = {"name": "preset", "title": "", "parameters": {}, "note": "one line\nand another\n"}
    fitted = "drive mine: fitted to what is flagged itself, 2 of 4 points: drift, steal"
    assert told({"drive": mine}) == [("UNCERTAIN", fitted)]
    assert told({"drives": [preset, mine], "model": preset}) == [
        ("UNCERTAIN", "drive preset: one line and another"), ("UNCERTAIN", fitted),
    ]  # fmt: skip
    assert told({"drive": "mine", "drives": 4, "model": {"title": 1, "parameters": {}, "points": [1], "note": 2}}) == []


def test_flags_are_counted_and_the_worst_is_told():
    def point(*flags, source="measured"):
        return {"source": source, "flags": [dict(zip(("name", "value", "text"), flag, strict=True)) for flag in flags]}

    facts = {"points": [
        point(("folded", None, "modulo 9"), ("repeats", 0.2, "some"), ("fast", 30.0, "30 us")),
        point(("folded", None, "modulo 9"), ("repeats", 0.9, "much"), ("fast", 2.0, "2 us")),
        point(("folded", None, "modulo 9")), point(source="model"),
    ]}  # fmt: skip
    assert told(facts) == [
        ("FOLDED", "modulo 9"), ("REPEATS", "2 of 3 points: much"), ("FAST", "2 of 3 points: 2 us"),
    ]  # fmt: skip
    table = pd.DataFrame({"flags": ["virtual;fast=2", None, "virtual"]})  # of a JSON without its points
    assert told({}, table) == [("VIRTUAL", "2 of 3 points: virtual"), ("FAST", "1 of 3 points: fast=2")]
    assert told({"points": "?", "notes": 1}) == told({"points": [1, {"flags": [1]}]}) == []
    assert told({"notes": ["ids lie far apart"]}) == [("NOTE", "ids lie far apart")]


def test_facts_are_all_there(tmp_path):
    inputs = {"sources": [{"path": "x.bin", "sha256": "abc"}], "pin_from": {"name": "y", "sha256": "def"}}
    put(tmp_path, "a", **inputs, nested={"list": [1, None, "two"], "deep": [{"x": True}]}, long=list(range(999)))
    html = page(read_folder(tmp_path))
    for said in (
        "<li>x.bin <code>abc</code></li>",
        "<li>y <code>def</code></li>",
        "\n  list: 1, null, two\n",
        "  deep:\n    1:\n      x: true\n",
        "\nlong: 999 items, left out here",
        f"flashsim: {RUN['flashsim']}",
    ):
        assert said in html  # fmt: skip


def test_no_folder(tmp_path):
    (tmp_path / "file").touch()
    for name in ("file", "none"):
        with pytest.raises(DataError, match=r"\d .*give the folder"):
            read_folder(tmp_path / name)


def test_facts_are_read_once_more_as_they_were(study):
    before = {path.name: path.read_bytes() for path in study.iterdir()}
    first = page(read_folder(study))
    assert page(read_folder(study)) == first and json.dumps(first)
    assert {path.name: path.read_bytes() for path in study.iterdir()} == before
