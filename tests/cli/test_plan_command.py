"""``flashsim plan``: the screen, the files, refusals."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

GIVEN = ["--latency", "100us", "--iops", "200k"]
COMMON = ["--eot", "0", "--params", "20M", "--cache", "256KiB"]


def test_the_screen_is_that_of_the_files(flashsim, corpus_file):
    code, out, err = flashsim("plan", corpus_file, *COMMON, *GIVEN, "--layout", "engram", "--compute", "20ms",
                              "--layers", "1,5/30", "--streams", "4")  # fmt: skip
    assert code == 0, err
    lines = out.splitlines()
    assert len(lines) < 45 and max(map(len, lines)) <= 110
    table, facts = pd.read_csv("reports/plan.csv"), json.loads(Path("reports/plan.json").read_text())
    asked = table[(table["case"] == "as asked") & (table["workload"] == "1 stream")].iloc[0]
    (shown,) = (line.split() for line in lines if line.startswith("1 stream  "))
    assert shown[2:6] == [f"{asked[f'{name}_per_token']:.2f}" for name in ("references", "shared", "reads")] + [
        f"{asked['bytes_per_token'] / 1024:.1f}"
    ]
    assert shown[6] == f"{asked['tokens_per_s']:,.0f}"
    best = facts["loads"]["4 streams"]["binds"][0]["case"]
    assert f"({best}: " in out and facts["loads"]["1 stream"]["tokens_per_s"] == asked["tokens_per_s"]
    assert [one["layer"] for one in facts["slack"]] == [1, 5] and "layer 5: needed 3.33 ms" in out
    assert "15,000 tokens after 45,000 that warm the cache" in out and facts["counted_tokens"] == 15_000
    assert "pagegram, as many parameters" in out and facts["others"]["pagegram, as many parameters"]["label"]
    assert "100 us a read, at most 200,000 IOPS, as given" in out
    for made in ("plan.svg", "plan.png"):
        assert Path("reports", made).stat().st_size
    code, _again, err = flashsim("figures", "plan", "reports/plan.csv", "-o", "drawn")
    assert code == 0 and Path("drawn.svg").read_bytes() == Path("reports/plan.svg").read_bytes()


def test_json_is_all_that_is_printed(flashsim, corpus_file):
    code, out, err = flashsim("plan", corpus_file, *COMMON, "--device", "pcie4-consumer", "--json", "--against", "flat")
    assert code == 0, err
    made = json.loads(out)
    assert made["kind"] == "plan" and {row["case"] for row in made["rows"]} >= {"as asked", "flat, as many parameters"}
    assert len(made["rows"]) == len(pd.read_csv("reports/plan.csv"))


def test_what_is_uncertain_is_said(flashsim, corpus_file):
    wishes = ["--layout", "deepseek-v4.1", "--raw-ids", "--cache", "4GiB", "--device", "pcie4-consumer"]
    more = ["--eot", "0", "--compute", "30ms", "--tokens", "8k", "--streams", "2"]
    code, out, err = flashsim("plan", corpus_file, *wishes, *more)
    assert code == 0, err
    assert "each token waits for all of its reads" in out and "1 stream, 33.3 tokens/s without a drive" in out
    assert "UNCERTAIN, drive pcie4-consumer: Measured up to 4 in flight" in out and "UNCERTAIN, layout: " in out
    assert "--layers 1,14/OF" in err and "NOTE, the text before does not fill 4 GiB (" in out


def test_a_cache_that_holds_all_leaves_nothing_to_read(flashsim):
    np.tile(np.arange(50, dtype=np.uint16), 400).tofile("loop.bin")
    code, out, err = flashsim("plan", "loop.bin", "--layout", "flat", "--params", "20M", *GIVEN, "--streams", "2")
    assert code == 0, err
    assert "nothing is read" in out and "too little is read for anything of the drive to bind" in out


@pytest.mark.parametrize(
    "more",
    [
        [], ["--latency", "100us"], ["--device", "pcie4-consumer", "--iops", "5"], ["--device", "apple-ssd"],
        ["--device", "none-such"], ["--latency", "100", "--iops", "5k"], ["--latency", "1us", "--iops", "5k"],
        [*GIVEN, "--layers", "1,2"], [*GIVEN, "--layers", "9/9"], [*GIVEN, "--compute", "0ms"],
        [*GIVEN, "--in-flight", "5000"], [*GIVEN, "--streams", "0"], [*GIVEN, "--prefill", "0"],
        [*GIVEN, "--tokens", "3"], [*GIVEN, "--cache", "4KiB"], [*GIVEN, "-o", "plan.txt"],
        [*GIVEN, "--bandwidth", "fast"], [*GIVEN, "--streams", "60000"], [*GIVEN, "--against", "none-such"],
        [*GIVEN, "--against", "scone"], [*GIVEN, "--layers", "1/9"],
    ],
)  # fmt: skip
def test_refusals(flashsim, corpus_file, more):
    code, out, err = flashsim("plan", corpus_file, *COMMON, *more)
    lines = [line for line in err.splitlines() if not line.startswith("note: ")]
    assert code == 2 and out == "" and len(lines) == 1 and lines[0].startswith("flashsim: error:"), err
    assert any(character.isdigit() for character in lines[0])
    assert not Path("reports").exists()


def test_a_trace_is_refused(flashsim, corpus_file):
    assert flashsim("trace", corpus_file, "--layout", "flat", "--eot", "0", "-o", "t.npy")[0] == 0
    code, _out, err = flashsim("plan", "t.npy", *GIVEN)
    assert code == 2 and "t.npy is a trace already (1 JSON beside it says so): give the token file" in err


def test_flags_of_a_calibration_are_said(flashsim, corpus_file):
    points = "".join(
        f'[[points]]\nin_flight = {depth}\nreads_per_s = 9e3\nsource = "s"\nconfidence = "A"\nnote = "flags: {flags}"\n'
        for depth, flags in ((1, "cached, buffered"), (64, "cached"))
    )
    Path("my.toml").write_text(
        'name = "my"\ntitle = "mine"\n[sources.s]\ntext = "a run"\ndate = "today"\n[parameters]\n'
        f'w_us = {{ value = 90, source = "s", confidence = "C" }}\n{points}'
    )
    code, out, err = flashsim("plan", corpus_file, *COMMON, "--device", "my.toml")
    assert code == 0, err
    assert "UNCERTAIN, drive my: fitted to what is flagged itself, 2 of 2 points: cached, buffered" in out
