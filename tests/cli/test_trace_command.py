"""flashsim trace: files with their default names, what is printed where, and the facts."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from flashsim.corpora.synth import write_synthetic
from flashsim.trace import Trace


def test_default_names(flashsim, corpus_file, tmp_path):
    code, out, err = flashsim("trace", corpus_file, "--eot", 0)
    assert code == 0
    names = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    stem = "traces/corpus.pagegram-S4-20B"
    assert names == [f"{stem}.counts.npy", f"{stem}.json", f"{stem}.npy"]
    trace = Trace.open(f"{stem}.npy")
    lines = out.splitlines()
    assert lines[0] == f"{stem}.npy: {len(trace.ids):,} page ids of 60,000 tokens"
    assert lines[1] == f"{len(trace.ids) / 60_000:.4f} pages/token before any cache; boundary: --eot 0"
    missing = trace.facts["missing_lookups"]
    assert lines[2] == f"lookups left out at document starts: {missing['2']:,} of order 2, {missing['3']:,} of order 3"
    documents = 1 + int(np.count_nonzero(np.fromfile(corpus_file, np.uint16)[:-1] == 0))
    assert missing["2"] == documents and len(trace.ids) == 2 * 60_000 - sum(missing.values())
    assert err == "note: corpus.bin: read as raw uint16, told by its content\n"
    assert trace.facts["source"]["boundary"] == "--eot 0" and trace.facts["run"]["argv"]


def test_options_reach_the_trace(flashsim, corpus_file):
    code, out, _ = flashsim(
        "trace", corpus_file, "--layout", "engram", "--params", "1M", "--heads", 2, "--orders", "1,2", "--tokens", "2k",
        "--skip", 500, "--unit", "row", "--backend", "numba", "--eot", "none", "--dtype", "uint16",
        "--vocab-size", 65536, "--seed", 3,
    )  # fmt: skip
    assert code == 0 and "8,000 row ids of 2,000 tokens" in out and "4.0000 rows/token" in out
    trace = Trace.open("traces/corpus.engram-1M-K2-n1+2-seed3-row.npy")
    facts = trace.facts
    assert (facts["unit"], facts["skip"], facts["tokens"], facts["backend"]) == ("row", 500, 2000, "numba")
    assert facts["reads_per_token"] == 4 and facts["layout"]["spec"]["hash"]["seed"] == 3


def test_a_stream_without_boundaries_is_noted(flashsim, corpus_file):
    code, out, err = flashsim("trace", corpus_file, "--params", "1M", "-o", "new/a.npy")
    assert code == 0 and "boundary: none" in out
    assert "0 document boundaries: n-grams cross them; --eot ID marks them" in err
    assert json.loads(Path("new/a.json").read_text())["missing_lookups"] == {"2": 1, "3": 2}


def test_a_synthetic_stream_says_so(flashsim):
    write_synthetic("made.bin", 3000, 65_536, 0, documents_mean=100, exponent=1.05, quoted=0.2)
    code, out, _ = flashsim("trace", "made.bin", "--params", "1M")
    assert code == 0 and "3,000 tokens (SYNTHETIC stream)" in out and "boundary: eot 0 (made.json)" in out
    assert Trace.open("traces/made.pagegram-S4-1M.npy").facts["source"]["synthetic"] is True


def test_a_second_run_writes_the_same_bytes(flashsim, corpus_file):
    arguments = ("trace", corpus_file, "--params", "1M", "--eot", 0, "-o", "a.npy")
    assert flashsim(*arguments)[0] == 0
    before = [Path(name).read_bytes() for name in ("a.npy", "a.counts.npy")]
    assert flashsim(*arguments)[0] == 0
    assert [Path(name).read_bytes() for name in ("a.npy", "a.counts.npy")] == before


def test_an_interrupt_is_one_line_and_130(flashsim, corpus_file, monkeypatch, tmp_path):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("flashsim.trace.source_facts", interrupted)
    code, out, err = flashsim("trace", corpus_file, "--params", "1M", "--dtype", "uint16", "--eot", 0)
    assert (code, out) == (130, "") and list(tmp_path.iterdir()) == []
    assert err == (
        "flashsim: error: interrupted after 60,000 of 60,000 tokens; nothing of it was written: run it again\n"
    )


def test_a_closed_pipe_is_no_error():
    """`flashsim layouts | head -0`: no traceback, and the code that the shell gives to SIGPIPE."""
    read, write = os.pipe()
    os.close(read)
    script = "import sys; from flashsim.cli import main; sys.exit(main(['layouts']))"
    ran = subprocess.run([sys.executable, "-c", script], stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (ran.returncode, ran.stderr) == (141, b"")


def test_the_document_starts_are_not_overwritten(flashsim, corpus_file):
    np.save("d.npy", np.array([0, 100, 5000]))
    before = Path("d.npy").read_bytes()
    code, _, err = flashsim("trace", corpus_file, "--documents", "d.npy", "--dtype", "uint16", "-o", "d.npy")
    assert code == 2 and "d.npy is 1 of the files that are read" in err
    assert Path("d.npy").read_bytes() == before and not Path("d.counts.npy").exists()


@pytest.mark.parametrize(("part", "held"), [("counts", "reads of each token"), ("steps", "tokens of each step")])
def test_what_lies_beside_a_trace_is_no_token_file(flashsim, corpus_file, part, held):
    trace = ("trace", corpus_file, "--params", "1M", "--eot", 0, "--tokens", "9k", "--prefill", 100, "-o", "t.npy")
    assert flashsim(*trace)[0] == 0
    for command in (("sweep-cache",), ("curve",), ("corpus", "info"), ("trace",), ("replay", "--engine", "null")):
        code, out, err = flashsim(*command, f"t.{part}.npy")
        assert (code, out) == (2, "") and len(err.splitlines()) == 1
        assert f"error: t.{part}.npy holds the {held} of t.npy, 0 ids: leave it out, or give t.npy" in err
    Path("t.json").unlink()
    assert flashsim("corpus", "info", f"t.{part}.npy", "--eot", "none")[0] == 0  # a name is no proof
