"""flashsim sweep-cache: the CSV, what stands beside it, what is printed."""

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from flashsim.layouts import layout
from flashsim.studies import cache_sweep
from flashsim.studies.cache_sweep import COLUMNS
from flashsim.tokens import open_tokens
from tests.cli.sweeps import SMALL


def test_csv_json_and_figures(flashsim, corpus_file, tmp_path):
    code, _, err = flashsim("sweep-cache", corpus_file, *SMALL, "-o", "out/x.csv")
    assert (code, err) == (0, "wrote out/x.csv, x.json, x.svg, x.png\n")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["x.csv", "x.json", "x.png", "x.svg"]
    table = pd.read_csv("out/x.csv")
    assert list(table.columns) == list(COLUMNS) and len(table) == 2 * 3 * 2
    labels = [f"{name}-{size}" for size in ("1M", "2M") for name in ("flat", "engram", "pagegram-S4")]
    assert table["label"].tolist() == [label for label in labels for _ in range(2)]
    assert set(table["tokens"]) == {60_000} and not table["synthetic"].any()
    layouts = [layout(name, params=size) for size in ("1M", "2M") for name in ("flat", "engram", "pagegram")]
    direct = cache_sweep.sweep_cache(open_tokens(corpus_file, eot=0), layouts, ["64KiB", "1MiB"])
    assert table["misses"].tolist() == direct["misses"].tolist()
    facts = json.loads(Path("out/x.json").read_text())
    assert facts["kind"] == "cache sweep" and facts["cache_bytes"] == [65_536, 1 << 20] and facts["backend"] == "c"
    assert [made["label"] for made in facts["layouts"]] == labels
    assert facts["sources"][0]["sha256"] == hashlib.sha256(corpus_file.read_bytes()).hexdigest()
    assert facts["sources"][0]["boundary"] == "--eot 0" and facts["run"]["numpy"] == np.__version__


def test_the_printed_table_is_the_csv(flashsim, corpus_file):
    code, out, _ = flashsim("sweep-cache", corpus_file, *SMALL, "--warmup", "10k", "--tokens", "50k", "-o", "x.csv")
    table = pd.read_csv("x.csv")
    head, *lines, last, boundary = out.splitlines()
    assert code == 0 and head.split() == ["reads/token", "no", "cache", "64", "KiB", "1", "MiB"]
    assert last == "tokens counted: corpus 40,000; lru; after 10,000 tokens of warm-up"
    assert boundary == "boundary: --eot 0"
    assert len(lines) == 6
    for line, (_, rows) in zip(lines, table.groupby("label", sort=False), strict=True):
        corpus, label, none, *figures = line.split()
        assert (corpus, label) == ("corpus", rows["label"].iloc[0])
        assert float(none) == pytest.approx(rows["reads"].iloc[0] / 40_000, abs=6e-4)
        assert [float(figure) for figure in figures] == pytest.approx(rows["reads_per_token"].tolist(), abs=6e-4)


def test_a_trace_stands_for_its_token_file(flashsim, corpus_file):
    assert flashsim("trace", corpus_file, "--params", "1M", "--eot", 0)[0] == 0
    trace = "traces/corpus.pagegram-S4-1M.npy"
    assert flashsim("sweep-cache", trace, "--cache", "64KiB,1MiB", "-o", "a.csv")[0] == 0
    assert flashsim("sweep-cache", corpus_file, *SMALL, "--params", "1M", "--layout", "pagegram", "-o", "b.csv")[0] == 0
    assert Path("a.csv").read_text() == Path("b.csv").read_text()
    assert json.loads(Path("a.json").read_text())["sources"][0]["trace"] == trace


def test_lists_multiply(flashsim, corpus_file):
    code, _, _ = flashsim(
        "sweep-cache", corpus_file, *SMALL, "--params", "1M", "--layout", "flat,pagegram", "--layout", "engram",
        "--S", "1,4", "--tokens", 1000, "--jobs", 2, "--backend", "numba", "-o", "x.csv",
    )  # fmt: skip
    table = pd.read_csv("x.csv")
    assert code == 0 and set(table["backend"]) == {"numba"}
    assert list(dict.fromkeys(table["label"])) == ["flat-1M", "pagegram-S1-1M", "pagegram-S4-1M", "engram-1M"]


def test_row_formats_multiply(flashsim, corpus_file):
    def rows(formats):
        code, _, err = flashsim(
            "sweep-cache", corpus_file, *SMALL, "--params", "1M", "--layout", "flat,pagegram", "--S", "1,4",
            "--tokens", 1000, "--row-format", formats, "-o", f"{formats}.csv",
        )  # fmt: skip
        assert code == 0, err
        return pd.read_csv(f"{formats}.csv")

    both = rows("nf4, q8_0")
    assert list(dict.fromkeys(both["label"])) == [
        "flat-1M", "flat-1M-q8_0", "pagegram-S1-1M", "pagegram-S4-1M", "pagegram-S1-1M-q8_0", "pagegram-S4-1M-q8_0",
    ]  # fmt: skip
    for one in ("nf4", "q8_0"):
        alone = rows(one)
        assert both[both["label"].isin(alone["label"])].reset_index(drop=True).equals(alone)
    for wrong, why in (("nf4,nf4", "comes 2 times"), ("nf4,", "'' is none of the 18"), ("nf4,nf5", "'nf5' is none")):
        code, _, err = flashsim("curve", corpus_file, "--params", "1M", "--row-format", wrong)
        assert code == 2 and why in err.splitlines()[-1]


