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


def _as_written(value: float, cell: str) -> str:
    """``value`` with as many digits as ``cell`` has."""
    decimals = len(cell.partition(".")[2])
    return f"{value:,.{decimals}f}"


def test_the_table_of_layouts_is_that_of_the_record():
    """Size and reads/token of every published table."""
    import pandas as pd

    table = pd.read_csv(ROOT / "reports/record/presets.csv")
    by_name = {
        "deepseek-v4.1, scales in RAM (5.7 GiB)": "deepseek-v4.1-ram-scales-raw-ids", "flat, 20 B": "flat-20B",
        "engram, 20 B": "engram-20B", "pagegram S=4, 20 B": "pagegram-S4-20B",
    }  # fmt: skip
    raw = {"engram-demo", "engram-27b", "deepseek-v4.1"}
    rows = re.findall(r"^\| ([^|]*?) \| ([\d.]+) GiB \| [^|]* B[^|]*\| (.*) \|$", README, re.MULTILINE)
    assert len(rows) == 14 == table["label"].nunique()
    for name, size, cells in rows:
        label = by_name.get(name, f"{name}-raw-ids" if name in raw else name)
        lines = table[table["label"] == label].sort_values("cache_bytes")
        reads = [lines["reads"].iloc[0] / lines["tokens"].iloc[0], *lines["reads_per_token"]]
        assert size == f"{lines['table_bytes'].iloc[0] / 2**30:.1f}", name
        assert cells.split(" | ") == [_as_written(*pair) for pair in zip(reads, cells.split(" | "), strict=True)], name


def test_the_replay_table_is_that_of_the_record():
    import pandas as pd

    table = pd.read_csv(ROOT / "reports/record/replay.csv")
    rates = table.groupby(["layout", "cache_bytes", "in_flight"])["lookups_per_s"].median()
    (text,) = re.findall(r"^\| lookups/s, reads in flight .*?\n\n", README, re.MULTILINE | re.DOTALL)
    depths, *rows = (
        [cell.strip() for cell in line.split("|")[1:-1]] for line in text.strip().splitlines() if "---" not in line
    )
    depths, cache, seen = [int(depth) for depth in depths[1:]], 0, []
    for name, *cells in rows:
        cache = 1 << 30 if name.startswith("with 1 GiB") else cache
        seen.append(name)
        for depth, cell in zip(depths, cells, strict=True):
            by_layout = {layout: rates[layout, cache, depth] for layout in ("flat", "engram", "pagegram")}
            name = name.removeprefix("with 1 GiB of cache: ").removesuffix(" S=4")
            value = by_layout["pagegram"] / by_layout["engram"] if "/" in name else by_layout[name]
            assert cell == _as_written(value, cell), (name, depth)
    assert len(seen) == 7


def test_the_policy_table_is_that_of_the_record():
    """reads/token and shares of the gap in the README, from the CSV that its figure is of."""
    import pandas as pd

    table = pd.read_csv(ROOT / "reports/record/policies.csv").set_index(["layout", "policy", "cache_bytes"])
    reads = table["reads_per_token"]
    rows = re.findall(r"^\| (lru|s3fifo|slru|arc|min)(?:: the bound)? \| (.*) \|$", README, re.MULTILINE)
    assert len(rows) == 5
    columns = [(layout, mib << 20) for layout in ("pagegram", "engram") for mib in (256, 1024, 4096)]
    for policy, cells in rows:
        for (layout, size), cell in zip(columns, cells.split(" | "), strict=True):
            assert cell == f"{reads[layout, policy, size]:.{len(cell.split('.')[1])}f}", (policy, layout, size)
    claimed = re.search(r"closes (\d+) % of the gap .*?MiB, (\d+) % at 1 GiB, and\s+(\d+) % with", README, re.DOTALL)
    for (layout, mib), share in zip(
        (("pagegram", 256), ("pagegram", 1024), ("engram", 1024)), claimed.groups(), strict=True
    ):
        lru, best, least = (reads[layout, policy, mib << 20] for policy in ("lru", "s3fifo", "min"))
        assert int(share) == round(100 * (lru - best) / (lru - least))
