"""Workloads on the command line: sweep-cache, curve, trace and replay."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from flashsim.layouts import layout
from flashsim.tokens import open_tokens
from flashsim.workloads import Workload

COMMON = ["--eot", "0", "--layout", "engram", "--params", "20M"]


def test_a_sweep_of_workloads(flashsim, corpus_file):
    code, out, err = flashsim("sweep-cache", corpus_file, *COMMON, "--streams", "1,8", "--prefill", "512", "--cache",
                              "64KiB,1MiB", "-o", "s.csv")  # fmt: skip
    assert code == 0, err
    table = pd.read_csv("s.csv")
    assert list(dict.fromkeys(table["workload"])) == ["1 stream", "8 streams", "prefill 512"]
    assert (table["references"] >= table["reads"]).all() and (table["reads"] >= table["misses"]).all()
    chunks = table[table["workload"] == "prefill 512"].iloc[0]
    assert chunks["steps"] == -(-60_000 // 512) and chunks["reads"] < chunks["references"]
    assert "8 streams " in out and "each page is read once in a step (1 stream; 8 streams; prefill 512)" in out
    code, _plain, err = flashsim("sweep-cache", corpus_file, *COMMON, "--cache", "64KiB,1MiB", "-o", "p.csv")
    one, text = table[table["workload"] == "1 stream"], pd.read_csv("p.csv")
    assert set(text["workload"]) == {"plain"} and (text["references"] == text["reads"]).all()
    assert one["misses"].tolist() == text["misses"].tolist()  # what a token reads twice hits the second time
    assert "engram, 8 streams" in Path("s.svg").read_text()
    code, out, err = flashsim("figures", "fig4a", "s.csv")
    assert code == 0, err


@pytest.mark.filterwarnings("error::UserWarning")  # matplotlib's, where there is no room
def test_names_beside_a_level_leave_room_for_the_picture(flashsim, corpus_file):
    code, _, err = flashsim(
        "sweep-cache", corpus_file, *COMMON, "--params", "2B", "--streams", "1,2,3,4", "--cache", "64KiB", "-o", "s.csv"
    )
    assert code == 0, err
    assert "(4 lines)" in Path("s.svg").read_text()


def test_a_sweep_goes_on_where_it_was(flashsim, corpus_file, monkeypatch):
    wishes = [corpus_file, *COMMON, "--streams", "2,4", "--cache", "64KiB", "-o", "s.csv"]
    assert flashsim("sweep-cache", *wishes)[0] == 0
    whole = Path("s.csv").read_bytes()
    from flashsim.studies import cache_sweep

    real, calls = cache_sweep.run_cell, []

    def run(cell, *args):
        calls.append(cell.workload.label)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(cell, *args)

    monkeypatch.setattr(cache_sweep, "run_cell", run)
    assert flashsim("sweep-cache", *wishes)[0] == 130
    code, _, err = flashsim("sweep-cache", *wishes)
    assert code == 0 and "going on after 1 cell of" in err and Path("s.csv").read_bytes() == whole
    assert calls == ["2 streams", "4 streams", "4 streams"]


def test_a_curve_of_a_workload(flashsim, corpus_file):
    code, out, err = flashsim("curve", corpus_file, *COMMON, "--streams", "8", "--prefill", "256", "-o", "c.csv")
    assert code == 0, err
    assert "engram-20M 8 streams, 60,000 tokens:" in out and "engram-20M prefill 256, " in out
    assert set(pd.read_csv("c.csv")["workload"]) == {"8 streams", "prefill 256"}
    assert "8 streams" in Path("c.svg").read_text()


@pytest.mark.parametrize(
    ("options", "workload"),
    [
        (["--streams", "8"], Workload(8)),
        (["--prefill", "512"], Workload(0, 512)),
        (["--streams", "4", "--prefill", "128", "--prompt", "0.75"], Workload(4, 128, 0.75)),
        (["--streams", "2", "--draft", "3", "--accept", "0.6"], Workload(2, draft=3, accept=0.6)),
    ],
)
def test_a_trace_of_a_workload_is_replayed_step_by_step(flashsim, corpus_file, options, workload):
    code, out, err = flashsim("trace", corpus_file, *COMMON, *options, "-o", "t.npy")
    assert code == 0, err
    facts, steps, counts = json.loads(Path("t.json").read_text()), np.load("t.steps.npy"), np.load("t.counts.npy")
    assert facts["workload"]["label"] == workload.label and facts["workload"]["steps"] == len(steps)
    assert steps.sum() == len(counts) == facts["tokens"] == 60_000
    stream, made = open_tokens(corpus_file, eot=0), layout("engram", params="20M")
    found = [piece.ids.copy() for piece in workload.steps(stream, made)]
    assert np.load("t.npy").tolist() == np.concatenate(found).tolist()
    assert f"{workload.label}: {len(steps):,} steps" in out and ("for wrong drafts" in out) == bool(workload.draft)
    code, out, err = flashsim("sweep-cache", "t.npy", "--cache", "64KiB", "-o", "of.csv")
    assert code == 0, err
    stored = pd.read_csv("of.csv").iloc[0]
    code, out, err = flashsim("sweep-cache", corpus_file, *COMMON, *options, "--cache", "64KiB", "-o", "direct.csv")
    direct = pd.read_csv("direct.csv").iloc[0]
    same = ["workload", "tokens", "lookups", "steps", "references", "reads", "misses", "wasted_reads", "cold_misses"]
    assert stored[same].tolist() == direct[same].tolist()
    code, out, err = flashsim("sweep-cache", "t.npy", "--tokens", "40k", "--cache", "64KiB", "-o", "part.csv")
    assert code == 0, err
    part = pd.read_csv("part.csv").iloc[0]
    assert part[["lookups", "references", "wasted_reads"]].isna().all()
    assert part["steps"] == (np.cumsum(steps) <= 40_000).sum()
    code, out, err = flashsim("replay", "t.npy", "--engine", "null", "--mode", "decode,stream", "--in-flight", "4",
                              "--lookups", "60000", "--ramp", "0", "--repeat", "1", "-o", "r.csv")  # fmt: skip
    assert code == 0, err
    measured = pd.read_csv("r.csv").set_index("mode")
    assert measured["lookups"].between(60_000, 60_000 + 2 * steps.max()).all()
    per_token = facts["ids"] / facts["tokens"]
    assert measured["reads_per_lookup"].tolist() == pytest.approx([per_token, per_token], rel=0.01)


def test_a_plain_trace_takes_the_place_of_a_workload_s(flashsim, corpus_file):
    assert flashsim("trace", corpus_file, *COMMON, "--streams", "8", "-o", "t.npy")[0] == 0
    assert flashsim("trace", corpus_file, *COMMON, "-o", "t.npy")[0] == 0
    assert not Path("t.steps.npy").exists() and json.loads(Path("t.json").read_text())["workload"] is None


def test_steps_of_another_trace_are_refused(flashsim, corpus_file):
    assert flashsim("trace", corpus_file, *COMMON, "--streams", "8", "-o", "t.npy")[0] == 0
    np.save("t.steps.npy", np.array([3, 4], np.uint32))
    code, _out, err = flashsim("sweep-cache", "t.npy")
    assert code == 3 and "t.steps.npy: 2 uint32 steps that are not of 60000 tokens: trace it again" in err


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("sweep-cache", ["--streams", "0"]), ("sweep-cache", ["--streams", "8", "--prompt", "0.5", "--accept", "2"]),
        ("sweep-cache", ["--draft", "2"]), ("sweep-cache", ["--streams", "8,8"]), ("curve", ["--prefill", "9M"]),
        ("sweep-cache", ["--streams", "60000"]), ("trace", ["--streams", "1,8"]), ("trace", ["--streams", "59999"]),
        ("sweep-cache", ["--prefill", "512", "--draft", "2"]), ("curve", ["--prefill", "512", "--accept", "0.5"]),
        ("trace", ["--prefill", "0"]), ("trace", ["--prefill", "0", "--prompt", "0.5"]),
    ],
)  # fmt: skip
def test_refusals(flashsim, corpus_file, command, options):
    code, out, err = flashsim(
        command, corpus_file, *COMMON, *options, "-o", f"x.{'npy' if command == 'trace' else 'csv'}"
    )
    lines = [line for line in err.splitlines() if not line.startswith("note: ")]
    assert code == 2 and out == "" and len(lines) == 1 and lines[0].startswith("flashsim: error:"), err
    assert any(character.isdigit() for character in lines[0]) and not list(Path().glob("x.*"))


def test_a_refusal_names_what_was_given(flashsim, corpus_file):
    for options, message in (
        (["--prefill", "0"], "--prefill 0: take chunks of 1 to 1048576 tokens, or leave it out"),
        (["--prefill", "64", "--draft", "2"], "--draft 2, --accept 0: 0 streams decode: give --streams"),
    ):
        assert message in flashsim("sweep-cache", corpus_file, *COMMON, *options)[2]


@pytest.mark.parametrize(("eot", "streams", "way_out"), [
    ("0", 50_000, "take as many streams or fewer, or --eot none, without --documents, to cut"),
    ("0", 60_001, "take as many streams or fewer\n"),
    ("none", 60_001, "60000 documents of 1 token each at best: take as many streams or fewer\n"),
])  # fmt: skip
def test_what_works_where_there_are_fewer_documents_than_streams(flashsim, corpus_file, eot, streams, way_out):
    wishes = ["sweep-cache", corpus_file, *COMMON[2:], "--cache", "64KiB", "-o", "x.csv"]
    code, _, err = flashsim(*wishes, "--eot", eot, "--streams", streams)
    assert code == 2 and way_out in err
    cut = 60_000 if streams > 60_000 else streams
    assert flashsim(*wishes, "--eot", "none", "--streams", cut)[0] == 0


def test_rows_that_come_with_one_read_are_not_torn_apart(flashsim, corpus_file):
    code, _out, err = flashsim("sweep-cache", corpus_file, "--eot", "0", "--layout", "pagegram", "--unit", "row",
                              "--streams", "8")  # fmt: skip
    assert code == 2 and "8 rows come with one read" in err


def test_a_trace_takes_no_workload(flashsim, corpus_file):
    assert flashsim("trace", corpus_file, *COMMON, "-o", "t.npy")[0] == 0
    code, _, err = flashsim("sweep-cache", "t.npy", "--streams", "8")
    assert code == 2 and "t.npy: 1 trace has its order of tokens already" in err
