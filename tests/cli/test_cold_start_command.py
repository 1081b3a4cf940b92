"""flashsim cold-start: its files and lines, warm starts, and what it refuses."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from flashsim.studies.cold_start import COLUMNS
from flashsim.trace import Trace

SMALL = ("--params", "1M", "--cache", "64KiB,1MiB", "--window", "5k", "--eot", 0, "--dtype", "uint16")
ONE = (*SMALL, "--layout", "pagegram")


def test_files_and_lines(flashsim, corpus_file, tmp_path):
    code, out, err = flashsim("cold-start", corpus_file, *SMALL, "--within", 25, "-o", "out/x.csv")
    assert (code, err) == (0, "wrote out/x.csv, out/x.json, out/x.svg, out/x.png\n")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["x.csv", "x.json", "x.png", "x.svg"]
    table = pd.read_csv("out/x.csv")
    assert list(table.columns) == list(COLUMNS) and len(table) == 3 * 2 * 12
    head, *lines, last = out.splitlines()
    assert head.split("  ")[0] == "reads/token" and len(lines) == 6
    assert last == (
        "tokens: corpus 60,000; windows of 5,000; steady = within 25 % of the last quarter; cache empty at the start"
    )
    facts = json.loads(Path("out/x.json").read_text())
    assert facts["kind"] == "cold start" and facts["window_tokens"] == 5000 and facts["warm_from"] is None
    groups = table.groupby(["label", "cache_bytes"], sort=False)
    for line, verdict, ((label, cache), rows) in zip(lines, facts["verdicts"], groups, strict=True):
        assert line.split()[:2] == ["corpus", label] and (verdict["label"], verdict["cache_bytes"]) == (label, cache)
        assert f" {rows['reads_per_token'].iloc[0]:.3f} " in line
        assert verdict["last_quarter"] == pytest.approx(rows["reads_per_token"].tail(3).mean())
        assert ("last quarter" in line) == (verdict["steady"] is None)


def test_a_sweep_counts_the_same_misses(flashsim, corpus_file):
    assert flashsim("cold-start", corpus_file, *SMALL, "-o", "x.csv")[0] == 0
    caches = ("--cache", "64KiB,1MiB", "--params", "1M", "--eot", 0)
    assert flashsim("sweep-cache", corpus_file, *caches, "-o", "y.csv")[0] == 0
    windows, swept = pd.read_csv("x.csv"), pd.read_csv("y.csv")
    assert windows.groupby(["label", "cache_bytes"])["misses"].sum().tolist() == (
        swept.set_index(["label", "cache_bytes"])["misses"].sort_index().tolist()
    )


def test_a_warm_run_goes_on_where_the_saved_one_ended(flashsim, corpus_file):
    assert flashsim("cold-start", corpus_file, *ONE, "-o", "whole.csv")[0] == 0
    code, _, err = flashsim("cold-start", corpus_file, *ONE, "--tokens", "40k", "--save-state", "s.npy", "-o", "a.csv")
    assert code == 0 and err.startswith("wrote s.npy, a.csv")
    for backend in ("c", "numba"):
        tail = ("--skip", "40k", "--warm-from", "s.npy", "--backend", backend, "-o", "b.csv")
        code, out, err = flashsim("cold-start", corpus_file, *ONE, *tail)
        assert code == 0 and "note" not in err
        assert "cache warm at the start: " in out and " pages after 40,000 tokens" in out
        whole, warm = pd.read_csv("whole.csv"), pd.read_csv("b.csv")
        wanted = whole[whole["first_token"] >= 40_000]
        for column in ("first_token", "reads", "misses", "cold_misses"):
            assert warm[column].tolist() == wanted[column].tolist(), column
    facts = json.loads(Path("b.json").read_text())
    assert facts["warm_from"]["path"] == "s.npy" and facts["warm_from"]["tokens"] == 40_000


def test_a_state_that_knows_the_tokens_is_told(flashsim, corpus_file):
    assert flashsim("cold-start", corpus_file, *ONE, "--tokens", "40k", "--save-state", "s.npy")[0] == 0
    code, _, err = flashsim("cold-start", corpus_file, *ONE, "--skip", "30k", "--warm-from", "s.npy")
    assert code == 0 and "note: s.npy has read 10,000 of these 30,000 tokens before\n" in err


def test_a_cache_that_shrinks_and_grows_back(flashsim, corpus_file):
    """From 512 KiB to 64 KiB and back, in three runs: the reads of one cache that loses its least recent pages."""
    assert flashsim("trace", corpus_file, *ONE[:2], *ONE[6:], "-o", "t.npy")[0] == 0
    trace = Trace.open("t.npy")
    sizes, edges = (128, 16, 128), (0, 20_000, 40_000, 60_000)
    cache, wanted = {}, []  # a dict, least recent first
    for capacity, first, last in zip(sizes, edges, edges[1:], strict=False):
        wanted.append(0)
        for page in [None, *trace.ids[trace.reads_before(first) : trace.reads_before(last)].tolist()]:
            if page is not None:
                wanted[-1] += cache.pop(page, None) is None
                cache[page] = True
            while len(cache) > capacity:
                del cache[next(iter(cache))]
    runs = (
        ("--cache", "512KiB", "--tokens", "20k", "--save-state", "a.npy"),
        ("--cache", "64KiB", "--skip", "20k", "--tokens", "20k", "--warm-from", "a.npy", "--save-state", "b.npy"),
        ("--cache", "512KiB", "--skip", "40k", "--warm-from", "b.npy", "--warm", "64KiB"),
    )
    for number, (run, misses) in enumerate(zip(runs, wanted, strict=True)):
        code, out, err = flashsim("cold-start", corpus_file, *ONE, *run, "-o", f"{number}.csv")
        assert code == 0, err
        table = pd.read_csv(f"{number}.csv")
        assert table["misses"].sum() == misses
        loaded, saved = (0, 16, 16)[number], table["saved_reads"].sum()
        assert (f" {loaded:,} {saved:>11,}{f'= {saved / max(loaded, 1):.1%}':>8}" in out) == (number > 0)
    assert "cache warm at the start: 16 pages after 40,000 tokens" in out and 0 < saved <= 16
    (verdict,) = json.loads(Path("2.json").read_text())["verdicts"]
    assert (verdict["loaded_pages"], verdict["saved_reads"]) == (16, saved)
    swept = ("--skip", "40k", "--warm-from", "b.npy", "--warm", "64KiB", "--cache", "512KiB", "-o", "s.csv")
    few = [part for part in ONE if part not in ("--window", "5k")]
    assert flashsim("sweep-cache", corpus_file, *few, *swept)[0] == 0
    assert pd.read_csv("s.csv")["misses"].tolist() == [wanted[2]] and pd.read_csv("s.csv")["warm_pages"].tolist() == [
        16
    ]


def test_why_there_is_no_steady_state(flashsim):
    """With room for every page, what misses is first touches."""
    assert flashsim("corpus", "synth", "-o", "made.bin", "--tokens", "40k")[0] == 0
    code, out, _ = flashsim("cold-start", "made.bin", "--layout", "flat", "--cache", "4KiB,100GiB", "--window", "5k")
    _, small, large, _ = out.splitlines()
    assert code == 0 and "SYNTHETIC" in small and " never  " in large and large.endswith("100% still first touches")


@pytest.mark.parametrize(("arguments", "code", "message"), [
    (("--cache", "1KiB"), 2, "holds? no page of 4096 B"), (("--cache", ""), 2, "not a size"),
    (("--window", "0"), 2, "take 6 to 15000"), (("--window", "20k"), 2, "take 6 to 15000"),
    (("--window", "x"), 2, "not a count"), (("--within", "0"), 2, "--within"), (("--within", "nan"), 2, "--within"),
    (("--tokens", "3"), 2, "3 tokens"), (("-o", "x.txt"), 2, "end in .csv"), (("-o", "/proc/x.csv"), 2, "cannot write"),
    (("--save-state", "s.txt"), 2, "end in .npy"), (("--save-state", ""), 2, "end in .npy"),
    (("--save-state", "x.npy"), 2, "1 .json for 2 results"), (("--save-state", "/proc/s.npy"), 2, "cannot write"),
    (("--save-state", "s.npy", "--layout", "flat"), 2, "2 states"), (("--warm-from", "no.npy"), 3, "0 pages"),
    (("--warm-from", "corpus.bin"), 3, "0 pages"), (("--warm-from", ""), 3, "0 pages"),
    (("--warm-from", "w.npy", "--params", "2M"), 2, "pagegram-S4-1M.*pagegram-S4-2M"),
    (("--warm-from", "w.npy", "--layout", "flat"), 2, "pagegram-S4-1M.*flat-1M"), (("w.npy",), 3, "not tokens"),
    (("--warm", "1MiB"), 2, "1048576 B of what"), (("--warm", "1MiB/s", "--warm-from", "w.npy"), 2, "not a size"),
    (("--warm", "4095B", "--warm-from", "w.npy"), 2, "holds no page of 4096 B"),
    (("--warm-from", "w.npy", "-o", "w.csv"), 2, "w.json is there already"),
])  # fmt: skip
def test_bad_input(flashsim, corpus_file, tmp_path, arguments, code, message):
    state = ("--save-state", "w.npy", "-o", "first.csv")
    assert flashsim("cold-start", corpus_file, *ONE, *state)[0] == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    got, out, err = flashsim("cold-start", corpus_file, *ONE, "-o", "x.csv", *arguments)
    assert (got, out) == (code, "")
    (line,) = [line for line in err.splitlines() if not line.startswith("note")]
    assert line.startswith("flashsim: error: ") and re.search(message, line), line
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
