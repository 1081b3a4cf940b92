"""flashsim export, trace --export and sim: names, what is printed and noted, and every refusal in one line."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from flashsim.cache.lru import lru_misses
from flashsim.interop import READERS, oracle_general, read_trace
from flashsim.trace import Trace

STEM = "traces/corpus.pagegram-S4-1M"


@pytest.fixture
def traced(flashsim, corpus_file):
    """The command line in a folder with a trace, written as libCacheSim's too."""
    code, out, _ = flashsim("trace", corpus_file, "--params", "1M", "--eot", 0, "--export", "oracleGeneral.bin.zst",
                            "--export", "fio", "--tokens", "20k")  # fmt: skip
    assert code == 0
    references = len(Trace.open(f"{STEM}.npy").ids)
    for line, name in zip(out.splitlines()[-2:], ("oracleGeneral.bin.zst", "iolog"), strict=True):
        size = Path(f"{STEM}.{name}").stat().st_size
        assert line == f"{STEM}.{name}: {references:,} references, {size:,} bytes"
    return flashsim


def test_export(traced):
    ids = np.load(f"{STEM}.npy")
    assert (read_trace(f"{STEM}.oracleGeneral.bin.zst").ids - np.uint64(1)).tolist() == ids.tolist()
    assert Path(f"{STEM}.iolog").read_text().splitlines()[3] == f"0 target read {4096 * int(ids[0])} 4096"
    for arguments, path in (
        (("--to", "text"), f"{STEM}.txt"),
        (("--to", "oracleGeneral.zst"), f"{STEM}.oracleGeneral.zst"),
        (("--to", "text", "-o", "new/a.zst"), "new/a.zst"),
    ):
        code, out, err = traced("export", f"{STEM}.npy", *arguments)
        assert (code, err) == (0, "") and out.startswith(f"{path}: {len(ids):,} references, ")
        assert len(read_trace(path).ids) == len(ids)
    assert traced("export", f"{STEM}.npy", "--to", "fio", "-o", "f", "--target", "nvme")[0] == 0
    assert Path("f").read_text().splitlines()[1] == "0 nvme add"


def test_sim_prints_what_it_writes(traced):
    trace = f"{STEM}.oracleGeneral.bin.zst"
    code, out, err = traced("sim", trace, "--capacity", "10,100", "--cache", "64KiB", "--policy", "lru,min")
    assert (code, err) == (0, "wrote reports/sim.csv, sim.json\n")
    table, ids = pd.read_csv("reports/sim.csv"), np.load(f"{STEM}.npy")
    assert table["capacity_pages"].tolist() == [10, 16, 100] * 2 and set(table["format"]) == {"oracleGeneral"}
    assert table["misses"].tolist()[:3] == lru_misses(ids, [10, 16, 100]).tolist()
    assert (table["misses"][3:].to_numpy() <= table["misses"][:3].to_numpy()).all()
    assert (table["cache_bytes"] == table["capacity_pages"] * 4096).all()
    head, columns, *lines = out.splitlines()
    distinct = len(np.unique(ids))
    assert head == f"{Path(trace).name}: oracleGeneral, {len(ids):,} references to {distinct:,} pages of 4 KiB"
    assert columns.split() == ["capacity", "cache", "lru", "ratio", "min", "ratio"]
    for line, lru, best in zip(lines, table[:3].itertuples(), table[3:].itertuples(), strict=True):
        capacity, _, _, *figures = line.split()
        assert capacity == str(lru.capacity_pages)
        assert figures == [f"{lru.misses:,}", f"{lru.miss_ratio:.4f}", f"{best.misses:,}", f"{best.miss_ratio:.4f}"]
    facts = json.loads(Path("reports/sim.json").read_text())
    assert (facts["kind"], facts["renumbered"], facts["object_bytes"]) == ("simulation", False, 1)
    assert len(facts["sha256"]) == 64 and facts["run"]["argv"]


def test_the_same_misses_whatever_the_format(traced):
    """Page ids as they are, plus one, and of 2^40 apart; our own trace too, which is told of sweep-cache."""
    ids = np.load(f"{STEM}.npy").astype(np.uint64)
    Path("apart.csv").write_text("op,page\n" + "".join(f"r,{page << 40}\n" for page in ids.tolist()))
    np.save("plain.npy", ids)
    tables, notes = [], []
    for name in ("apart.csv", "plain.npy", f"{STEM}.npy", f"{STEM}.oracleGeneral.bin.zst"):
        code, _, err = traced("sim", name, "-o", "a.csv")
        assert code == 0
        notes.append([line for line in err.splitlines() if line.startswith("note: ")])
        tables.append(pd.read_csv("a.csv")[["capacity_pages", "misses", "distinct_pages", "page_bytes"]])
    assert all(table.equals(tables[0]) for table in tables) and len(tables[0]) > 5
    assert [len(lines) for lines in notes] == [1, 0, 1, 0]
    assert "lie far apart: numbered 0 to" in notes[0][0] and "sweep-cache" in notes[2][0]


