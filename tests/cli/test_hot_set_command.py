"""flashsim hot-set: its files and lines, the state that it saves, and what it refuses."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from flashsim.studies.hot_set import COLUMNS
from flashsim.units import format_bytes

COMMON = ("--params", "1M", "--eot", 0, "--dtype", "uint16")
ONE = (*COMMON, "--layout", "pagegram")
PERCENTS = (10, 25, 50, 75, 90, 95, 99)


@pytest.mark.parametrize("unit", ["page", "row"])
def test_files_and_lines(flashsim, corpus_file, tmp_path, unit):
    code, out, err = flashsim("hot-set", corpus_file, *COMMON, "--unit", unit, "-o", "out/x.csv")
    assert (code, err) == (0, "wrote out/x.csv, out/x.json, out/x.svg, out/x.png\n")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["x.csv", "x.json", "x.png", "x.svg"]
    table = pd.read_csv("out/x.csv", dtype={"orders": "str"})
    assert list(table.columns) == list(COLUMNS) and table["label"].nunique() == 3
    facts = json.loads(Path("out/x.json").read_text())
    assert (facts["kind"], facts["unit"], len(facts["layouts"])) == ("hot set", unit, 3)
    blocks = re.findall(r"^corpus .*\n(?:  .*\n)*", out, re.MULTILINE)
    assert "".join(blocks) == out and len(blocks) == 3
    for block, (label, rows) in zip(blocks, table.groupby("label", sort=False), strict=True):
        whole = rows[rows["orders"] == "2+3"]
        touched, share = whole["distinct_pages"].iloc[0], whole["table_share"].iloc[-1]
        reads = whole["reads"].iloc[0]
        assert block.startswith(
            f"corpus {label}, 60,000 tokens: {reads:,} reads of {touched:,} {unit}s, {share:.1%} of the table\n"
        )
        fewest = [whole[whole["read_share"] >= percent / 100].iloc[0] for percent in PERCENTS]
        lines = [line.split() for line in block.splitlines()]
        values = {
            f"the fewest {unit}s": " ".join(format_bytes(int(row["hottest_bytes"])) for row in fewest),
            f"of the {unit}s touched": " ".join(f"{row['touched_share']:.2%}" for row in fewest),
            "of the table": " ".join(f"{row['table_share']:.2%}" for row in fewest),
            "chosen by half 1": " ".join(f"{row['later_read_share']:.1%}" for row in fewest),
            "chosen by half 2": " ".join(f"{row['later_bound']:.1%}" for row in fewest),
        }
        for name, figures in values.items():
            (line, *_) = [" ".join(line) for line in lines if " ".join(line).startswith(name)]
            assert line.endswith(" " + figures), (line, figures)
        assert block.count("\n  order ") == 2


def test_what_it_saves_starts_a_run(flashsim, corpus_file):
    """The state's last pages are the most read ones; a run that starts from it holds them."""
    code, _, err = flashsim("hot-set", corpus_file, *ONE, "--tokens", "40k", "--save-state", "hot.npy", "-o", "h.csv")
    assert code == 0 and err.startswith("wrote hot.npy, h.csv")
    facts, pages = json.loads(Path("hot.json").read_text()), np.load("hot.npy")
    assert (facts["order"], facts["pages"], facts["tokens"]) == ("by reads, fewest first", len(pages), 40_000)
    assert flashsim("trace", corpus_file, *ONE, "--tokens", "40k", "-o", "t.npy")[0] == 0
    counts = np.bincount(np.load("t.npy"))
    assert (np.diff(counts[pages]) >= 0).all() and len(pages) == np.count_nonzero(counts)
    warm = ("--skip", "40k", "--warm-from", "hot.npy", "--window", "5k", "--cache", "64KiB", "-o", "w.csv")
    code, out, err = flashsim("cold-start", corpus_file, *ONE, *warm)
    assert code == 0 and "note" not in err and f"warm at the start: {len(pages):,} pages after 40,000 tokens" in out
    assert flashsim("hot-set", "t.npy", "--save-state", "same.npy", "-o", "s.csv")[0] == 0
    assert (np.load("same.npy") == pages).all()


def test_a_state_is_no_json_of_its_tokens(flashsim, corpus_file, tmp_path):
    """Else the token file would be read as a state from then on."""
    corpus = tmp_path / "mine.bin"
    corpus.hardlink_to(corpus_file)
    for option in (("--save-state", "mine.npy", "-o", "s.csv"), ("-o", "mine.csv")):
        code, _, err = flashsim("hot-set", "mine.bin", *ONE, *option)
        assert code == 2 and "mine.json belongs to another file, mine.bin" in err and "choose another name" in err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.bin"]


def test_a_name_that_is_taken_is_not_blamed_on_another_option(flashsim, corpus_file, tmp_path):
    (tmp_path / "taken.json").write_text("{}")
    for path in ("taken.npy", "/proc/x.npy"):
        code, _, err = flashsim("hot-set", corpus_file, *ONE, "--save-state", path)
        assert code == 2 and "choose another name" in err and "-o" not in err


@pytest.mark.parametrize(("arguments", "code", "message"), [
    (("--tokens", "1"), 2, "1 token has no 2 halves"), (("--tokens", "2"), 2, "1 of 2 tokens read nothing"),
    (("--unit", "bucket"), 2, "--unit"), (("-o", "x.txt"), 2, "end in .csv"),
    (("-o", "/proc/x.csv"), 2, "cannot write"),
    (("--save-state", "s.txt"), 2, "end in .npy"), (("--save-state", "x.npy"), 2, "1 .json for 2 results"),
    (("--save-state", "s.npy", "--layout", "flat"), 2, "2 states"), (("none.bin",), 3, "none.bin"),
    (("--save-state", "corpus.npy", "-o", "s.csv"), 2, "belongs to another file"),
])  # fmt: skip
def test_bad_input(flashsim, corpus_file, tmp_path, arguments, code, message):
    (tmp_path / "corpus.json").write_text('{"eot": 0}')
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    got, out, err = flashsim("hot-set", corpus_file, *ONE, "-o", "x.csv", *arguments)
    assert (got, out) == (code, "")
    (line,) = [line for line in err.splitlines() if not line.startswith("note")]
    assert line.startswith("flashsim: error: ") and re.search(message, line), line
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_what_takes_more_memory_than_is_free_is_refused_before(flashsim, corpus_file, monkeypatch, tmp_path):
    """The way out works."""
    (tmp_path / "meminfo").write_text("MemAvailable:  500 kB\n")
    monkeypatch.setattr("flashsim.studies.estimate._MEMORY", tmp_path / "meminfo")
    common = (corpus_file, "--eot", 0, "--layout", "pagegram", "--params", "100M", "--tokens", "2k", "-o", "x.csv")
    for command in (("hot-set",), ("sweep-cache", "--cache", "64KiB")):
        code, out, err = flashsim(*command, *common, "--unit", "row")
        assert (code, out) == (2, "") and "of memory are needed, 500 KiB are free: take --unit page" in err
        assert not (tmp_path / "x.csv").exists()
        code, _, err = flashsim(*command, *common, "--unit", "page")
        assert code == 0, err
        for path in tmp_path.glob("x.*"):
            path.unlink()
