"""flashsim collisions: its files and lines, and what it refuses."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from flashsim.studies import collisions as study
from flashsim.studies.collisions import COLUMNS

SMALL = ("--params", "1M", "--eot", 0, "--dtype", "uint16")


def test_files_and_lines(flashsim, corpus_file, tmp_path):
    code, out, err = flashsim("collisions", corpus_file, *SMALL, "--S", "1,15", "-o", "out/x.csv")
    assert (code, err) == (0, "wrote out/x.csv, out/x.json, out/x.svg, out/x.png\n")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["x.csv", "x.json", "x.png", "x.svg"]
    table = pd.read_csv("out/x.csv")
    assert list(table.columns) == list(COLUMNS)
    labels = ["flat-1M", "engram-1M", "pagegram-S1-1M", "pagegram-S15-1M"]
    assert table["label"].tolist() == [label for label in labels for _ in range(2)]
    assert table["order"].tolist() == [2, 3] * 4 and (table["tokens"] == 60_000).all()
    counts, *head = out.splitlines()[:3]
    lines = out.splitlines()[3:]
    ngrams = table["ngrams"]
    assert counts == f"corpus: {ngrams[0]:,} 2-grams, {ngrams[1]:,} 3-grams in 60,000 tokens"
    assert [line.split()[-1] for line in head] == ["neighbours,", "engram's"]
    assert max(map(len, out.splitlines())) <= 100
    for line, row in zip(lines, table.itertuples(), strict=True):
        assert line.startswith(f"{row.label} ") and f" {100 * row.foreign_share:.1f} " in line and "+-" not in line
        if row.layout == "flat":
            assert line.endswith(" -")
        else:
            assert f"{row.extra_heads:.4f} [{row.extra_heads_closed:.4f}]" in line
            assert line.endswith(f"{row.neighbours_relative:.4f} [{row.neighbours_relative_closed:.4f}]")
    facts = json.loads(Path("out/x.json").read_text())
    assert facts["kind"] == "collisions" and len(facts["layouts"]) == 4 and facts["sources"][0]["sha256"]
    for held, row in zip(facts["shared_heads"], table.itertuples(), strict=True):
        assert (held["label"], held["order"], held["exact"]) == (row.label, row.order, True)
        assert sum(held["collisions_by_shared_heads"]) == row.collisions


def test_drawn_pairs_are_told(flashsim, corpus_file, monkeypatch):
    monkeypatch.setattr(study, "COUNTED_MOST", 0)
    monkeypatch.setattr(study, "DRAWN", 1000)
    code, out, _ = flashsim("collisions", corpus_file, *SMALL, "--layout", "pagegram", "-o", "x.csv")
    assert code == 0
    for line, row in zip(out.splitlines()[3:], pd.read_csv("x.csv").itertuples(), strict=True):
        assert f"{100 * row.p_another:.3f} +- {100 * row.p_another_error:.1g} [86.652]" in line
        assert f"{row.extra_heads:.4f} +- {row.extra_heads_error:.1g} [1.7500]" in line and line.count("+-") == 3
    facts = json.loads(Path("x.json").read_text())
    assert not any(held["exact"] for held in facts["shared_heads"]) and facts["counted_most"] == 0
    assert all(sum(held["collisions_by_shared_heads"]) == 8000 for held in facts["shared_heads"])


def test_back_ends_and_sources(flashsim, corpus_file):
    """Two sources, orders that layouts of their own bring, the numba kernels: the same rows as alone."""
    assert flashsim("corpus", "synth", "-o", "made.bin", "--tokens", "20k")[0] == 0
    one = (*SMALL[:4], "--layout", "engram", "--orders", "1,3", "--skip", 500, "--tokens", "9k")
    code, out, _ = flashsim("collisions", corpus_file, "made.bin", *one, "-o", "x.csv")
    assert code == 0 and [line.split(":")[0] for line in out.splitlines() if ":" in line] == [
        "corpus",
        "made (SYNTHETIC)",
    ]
    assert flashsim("collisions", "made.bin", *one, "--backend", "numba", "-o", "y.csv")[0] == 0
    both, alone = pd.read_csv("x.csv"), pd.read_csv("y.csv")
    assert both["order"].tolist() == [1, 3, 1, 3] and both.tail(2).reset_index(drop=True).equals(alone)


def test_nothing_to_draw(flashsim, corpus_file, tmp_path):
    code, _, err = flashsim("collisions", corpus_file, *SMALL, "--layout", "flat", "-o", "x.csv")
    assert code == 0 and err == (
        "note: no figure: x.csv: 2 rows, in none of which n-grams collide in buckets: 0 S to draw against\n"
        "wrote x.csv, x.json\n"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.csv", "x.json"]
    code, _, err = flashsim("figures", "collisions", "x.csv")
    assert code == 3 and "2 rows, in none of which" in err


def test_the_size_that_nobody_asked_for_is_told(flashsim, corpus_file):
    run = ("collisions", corpus_file, *SMALL[2:], "--tokens", "2k", "-o", "x.csv", "--layout")
    assert "note: tables of 200M parameters: --params takes others\n" in flashsim(*run, "pagegram")[2]
    assert "200M" not in flashsim(*run, "pagegram", "--params", "1M")[2]
    assert "200M" not in flashsim(*run, "gemma-3n")[2]  # has the rows it was published with


@pytest.mark.parametrize(("arguments", "code", "message"), [
    (("-o", "x.txt"), 2, "end in .csv"), (("-o", "/proc/x.csv"), 2, "cannot write"), (("t.npy",), 2, "is a trace"),
    (("-o", "t.csv"), 2, "t.json is there already"), (("--params", "300B", "--layout", "engram"), 2, "over 4294967296"),
    (("--tokens", "2"), 2, "0 n-grams of order 3 in 2 tokens"), (("--tokens", "0"), 2, "1 token or more"),
    (("--skip", "60k"), 2, "skip fewer"), (("--layout", "flat,flat"), 2, "2 times"), (("--S", "0"), 2, "slots = 0"),
    (("--S", "4", "--layout", "flat"), 2, "none of the 1 layout has"), (("--params", "x"), 2, "not a count"),
    (("none.bin",), 3, "none.bin"), (("--vocab-size", "300"), 3, "outside the vocabulary of 300"),
])  # fmt: skip
def test_bad_input(flashsim, corpus_file, tmp_path, arguments, code, message):
    assert flashsim("trace", corpus_file, *SMALL, "-o", "t.npy")[0] == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    got, out, err = flashsim("collisions", corpus_file, *SMALL, "-o", "x.csv", *arguments)
    assert (got, out) == (code, "")
    (line,) = [line for line in err.splitlines() if not line.startswith("note")]
    assert line.startswith("flashsim: error: ") and re.search(message, line), line
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
