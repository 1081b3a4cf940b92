"""flashsim report: one page of a folder, the same bytes each time, and nothing lost where it cannot be made."""

import os
import shutil
from pathlib import Path

import pytest

SWEEP = ("sweep-cache", "--params", "1M", "--cache", "64KiB,1MiB", "--eot", 0, "-o", "study/x.csv")


@pytest.fixture
def study(flashsim, corpus_file):
    """The command line, in a folder with the results of a sweep in ``study``."""
    assert flashsim(SWEEP[0], corpus_file, *SWEEP[1:])[0] == 0
    return flashsim


def contents() -> dict:
    return {path: path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}


def test_the_same_bytes_each_time(study, tmp_path):
    assert study("report", "study") == (0, "report.html\n", "")
    first = Path("report.html").read_bytes()
    assert first.count(b"<svg") == 1 and b"cache sweep" in first and b"<title>flashsim report: study</title>" in first
    assert study("report", tmp_path / "study", "-o", "deep/er/page.html") == (0, "deep/er/page.html\n", "")
    assert study("report", "study/.", "-o", "study/page.html")[0] == 0
    assert Path("deep/er/page.html").read_bytes() == Path("study/page.html").read_bytes() == first
    assert study("report", "study")[0] == 0 and Path("report.html").read_bytes() == first


def test_what_is_left_out_is_said_and_the_rest_is_written(study):
    Path("study/bad.json").write_text("{")
    Path("study/bad.csv").write_text("a\n1\n")
    shutil.copy("study/x.csv", "study/alone.csv")
    code, out, err = study("report", "study")
    assert (code, out) == (0, "report.html\n") and len(err.splitlines()) == 2
    assert err.startswith("note: study: left out: alone.csv: 0 facts beside it")
    assert "\nnote: study: left out: bad.json: 0 facts read" in err
    assert b"2 files left out" in Path("report.html").read_bytes()


def test_an_output_that_is_read_is_refused(study):
    os.link("study/x.csv", "same.html")
    Path("link.html").symlink_to("study/x.json")
    for name in ("same.html", "link.html", "study/x.csv", "study/x.json", "study", "none.csv"):
        before = contents()
        code, out, err = study("report", "study", "-o", name)
        assert (code, out, len(err.splitlines())) == (2, "", 1) and "1 " in err
        assert contents() == before


def test_nothing_to_report_is_one_line_and_nothing_written(study):
    Path("empty").mkdir()
    shutil.copytree("study", "broken")
    Path("broken/x.json").write_text("{")
    for folder, notes in (("empty", 0), ("broken", 1), ("none", 0), ("study/x.csv", 0)):
        before = contents()
        code, out, err = study("report", folder)
        *lines, last = err.splitlines()
        assert (code, out, len(lines)) == (3, "", notes) and last.startswith(f"flashsim: error: {folder}: ")
        assert any(letter.isdigit() for letter in last) and "give the folder" in last and contents() == before
