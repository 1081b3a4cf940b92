"""Every command and the Python of the README run, in the README's order, on small files of the names that it uses."""

import re
import shlex
import subprocess
from pathlib import Path

import numpy as np
import pytest
from console import commands_of, run_all

from flashsim.corpora.synth import synthesise

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
COMMANDS = commands_of(README)


@pytest.fixture
def newcomer(tmp_path, monkeypatch) -> Path:
    """A folder with tokens.bin, texts/ and a demo corpus that is there already."""
    ids, _ = synthesise(30_000, 65536, seed=3)
    (tmp_path / "corpora").mkdir()
    for name in ("tokens.bin", "corpora/demo.bin"):
        ids.astype(np.uint16).tofile(tmp_path / name)
    (tmp_path / "texts").mkdir()
    for number in range(30):
        words = " ".join(f"word{(number * 7 + step * step) % 97} and" for step in range(200))
        (tmp_path / "texts" / f"{number}.txt").write_text(f"Text {number}. {words}\n")
    (own,) = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    (tmp_path / "mine.toml").write_text(own)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_commands_of_the_readme(newcomer, flashsim, monkeypatch):
    monkeypatch.chdir(newcomer)
    assert len(COMMANDS) > 12
    makes = [command for command in COMMANDS if command.startswith("make ")]
    assert makes == ["make demo", "make test"]
    for command in makes:
        dry = subprocess.run([*shlex.split(command), "-n", "-C", ROOT], capture_output=True, text=True)
        assert dry.returncode == 0, dry.stderr
    run_all([command for command in COMMANDS if command not in makes], flashsim)
    assert flashsim("sweep-cache")[0] == 0  # what `make demo` calls
    for made in ("traces/tokens.pagegram-S4-20B.npy", "reports/cache_sweep.svg", "reports/warm.csv", "synth.bin",
                 "reports/replay.svg", "reports/model.svg"):  # fmt: skip
        assert Path(made).is_file(), made


def test_python_of_the_readme(newcomer, capsys):
    (source,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len([line for line in source.splitlines() if line.strip()]) <= 10
    exec(compile(source, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "3255210 2" in printed and "reads_per_token" in printed


def test_files_that_the_readme_names_exist():
    for path in re.findall(r"`((?:flashsim|csim|tests)/[\w./]*)`", README):
        assert (ROOT / path).exists(), path
    for image in re.findall(r"!\[.*?\]\((.*?)\)", README):
        assert (ROOT / image).is_file(), image
