"""flashsim sweep-cache --warm-from: a sweep that starts from a saved cache state."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.sweeps import SMALL

ONE = (*SMALL, "--params", "1M", "--layout", "pagegram")


@pytest.fixture
def save_state(flashsim, corpus_file):
    """save_state(name, tokens) saves the state after so many tokens through pagegram at 1M."""

    def save(name, tokens):
        state = ("--params", "1M", "--layout", "pagegram", "--eot", 0, "--window", "5k", "--save-state", name)
        assert flashsim("cold-start", corpus_file, *state, "--tokens", tokens, "-o", "cold.csv")[0] == 0

    return save


def test_a_warm_sweep_goes_on_where_the_cold_start_ended(flashsim, corpus_file, save_state):
    save_state("s.npy", "40k")
    sweep = ("sweep-cache", corpus_file, *ONE, "--policy", "lru,fifo")
    assert flashsim(*sweep, "--warmup", "45k", "-o", "whole.csv")[0] == 0
    warm = ("--skip", "40k", "--warm-from", "s.npy", "--warmup", "5k")
    code, out, err = flashsim(*sweep, *warm, "-o", "warm.csv")
    pages = len(np.load("s.npy"))
    assert code == 0 and err == "wrote warm.csv, warm.json, warm.svg, warm.png\n"
    assert out.splitlines()[-2] == (
        f"tokens counted: corpus 15,000; lru, fifo; cache warm at the start: {pages:,} pages after 40,000 tokens; "
        "after 5,000 tokens of warm-up; fifo: the saved pages read once, oldest first, uncounted"
    )
    tables = [pd.read_csv(f"{name}.csv").set_index("policy").loc["lru"] for name in ("whole", "warm")]
    for column in ("misses", "cold_misses", "reads", "distinct_pages", "reads_per_token"):
        assert tables[0][column].tolist() == tables[1][column].tolist(), column
    assert set(tables[1]["warm_pages"]) == {pages}
    facts = json.loads(Path("warm.json").read_text())["warm_from"]
    assert (facts["path"], facts["pages"], facts["tokens"]) == ("s.npy", pages, 40_000)
    assert facts["sha256"] == hashlib.sha256(Path("s.npy").read_bytes()).hexdigest()
    assert facts["start"] == {
        "lru": "exactly the saved LRU state", "fifo": "the saved pages read once, oldest first, uncounted"
    }  # fmt: skip
    assert f"15,000 tokens; {pages:,} pages cached at the start" in Path("warm.svg").read_text()
    code, out, err = flashsim("sweep-cache", corpus_file, *ONE, "--skip", "39k", "--warm-from", "s.npy", "-o", "l.csv")
    assert code == 0 and err.startswith("note: s.npy has read 1,000 of these 21,000 tokens before\n")
    assert f"; lru; cache warm at the start: {pages:,} pages after 40,000 tokens\n" in out
    assert f"LRU page cache; {pages:,} pages cached at the start" in Path("l.svg").read_text()


def test_another_state_starts_anew(flashsim, corpus_file, save_state, interrupt_at):
    """The same pages in another order, all else the same: what had ended before is not taken over."""
    save_state("s.npy", "40k")
    warm = ("sweep-cache", corpus_file, *ONE, "--policy", "lru,fifo", "--skip", "40k", "--warm-from", "s.npy")
    ran = interrupt_at(2)
    assert flashsim(*warm, "-o", "x.csv")[0] == 130
    np.save("s.npy", np.load("s.npy")[::-1])
    ran.clear(), Path("killed").touch()
    code, _, err = flashsim(*warm, "-o", "x.csv")
    assert code == 0 and "going on" not in err and len(ran) == 2
    assert flashsim(*warm, "-o", "y.csv")[0] == 0
    assert Path("x.csv").read_bytes() == Path("y.csv").read_bytes()


@pytest.mark.parametrize(("arguments", "code", "message"), [
    (("--warm-from", "none.npy"), 3, "0 pages of a cache state read (No such file"),
    (("--warm-from", ""), 3, "0 pages"), (("--warm-from", "corpus.bin"), 3, "0 pages"),
    (("--warm-from", "half.npy"), 3, "half.npy: 0 pages read"), (("--warm-from", "cut.npy"), 3, "its JSON says"),
    (("--warm-from", "s.json"), 3, "0 pages"), (("--warm-from", "alone.npy"), 3, "0 pages"),
    (("--warm-from", "s.npy", "--params", "2M"), 2, "this run is of pagegram-S4-2M"),
    (("--warm-from", "s.npy", "--params", "1M,2M"), 2, "run the state's layout alone"),
    (("--warm-from", "s.npy", "--layout", "flat"), 2, "this run is of flat-1M"),
    (("--warm-from", "s.npy", "--seed", "3"), 2, "this run is of pagegram-S4-1M-seed3"),
    (("--warm-from", "s.npy", "--unit", "row"), 2, "this run is of pagegram-S4-1M-row"),
    (("--warm-from", "s.npy", "--warmup", "60k"), 2, "--warmup 60000 leaves nothing"),
    (("--warm-from", "s.npy", "-o", "s.csv"), 2, "s.json is there already"),
    (("--warm-from", "s.npy", "-o", "link.csv"), 2, "is 1 of the files that are read"),
])  # fmt: skip
def test_states_that_a_sweep_cannot_start_from(flashsim, corpus_file, save_state, tmp_path, arguments, code, message):
    save_state("s.npy", "40k")
    for name in ("half", "cut", "alone"):
        (tmp_path / f"{name}.npy").write_bytes(Path("s.npy").read_bytes())
        if name != "alone":
            (tmp_path / f"{name}.json").write_bytes(Path("s.json").read_bytes())
    Path("half.npy").write_bytes(Path("s.npy").read_bytes()[: Path("s.npy").stat().st_size // 2])
    np.save("cut.npy", np.load("s.npy")[:-1])
    Path("link.csv").symlink_to("s.npy")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    layouts = arguments if "--layout" in arguments else ("--layout", "pagegram", *arguments)
    command = ("sweep-cache", corpus_file, "--params", "1M", "--cache", "64KiB", "--eot", 0, "-o", "x.csv", *layouts)
    got, out, err = flashsim(*command)
    assert (got, out) == (code, "")
    (line,) = [line for line in err.splitlines() if not line.startswith("note: ")]
    assert line.startswith("flashsim: error: ") and message in line
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
