"""Every command of docs/questions.md runs, in its order, on a small synthetic text and with sizes cut to it."""

import re
from pathlib import Path

import pytest
from console import commands_of, run_all

from flashsim.corpora.synth import synthesise
from flashsim.kernels.replay import engine_error

PAGE = (Path(__file__).parents[1] / "docs/questions.md").read_text()
CUTS = (
    (r"(--(?:tokens|skip|warmup) \d+)M", r"\1k"),
    (r"(--(?:window|lookups) \d+)(?:k|000)", r"\1"),
    (r"--size \S+", "--size 16MiB"),
    (r"--seconds \S+", "--seconds 0.02 --ramp 0 --repeat 1"),
)


@pytest.fixture
def asker(tmp_path, monkeypatch) -> Path:
    """A folder with tokens.bin, whose JSON says where documents end, and the files that the page makes of it."""
    ids, _ = synthesise(40_000, seed=5, documents_mean=100)
    ids.tofile(tmp_path / "tokens.bin")
    (tmp_path / "tokens.json").write_text('{"eot": 0, "vocabulary": 65536}')
    monkeypatch.chdir(tmp_path)
    (source,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(source, "questions.md", "exec"), {})
    return tmp_path


def test_commands_of_the_questions(asker, flashsim, monkeypatch):
    monkeypatch.chdir(asker)
    commands = commands_of(PAGE)
    for pattern, small in CUTS:
        assert any(re.search(pattern, command) for command in commands), pattern
        commands = [re.sub(pattern, small, command) for command in commands]
    if engine_error("io_uring"):  # a container may forbid it
        commands = [command.replace("--engine io_uring", "--engine threads") for command in commands]
    run_all(commands, flashsim)
    (golden,) = Path("traces").glob("golden.*.txt")
    rows = golden.read_text().split()
    assert (rows[0], rows[15]) == re.findall(r"ids a token: (\d+) first, (\d+) the 16th", PAGE)[0]


def test_each_of_the_twenty_has_a_command_and_what_follows():
    parts = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    asked = [part for part in parts if part[0].isdigit()]
    assert [int(part.split(".")[0]) for part in asked] == list(range(1, 21))
    for part in asked:
        heading = part.splitlines()[0]
        assert heading.endswith("?"), heading
        assert commands_of(part) and part.count("**So:**") == 1, heading
