"""flashsim sweep-cache, interrupted or killed: it keeps what it has, and goes on after it."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from flashsim.studies import cache_sweep
from flashsim.studies.cache_sweep import COLUMNS
from flashsim.studies.ledger import Ledger
from flashsim.units import number_of
from tests.cli.sweeps import SMALL


@pytest.mark.parametrize("old", [True, False])
def test_killed_half_way_it_leaves_what_it_has(flashsim, corpus_file, monkeypatch, tmp_path, old):
    if old:
        assert flashsim("sweep-cache", corpus_file, *SMALL, "--tokens", 1000, "-o", "x.csv")[0] == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    real = cache_sweep.run_cell

    def run_cell(cell, *arguments):
        if cell.layout.label != "flat-1M":
            raise KeyboardInterrupt
        return real(cell, *arguments)

    monkeypatch.setattr(cache_sweep, "run_cell", run_cell)
    code, out, err = flashsim("sweep-cache", corpus_file, *SMALL, "-o", "x.csv")
    assert (code, out) == (130, "") and err == (
        "flashsim: error: interrupted after 60,000 of 360,000 tokens; 2 rows are kept in x.csv.partial: the same "
        "command goes on after them\n"
    )
    table = pd.read_csv("x.csv.partial", skiprows=1)
    assert list(table.columns) == list(COLUMNS)
    assert table["label"].tolist() == ["flat-1M"] * 2 and set(table["tokens"]) == {60_000}
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.name != "x.csv.partial"} == before
    assert not list(tmp_path.glob(".*"))


def test_an_error_before_the_first_cell_leaves_the_old_files(flashsim, corpus_file, tmp_path):
    assert flashsim("sweep-cache", corpus_file, *SMALL, "--tokens", 1000, "-o", "x.csv")[0] == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert flashsim("sweep-cache", corpus_file, *SMALL, "--vocab-size", 300, "-o", "x.csv")[0] == 3
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_where_nothing_can_be_written_nothing_is_run(flashsim, corpus_file, monkeypatch):
    monkeypatch.setattr(cache_sweep, "run_cell", None)
    code, out, err = flashsim("sweep-cache", corpus_file, *SMALL, "-o", "/proc/x.csv")
    assert (code, out) == (2, "") and err.startswith("flashsim: error: cannot write /proc/x.csv")


def test_ctrl_c_ends_it_at_once(tmp_path):
    """A cell of 200 M tokens takes seconds; the interrupt does not wait for its end."""
    with open(tmp_path / "big.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<u2", "fortran_order": False, "shape": (2_000_000_000,)})
        file.truncate(file.tell() + 4_000_000_000)  # sparse
    script = (
        "import sys, flashsim.files as files, flashsim.trace as trace, flashsim.cli as cli; "
        "trace.sha256_of = lambda path: 'not read'; sys.exit(cli.main(sys.argv[1:]))"
    )
    arguments = ["sweep-cache", "big.npy", "--params", "1M", "--cache", "64KiB", "-o", "x.csv", "--jobs", "2"]
    ran = subprocess.Popen(
        [sys.executable, "-c", script, *arguments], cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert ran.stderr.readline().startswith(b"note: ")
        time.sleep(1.5)
        assert ran.poll() is None
        ran.send_signal(signal.SIGINT)
        out, err = ran.communicate(timeout=10)
    finally:
        ran.kill()
    assert ran.returncode == 130 and out == b""
    assert err.splitlines()[-1].startswith(b"flashsim: error: interrupted")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["big.npy"]


def test_a_killed_sweep_goes_on_and_ends_with_the_same_bytes(flashsim, corpus_file, interrupt_at):
    wishes = ["sweep-cache", corpus_file, *SMALL, "--policy", "lru,fifo"]
    assert flashsim(*wishes, "-o", "whole.csv")[0] == 0
    ran = interrupt_at(3)
    assert flashsim(*wishes, "-o", "part.csv")[0] == 130
    assert not Path("part.csv").exists()
    ended = ran[:2]
    ran.clear(), Path("killed").touch()
    code, _, err = flashsim(*wishes, "-o", "part.csv")
    assert code == 0 and "going on after 2 cells" in err
    assert ran and not set(ran) & set(ended)  # the two that had ended were not run again
    assert Path("part.csv").read_bytes() == Path("whole.csv").read_bytes()
    facts = json.loads(Path("part.json").read_text())
    assert facts["csv_sha256"] == hashlib.sha256(Path("part.csv").read_bytes()).hexdigest()
    assert not Path("part.csv.partial").exists()
    done = len(ran)
    assert flashsim(*wishes, "-o", "part.csv")[0] == 0 and len(ran) > done  # complete: asked again, it runs again


def test_other_wishes_start_anew(flashsim, corpus_file, interrupt_at):
    ran = interrupt_at(2)
    assert flashsim("sweep-cache", corpus_file, *SMALL, "-o", "x.csv")[0] == 130
    first = ran[0]
    ran.clear(), Path("killed").touch()
    code, _, err = flashsim("sweep-cache", corpus_file, *SMALL, "--warmup", 5, "-o", "x.csv")
    assert code == 0 and "going on" not in err and ran[0] == first
    assert set(pd.read_csv("x.csv")["warmup_tokens"]) == {5}


@pytest.mark.parametrize("step", range(8))
def test_killed_at_any_step_it_ends_with_the_same_bytes(flashsim, corpus_file, monkeypatch, tmp_path, step):
    """3 cells, so 3 partials; then the CSV, its JSON, the partial's end, and the figure. The old CSV is whole until the
    new one is."""
    wishes = ["sweep-cache", corpus_file, *SMALL, "--params", "1M"]
    assert flashsim(*wishes, "-o", "whole.csv")[0] == 0
    assert flashsim(*wishes, "--tokens", 1000, "-o", "x.csv")[0] == 0
    whole, old = Path("whole.csv").read_bytes(), Path("x.csv").read_bytes()
    steps, alive = [], {"replace": os.replace, "unlink": os.unlink}

    def dying(name):
        def call(path, *arguments, **more):
            if not Path(path).name.endswith(".tmp") or name == "replace":
                steps.append(Path(arguments[0] if arguments else path).name)
                if len(steps) > step:
                    raise KeyboardInterrupt
            return alive[name](path, *arguments, **more)

        return call

    for name in alive:
        monkeypatch.setattr(os, name, dying(name))
    assert flashsim(*wishes, "-o", "x.csv")[0] == 130
    assert steps[:-1] == [*["x.csv.partial"] * 3, "x.csv", "x.json", "x.csv.partial", "x.svg"][:step]
    assert Path("x.csv").read_bytes() == (old if step < 4 else whole)
    for name, real in alive.items():
        monkeypatch.setattr(os, name, real)
    code, _, err = flashsim(*wishes, "-o", "x.csv")
    assert code == 0 and (f"going on after {number_of(min(step, 3), 'cell')} of" in err) == (0 < step < 6)
    assert Path("x.csv").read_bytes() == whole
    facts = json.loads(Path("x.json").read_text())
    assert facts["csv_sha256"] == hashlib.sha256(whole).hexdigest() and facts["tokens"] is None
    assert not list(tmp_path.glob("*.partial"))


def test_a_partial_that_is_not_as_it_was_written_is_not_gone_on_with(flashsim, corpus_file, interrupt_at):
    interrupt_at(2)
    partial = Path("x.csv.partial")
    assert flashsim("sweep-cache", corpus_file, *SMALL, "-o", "x.csv")[0] == 130
    partial.write_text(partial.read_text().replace("60000", "60001"))
    Path("killed").touch()
    code, _, err = flashsim("sweep-cache", corpus_file, *SMALL, "-o", "x.csv")
    assert code == 0 and "going on" not in err
    assert "60001" not in Path("x.csv").read_text()


def test_a_partial_of_other_columns_is_not_gone_on_with(tmp_path):
    """Another version's rows may lack some."""
    Ledger(tmp_path / "x.csv", "test", ["a", "b"], ["a"], {}).keep([{"a": 1, "b": 2}])
    assert Ledger(tmp_path / "x.csv", "test", ["a", "b"], ["a"], {}).done == {("1",): [{"a": "1", "b": "2"}]}
    assert not Ledger(tmp_path / "x.csv", "test", ["a", "b", "c"], ["a"], {}).done


@pytest.mark.parametrize("content", [b"mine\n", b"\xff\xfe"])
def test_a_partial_of_somebody_else_stays(flashsim, corpus_file, content):
    Path("x.csv.partial").write_bytes(content)
    code, out, err = flashsim("sweep-cache", corpus_file, *SMALL, "-o", "x.csv")
    assert (code, out) == (2, "") and "x.csv.partial is 1 file of somebody else's" in err
    assert Path("x.csv.partial").read_bytes() == content and not Path("x.csv").exists()
    Path("x.csv.partial").write_bytes(b"")  # nothing to lose
    assert flashsim("sweep-cache", corpus_file, *SMALL, "-o", "x.csv")[0] == 0