def test_pages_and_sizes(flashsim):
    Path("a.csv").write_text("page,size\n1,512\n2,512\n1,512\n")
    assert flashsim("sim", "a.csv", "--cache", "1KiB", "-o", "x.csv")[0] == 0
    assert pd.read_csv("x.csv")[["page_bytes", "capacity_pages", "misses"]].to_numpy().tolist() == [[512, 2, 2]]
    assert flashsim("sim", "a.csv", "--cache", "8KiB", "--page", "4KiB", "-o", "x.csv")[0] == 0
    assert pd.read_csv("x.csv")[["page_bytes", "capacity_pages"]].to_numpy().tolist() == [[4096, 2]]
    Path("a.csv").write_text("page,size\n1,512\n2,9\n")
    code, _, err = flashsim("sim", "a.csv", "--ignore-size", "-o", "x.csv", "--capacity", "3T")
    assert code == 0 and "note: a.csv: sizes not looked at, each object counted as 1 page\n" in err
    assert json.loads(Path("x.json").read_text())["notes"]


def test_a_synthetic_trace_says_so(flashsim):
    assert flashsim("corpus", "synth", "-o", "made.bin", "--tokens", "3k")[0] == 0
    assert flashsim("trace", "made.bin", "--params", "1M")[0] == 0
    assert flashsim("sim", "traces/made.pagegram-S4-1M.npy")[1].splitlines()[0].endswith(" SYNTHETIC")


def test_every_reader_can_be_named():
    from flashsim.cli.sim import command

    (option,) = [option for option in command.params if option.name == "format"]
    assert set(option.type.choices) == set(READERS)


EXPORT, SIM = ("export", f"{STEM}.npy"), ("sim", "good.txt")
BAD = [
    (2, EXPORT), (2, (*EXPORT, "--to", "csv")), (2, (*EXPORT, "--to", "fio", "--target", "a b")),
    (2, (*EXPORT, "--to", "text", "-o", f"{STEM}.npy")), (2, (*EXPORT, "--to", "text", "-o", f"{STEM}.json")),
    (2, (*EXPORT, "--to", "text.zst", "-o", "a.txt")), (2, (*EXPORT, "--to", "text", "-o", "traces")),
    (2, (*EXPORT, "--to", "text", "-o", "/proc/x")), (3, ("export", "none.npy", "--to", "text")),
    (3, ("export", "good.txt", "--to", "text")), (3, ("export", "plain.npy", "--to", "text")),
    (3, ("export", "range.npy", "--to", "oracleGeneral")), (2, ("trace", "tokens.bin", "--export", "csv")),
    (2, ("trace", "tokens.bin", "--export", "fio", "--unit", "row")),
    (2, ("trace", "tokens.bin", "--export", "text", "-o", "")),
    (2, ("trace", "tokens.bin", "--export", "text", "-o", "a")),
    (2, ("sim",)), (3, ("sim", "none")), (3, ("sim", "empty")), (3, ("sim", "traces")), (3, ("sim", "tokens.bin")),
    (3, ("sim", "words.txt")), (3, ("sim", "cut.bin")), (3, ("sim", "cut.zst")), (3, ("sim", "sizes.csv")),
    (3, ("sim", f"{STEM}.iolog")), (3, (*SIM, "--trace-format", "npy")), (2, (*SIM, "--trace-format", "fio")),
    (3, (*SIM, "--trace-format", "oracleGeneral")), (2, (*SIM, "--capacity", "0")), (2, (*SIM, "--capacity", "-1")),
    (2, (*SIM, "--capacity", "64KiB")), (2, (*SIM, "--cache", "64")), (2, (*SIM, "--cache", "1KiB")),
    (2, (*SIM, "--cache", "")), (2, (*SIM, "--page", "4K")), (2, (*SIM, "--page", "0B")),
    (2, (*SIM, "--policy", "mru")), (2, (*SIM, "--policy", "lru,lru")),
    (2, (*SIM, "-o", "x")), (2, (*SIM, "-o", "/proc/x.csv")), (2, ("sim", "sizes.csv", "-o", "sizes.csv")),
    (2, (*SIM, "-o", f"{STEM}.csv")),
]  # fmt: skip


def test_bad_lines_are_one_line_and_write_nothing(traced, tmp_path, corpus_file):
    Path("good.txt").write_text("1\n2\n1\n")
    Path("empty").touch()
    Path("words.txt").write_text("1\ntwo\n")
    Path("sizes.csv").write_text("page,size\n1,512\n2,9\n")
    Path("tokens.bin").write_bytes(corpus_file.read_bytes())
    np.save("plain.npy", np.arange(5))
    records = np.zeros(5, oracle_general.RECORD)
    records["size"], records["next"] = 1, -1
    Path("cut.bin").write_bytes(records.tobytes()[:-3])
    Path("cut.zst").write_bytes(Path(f"{STEM}.oracleGeneral.bin.zst").read_bytes()[:-3])
    Path("range.json").write_bytes(Path(f"{STEM}.json").read_bytes())
    Path("range.counts.npy").write_bytes(Path(f"{STEM}.counts.npy").read_bytes())
    ids = np.load(f"{STEM}.npy")
    ids[100] = 4_000_000_000
    np.save("range.npy", ids)

    def contents():
        return {path: path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()}

    before = contents()
    for expected, arguments in BAD:
        code, out, err = traced(*arguments)
        errors = [line for line in err.splitlines() if not line.startswith("note: ")]
        assert (code, out, len(errors)) == (expected, "", 1), (arguments, code, out, err)
        assert errors[0].startswith("flashsim: error: "), errors
        assert any(letter.isdigit() for letter in errors[0]) or "(mode " in errors[0], errors
        assert contents() == before, arguments
    assert traced(*SIM)[0] == 0 and traced(*EXPORT, "--to", "text")[0] == 0
