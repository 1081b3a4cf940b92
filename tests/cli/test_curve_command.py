"""``flashsim curve``: answers, files, refusals."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from flashsim.units import format_bytes

COMMON = ["--eot", "0", "--layout", "pagegram,engram", "--params", "200M"]


def test_answers_agree_with_the_csv(flashsim, corpus_file):
    code, out, err = flashsim("curve", corpus_file, *COMMON, "--target", "1.5,0.001", "--all", "-o", "c.csv")
    assert code == 0, err
    table = pd.read_csv("c.csv")
    for label, lines in table.groupby("label"):
        enough = lines[lines["reads_per_token"] <= 1.5]["capacity_pages"].min()
        assert f"{label}, 60,000 tokens" in out and f"1.5 reads/token: {enough:,} pages" in out
    assert out.count("0.001 reads/token: out of reach") == 2 and out.count("no knee: ") == 2
    assert {"c.json", "c.svg", "c.png"} <= {path.name for path in Path().iterdir()}
    facts = json.loads(Path("c.json").read_text())
    assert len(facts["layouts"]) == 2 and facts["sources"][0]["sha256"]
    for told in facts["curves"]:
        lines = table[table["label"] == told["label"]].set_index("capacity_pages")["reads_per_token"]
        near, far = told["targets"]
        assert near["capacity_pages"] == lines[lines <= 1.5].index.min() == near["cache_bytes"] / 4096
        assert (far["reads_per_token"], far["cache_bytes"]) == (0.001, None)
        assert told["knee"] is None
        last = told["doublings"][-1]
        pages = last["cache_bytes"] // 4096
        assert last["saved_reads_per_token"] == pytest.approx(lines[pages // 2] - lines[pages])
        assert f"{last['saved_reads_per_token']:.3f} to {format_bytes(last['cache_bytes'])}\n" in out


def test_a_knee_is_told_with_what_doublings_save_before_and_after(flashsim):
    """200 laps over 500 tokens, and 60,000 that come once."""
    rng = np.random.default_rng(1)
    once = rng.permutation(np.arange(1000, 61_000))
    np.concatenate([np.tile(np.arange(500), 200), once]).astype(np.uint32).tofile("laps.bin")
    code, out, err = flashsim("curve", "laps.bin", "--layout", "flat", "--params", "20B", "--eot", "none", "--all")
    assert code == 0, err
    lines = pd.read_csv("reports/curve.csv").set_index("capacity_pages")["reads_per_token"]
    knee = json.loads(Path("reports/curve.json").read_text())["curves"][0]["knee"]
    pages = knee["capacity_pages"]
    assert 900 < pages < 1100 and knee["reads_per_token"] == lines[pages] and knee["cache_bytes"] == pages * 4096
    before = (lines[1] - lines[pages]) / np.log2(pages)
    after = (lines[pages] - lines[len(lines)]) / np.log2(len(lines) / pages)
    assert f"  knee: {lines[pages]:.3f} reads/token at {pages:,} pages = " in out
    assert f"; a doubling saves {before:.3f} on average up to it, {after:.3f} past it\n" in out


def test_sampled_says_so_and_states_its_error(flashsim, corpus_file):
    code, out, err = flashsim("curve", corpus_file, *COMMON, "--sample", "0.2", "-o", "s.csv")
    assert code == 0, err
    assert "0.2 of the pages" in out and "+-" in out
    table = pd.read_csv("s.csv")
    assert (table["reads_per_token_error"] >= 0).all()
    for told in json.loads(Path("s.json").read_text())["curves"]:
        (reach, _), lines = told["targets"], table[table["label"] == told["label"]]
        surely = lines["reads_per_token"] + lines["reads_per_token_error"] <= 1.0
        assert reach["capacity_pages"] == lines[surely]["capacity_pages"].min()
        assert f"at most {reach['capacity_pages']:,} pages" in out


@pytest.mark.parametrize(
    "more",
    [["--target", "nan"], ["--target", "-1"], ["--sample", "2"], ["--sample", "0.2", "--all"], ["-o", "c.txt"],
     ["--warmup", "60000"]],
)  # fmt: skip
def test_refusals(flashsim, corpus_file, more):
    code, out, err = flashsim("curve", corpus_file, *COMMON, *more)
    lines = [line for line in err.splitlines() if not line.startswith("note: ")]
    assert code == 2 and out == "" and len(lines) == 1 and lines[0].startswith("flashsim: error:")
    assert any(character.isdigit() for character in lines[0])
    assert not list(Path().glob("*.csv")) and not Path("reports").exists()


def test_where_nothing_is_read_curve_says_so(flashsim):
    np.zeros(5000, np.uint16).tofile("eot.bin")
    code, _, err = flashsim("curve", "eot.bin", "--eot", "0", "--dtype", "uint16", "--params", "1M")
    assert code == 2 and "none of the 5000 tokens reads anything" in err and not Path("reports").exists()
