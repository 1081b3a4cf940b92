"""What commands write over, and what they leave where they are cut short: nothing that is not theirs."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest


@pytest.mark.parametrize("command", ["sweep-cache", "trace"])
def test_nothing_else_is_overwritten(flashsim, tmp_path, command):
    """The JSON beside a token file and that of a trace would be lost to a result of the same name."""
    end = {"sweep-cache": "csv", "trace": "npy"}[command]
    assert flashsim("corpus", "synth", "-o", "made.bin", "--tokens", "3k")[0] == 0
    if command == "sweep-cache":
        assert flashsim("trace", "made.bin", "--params", "1M", "-o", "a.npy")[0] == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for source, output in (("made.bin", "made"), *([("a.npy", "a")] if command == "sweep-cache" else [])):
        code, out, err = flashsim(command, source, "-o", f"{output}.{end}")
        assert (code, out) == (2, "") and f"{output}.json is there already" in err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("command", [["sweep-cache", "--cache", "64KiB"], ["curve"], ["cold-start", "--window", "1k"]])
def test_an_input_is_never_an_output(flashsim, corpus_file, command):
    Path("tokens.csv").write_bytes(corpus_file.read_bytes())
    before = Path("tokens.csv").read_bytes()
    code, _, err = flashsim(*command, "tokens.csv", "--eot", "0", "--params", "1M", "-o", "tokens.csv")
    assert code == 2 and "is 1 of the files that are read" in err
    assert Path("tokens.csv").read_bytes() == before


def test_closed_output_is_no_fault(corpus_file, tmp_path):
    done = subprocess.run(f"{sys.executable} -m flashsim layouts >&- 2>&-", shell=True, cwd=tmp_path, check=False)
    assert done.returncode == 0


def test_a_terminated_run_leaves_no_half_made_file(tmp_path):
    code = "import sys; from flashsim.cli import main; sys.exit(main(sys.argv[1:]))"
    synth = [sys.executable, "-c", code, "corpus", "synth", "-o", "s.bin", "--tokens", "1B"]
    ran = subprocess.Popen(synth, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        while not list(tmp_path.iterdir()) and ran.poll() is None:
            time.sleep(0.05)
        ran.send_signal(signal.SIGTERM)
        _, err = ran.communicate(timeout=20)
    finally:
        ran.kill()
    assert ran.returncode == 130 and b"interrupted" in err
    assert not list(tmp_path.iterdir())