def test_a_synthetic_stream_says_so(flashsim):
    assert flashsim("corpus", "synth", "-o", "made.bin", "--tokens", "3k")[0] == 0
    code, out, _ = flashsim("sweep-cache", "made.bin", "--params", "1M", "--cache", "64KiB", "-o", "x.csv")
    assert code == 0 and pd.read_csv("x.csv")["synthetic"].all()
    assert all(line.endswith(" SYNTHETIC") for line in out.splitlines()[1:-2])
    assert "(SYNTHETIC)" in Path("x.svg").read_text()


def test_a_file_name_that_is_not_utf8(flashsim, corpus_file, interrupt_at):
    """Its tokens are run, and it has the same name everywhere: a sweep that was interrupted knows it again."""
    name = os.fsdecode(b"caf\xe9.bin")
    Path(name).write_bytes(corpus_file.read_bytes())
    one = ("--params", "1M", "--layout", "flat,engram", "--cache", "64KiB", "--eot", "0", "--dtype", "uint16")
    ran = interrupt_at(2)
    assert flashsim("sweep-cache", name, *one, "-o", "x.csv")[0] == 130
    ran.clear(), Path("killed").touch()
    code, out, err = flashsim("sweep-cache", name, *one, "-o", "x.csv")
    assert code == 0 and ran == [("engram-1M", "lru")] and "going on after 1 cell of" in err
    assert r"caf\xe9 flat-1M " in out and r"caf\xe9, 60,000 tokens" in Path("x.svg").read_text()
    assert set(pd.read_csv("x.csv")["corpus"]) == {r"caf\xe9"}
    assert json.loads(Path("x.json").read_bytes())["sources"][0]["path"] == name
    assert flashsim("trace", name, "--params", "1M", "--eot", 0, "-o", "t.npy")[0] == 0
    assert flashsim("sweep-cache", "t.npy", "--cache", "64KiB", "-o", "y.csv")[0] == 0
    assert set(pd.read_csv("y.csv")["corpus"]) == {r"caf\xe9"}


def test_without_a_source_it_takes_the_demo_corpus(flashsim, corpus_file, monkeypatch):
    monkeypatch.setattr("flashsim.corpora.demo.demo_corpus", lambda: corpus_file)
    code, out, _ = flashsim("sweep-cache", "--tokens", 2000, "--params", "1M", "--cache", "64KiB")
    assert code == 0 and "corpus pagegram-S4-1M" in out
    assert len(pd.read_csv("reports/cache_sweep.csv")) == 3


def test_the_reports_table_and_caches_are_the_default(flashsim, corpus_file):
    code, _, _ = flashsim("sweep-cache", corpus_file, "--tokens", 1000, "--layout", "engram")
    table = pd.read_csv("reports/cache_sweep.csv")
    assert code == 0 and list(dict.fromkeys(table["params"])) == [3_200_000_000, 10**10, 2 * 10**10]
    assert table["cache_bytes"].tolist() == 3 * [2**26 << log for log in range(9)]


def test_what_a_long_sweep_takes_is_told_first(flashsim, corpus_file, monkeypatch):
    monkeypatch.setattr("flashsim.studies.estimate._NS_LRU", 1e5)
    code, _, err = flashsim("sweep-cache", corpus_file, *SMALL, "-o", "x.csv")
    assert code == 0
    assert err.startswith("6 cells, 2,400,000 references, 2 caches: about 1.")
    assert "of memory, 240 s or up to three times that" in err.splitlines()[0]


PLANAR = """
name = "planar"
ngrams = { orders = [2, 3], missing = "filler" }
vocabulary = { size = 65536 }
hash = { family = "xor-multiply", layers = [1] }
rows = { addressing = "heads", heads = 4, primes_from = 10_000, width = 256, format = "fp8-e8m0" }
placement = { rule = "planar" }
"""


def test_parts_in_ram_are_of_the_layouts_that_have_parts(flashsim, corpus_file, tmp_path):
    (tmp_path / "planar.toml").write_text(PLANAR)
    sweep = ("sweep-cache", corpus_file, *SMALL, "-o", "x.csv", "--resident", "scales", "--layout")
    code, _, err = flashsim(*sweep, "planar.toml,flat")
    assert code == 0, err
    assert set(pd.read_csv("x.csv")["label"]) == {"planar-ram-scales", "flat-1M", "flat-2M"}
    code, out, err = flashsim(*sweep, "engram,flat")
    assert (code, out) == (2, "") and "--resident: none of the 2 layouts takes it, 1 that does is enough: leave" in err
    code, _, err = flashsim(*sweep, "planar.toml,flat", "--placement", "packed")
    assert code == 2 and "--resident: none of the 2 layouts takes it" in err


def test_boundaries_of_several_sources_are_told_apart(flashsim, corpus_file):
    assert flashsim("corpus", "synth", "-o", "made.bin", "--tokens", "5k")[0] == 0
    assert flashsim("trace", corpus_file, "--params", "1M", "--eot", 0, "-o", "t.npy")[0] == 0
    code, out, _ = flashsim("sweep-cache", "made.bin", "t.npy", "--params", "1M", "--cache", "64KiB", "-o", "x.csv")
    assert code == 0 and out.splitlines()[-1] == "boundary: made eot 0 (made.json); corpus --eot 0"
