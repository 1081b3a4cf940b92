"""An interrupt is one line that says what was done and what is kept, and exit code 130, whenever it comes."""

import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

READ = ("--eot", 0, "--dtype", "uint16")


def test_while_it_is_imported():
    script = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(name, *_):\n"
        "        if name == 'click':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted)\n"
        "from flashsim.__main__ import main\n"
        "sys.exit(main())\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (130, "")
    assert ran.stderr == "flashsim: error: interrupted before it began (0 files written): run it again\n"
    (script,) = entry_points(group="console_scripts", name="flashsim")
    assert script.value == "flashsim.__main__:main"


def test_where_nothing_is_counted(flashsim, corpus_file, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("flashsim.tokens.info.describe", interrupted)
    code, out, err = flashsim("corpus", "info", corpus_file, *READ)
    assert (code, out) == (130, "")
    assert re.fullmatch(r"flashsim: error: interrupted after \d+\.\d s; files finished .*: run it again\n", err)


@pytest.mark.parametrize("cells", [0, 1])
def test_curve_keeps_the_curves_that_ended(flashsim, corpus_file, monkeypatch, cells):
    from flashsim.studies import curve as study

    real, ran = study.curve, []

    def curve(cell, **more):
        if len(ran) == cells:
            raise KeyboardInterrupt
        ran.append(cell)
        return real(cell, **more)

    monkeypatch.setattr(study, "curve", curve)
    code, _, err = flashsim("curve", corpus_file, *READ, "--params", "1M", "-o", "x.csv")
    kept = "1 of 3 curves in x.csv" if cells else "nothing was written"
    assert code == 130 and Path("x.csv").exists() == bool(cells)
    assert err == (f"flashsim: error: interrupted after {cells * 60_000:,} of 180,000 tokens; {kept}: run it again\n")


@pytest.mark.parametrize(
    ("arguments", "work", "unit"),
    [
        (("export", "t.npy", "--to", "text"), "flashsim.interop.export_trace", "references"),
        (("sim", "t.npy"), "flashsim.studies.foreign.simulate", "references"),
        (("cold-start", "t.npy", "--window", "1k"), "flashsim.studies.cold_start.cold_start", "tokens"),
        (("collisions", "corpus.bin", *READ), "flashsim.studies.collisions.collisions", "heads"),
    ],
)
def test_it_says_how_much_was_done(flashsim, corpus_file, monkeypatch, tmp_path, arguments, work, unit):
    def interrupted(*given, progress=None, **_):
        (progress or given[-1])(5)
        raise KeyboardInterrupt

    (tmp_path / "corpus.bin").symlink_to(corpus_file)
    assert flashsim("trace", "corpus.bin", *READ, "--params", "1M", "-o", "t.npy")[0] == 0
    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr(work, interrupted)
    code, _, err = flashsim(*arguments)
    assert code == 130 and sorted(tmp_path.iterdir()) == before
    line = rf"flashsim: error: interrupted after 5 of [1-9][\d,]+ {unit}; nothing of it was written: run it again"
    assert re.fullmatch(line, err.splitlines()[-1])
