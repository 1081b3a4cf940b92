"""flashsim sweep-cache: the CSV, what stands beside it, what is printed; interrupted, it keeps what it has."""

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

from flashsim.layouts import layout
from flashsim.studies import cache_sweep
from flashsim.studies.cache_sweep import COLUMNS
from flashsim.studies.cells import names_of
from flashsim.studies.ledger import Ledger
from flashsim.tokens import open_tokens

SMALL = ("--params", "1M,2M", "--cache", "64KiB,1MiB", "--eot", "0", "--dtype", "uint16")


def test_csv_json_and_figures(flashsim, corpus_file, tmp_path):
    code, _, err = flashsim("sweep-cache", corpus_file, *SMALL, "-o", "out/x.csv")
    assert (code, err) == (0, "wrote out/x.csv, x.json, x.svg, x.png\n")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["x.csv", "x.json", "x.png", "x.svg"]
    table = pd.read_csv("out/x.csv")
    assert list(table.columns) == list(COLUMNS) and len(table) == 2 * 3 * 2
    labels = [f"{name}-{size}" for size in ("1M", "2M") for name in ("flat", "engram", "pagegram-S4")]
    assert table["label"].tolist() == [label for label in labels for _ in range(2)]
    assert set(table["tokens"]) == {60_000} and not table["synthetic"].any()
    layouts = [layout(name, params=size) for size in ("1M", "2M") for name in ("flat", "engram", "pagegram")]
    direct = cache_sweep.sweep_cache(open_tokens(corpus_file, eot=0), layouts, ["64KiB", "1MiB"])
    assert table["misses"].tolist() == direct["misses"].tolist()
    facts = json.loads(Path("out/x.json").read_text())
    assert facts["kind"] == "cache sweep" and facts["cache_bytes"] == [65_536, 1 << 20] and facts["backend"] == "c"
    assert [made["label"] for made in facts["layouts"]] == labels
    assert facts["sources"][0]["sha256"] == hashlib.sha256(corpus_file.read_bytes()).hexdigest()
    assert facts["sources"][0]["boundary"] == "--eot 0" and facts["run"]["numpy"] == np.__version__


def test_the_printed_table_is_the_csv(flashsim, corpus_file):
    code, out, _ = flashsim("sweep-cache", corpus_file, *SMALL, "--warmup", "10k", "--tokens", "50k", "-o", "x.csv")
    table = pd.read_csv("x.csv")
    head, *lines, last, boundary = out.splitlines()
    assert code == 0 and head.split() == ["reads/token", "no", "cache", "64", "KiB", "1", "MiB"]
    assert last == "tokens counted: corpus 40,000; lru; after 10,000 tokens of warm-up"
    assert boundary == "boundary: --eot 0"
    assert len(lines) == 6
    for line, (_, rows) in zip(lines, table.groupby("label", sort=False), strict=True):
        corpus, label, none, *figures = line.split()
        assert (corpus, label) == ("corpus", rows["label"].iloc[0])
        assert float(none) == pytest.approx(rows["reads"].iloc[0] / 40_000, abs=6e-4)
        assert [float(figure) for figure in figures] == pytest.approx(rows["reads_per_token"].tolist(), abs=6e-4)


def test_a_trace_stands_for_its_token_file(flashsim, corpus_file):
    assert flashsim("trace", corpus_file, "--params", "1M", "--eot", 0)[0] == 0
    trace = "traces/corpus.pagegram-S4-1M.npy"
    assert flashsim("sweep-cache", trace, "--cache", "64KiB,1MiB", "-o", "a.csv")[0] == 0
    assert flashsim("sweep-cache", corpus_file, *SMALL, "--params", "1M", "--layout", "pagegram", "-o", "b.csv")[0] == 0
    assert Path("a.csv").read_text() == Path("b.csv").read_text()
    assert json.loads(Path("a.json").read_text())["sources"][0]["trace"] == trace


def test_lists_multiply(flashsim, corpus_file):
    code, _, _ = flashsim(
        "sweep-cache", corpus_file, *SMALL, "--params", "1M", "--layout", "flat,pagegram", "--layout", "engram",
        "--S", "1,4", "--tokens", 1000, "--jobs", 2, "--backend", "numba", "-o", "x.csv",
    )  # fmt: skip
    table = pd.read_csv("x.csv")
    assert code == 0 and set(table["backend"]) == {"numba"}
    assert list(dict.fromkeys(table["label"])) == ["flat-1M", "pagegram-S1-1M", "pagegram-S4-1M", "engram-1M"]


def test_a_synthetic_stream_says_so(flashsim):
    assert flashsim("corpus", "synth", "-o", "made.bin", "--tokens", "3k")[0] == 0
    code, out, _ = flashsim("sweep-cache", "made.bin", "--params", "1M", "--cache", "64KiB", "-o", "x.csv")
    assert code == 0 and pd.read_csv("x.csv")["synthetic"].all()
    assert all(line.endswith(" SYNTHETIC") for line in out.splitlines()[1:-2])
    assert "(SYNTHETIC)" in Path("x.svg").read_text()


def test_a_file_name_that_is_not_utf8(flashsim, corpus_file, interrupt_at):
    """Its tokens are run, and it has the same name everywhere: a sweep that was interrupted knows it again."""
    name = os.fsdecode(b"caf\xe9.bin")
    Path(name).write_bytes(corpus_file.read_bytes())
    one = ("--params", "1M", "--layout", "flat,engram", "--cache", "64KiB", "--eot", "0", "--dtype", "uint16")
    ran = interrupt_at(2)
    assert flashsim("sweep-cache", name, *one, "-o", "x.csv")[0] == 130
    ran.clear(), Path("killed").touch()
    code, out, err = flashsim("sweep-cache", name, *one, "-o", "x.csv")
    assert code == 0 and ran == [("engram-1M", "lru")] and "going on after 1 cells" in err
    assert r"caf\xe9 flat-1M " in out and r"caf\xe9, 60,000 tokens" in Path("x.svg").read_text()
    assert set(pd.read_csv("x.csv")["corpus"]) == {r"caf\xe9"}
    assert json.loads(Path("x.json").read_bytes())["sources"][0]["path"] == name
    assert flashsim("trace", name, "--params", "1M", "--eot", 0, "-o", "t.npy")[0] == 0
    assert flashsim("sweep-cache", "t.npy", "--cache", "64KiB", "-o", "y.csv")[0] == 0
    assert set(pd.read_csv("y.csv")["corpus"]) == {r"caf\xe9"}


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


def test_without_a_source_it_takes_the_demo_corpus(flashsim, corpus_file, monkeypatch):
    monkeypatch.setattr("flashsim.corpora.demo.demo_corpus", lambda: corpus_file)
    code, out, _ = flashsim("sweep-cache", "--tokens", 2000, "--params", "1M", "--cache", "64KiB")
    assert code == 0 and "corpus pagegram-S4-1M" in out
    assert len(pd.read_csv("reports/cache_sweep.csv")) == 3


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


def test_the_reports_table_and_caches_are_the_default(flashsim, corpus_file):
    code, _, _ = flashsim("sweep-cache", corpus_file, "--tokens", 1000, "--layout", "engram")
    table = pd.read_csv("reports/cache_sweep.csv")
    assert code == 0 and list(dict.fromkeys(table["params"])) == [3_200_000_000, 10**10, 2 * 10**10]
    assert table["cache_bytes"].tolist() == 3 * [2**26 << log for log in range(9)]


@pytest.fixture
def interrupt_at(monkeypatch):
    """interrupt_at(n) interrupts the n-th cell and later ones, until a file "killed" is there; returns the list of the
    (label, policy) that were run."""

    def install(cell_number):
        real, ran = cache_sweep.run_cell, []

        def run_cell(cell, policy, *arguments):
            ran.append((names_of(cell)["label"], policy))
            if len(ran) >= cell_number and not Path("killed").exists():
                raise KeyboardInterrupt
            return real(cell, policy, *arguments)

        monkeypatch.setattr(cache_sweep, "run_cell", run_cell)
        return ran

    return install


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


@pytest.fixture
def save_state(flashsim, corpus_file):
    """save_state(name, tokens) saves the state after so many tokens through pagegram at 1M."""

    def save(name, tokens):
        state = ("--params", "1M", "--layout", "pagegram", "--eot", 0, "--window", "5k", "--save-state", name)
        assert flashsim("cold-start", corpus_file, *state, "--tokens", tokens, "-o", "cold.csv")[0] == 0

    return save


ONE = (*SMALL, "--params", "1M", "--layout", "pagegram")


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


def test_what_a_long_sweep_takes_is_told_first(flashsim, corpus_file, monkeypatch):
    monkeypatch.setattr("flashsim.studies.estimate._NS_LRU", 1e5)
    code, _, err = flashsim("sweep-cache", corpus_file, *SMALL, "-o", "x.csv")
    assert code == 0
    assert err.startswith("6 cells, 2,400,000 references, 2 caches: about 1.")
    assert "of memory, 240 s or up to three times that" in err.splitlines()[0]


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
    assert code == 0 and (f"going on after {min(step, 3)} cells" in err) == (0 < step < 6)
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


@pytest.mark.parametrize("command", [["sweep-cache", "--cache", "64KiB"], ["curve"], ["cold-start", "--window", "1k"]])
def test_an_input_is_never_an_output(flashsim, corpus_file, command):
    Path("tokens.csv").write_bytes(corpus_file.read_bytes())
    before = Path("tokens.csv").read_bytes()
    code, _, err = flashsim(*command, "tokens.csv", "--eot", "0", "--params", "1M", "-o", "tokens.csv")
    assert code == 2 and "is 1 of the files that are read" in err
    assert Path("tokens.csv").read_bytes() == before


def test_where_nothing_is_read_curve_says_so(flashsim):
    np.zeros(5000, np.uint16).tofile("eot.bin")
    code, _, err = flashsim("curve", "eot.bin", "--eot", "0", "--dtype", "uint16", "--params", "1M")
    assert code == 2 and "none of the 5000 tokens reads anything" in err and not Path("reports").exists()


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


PLANAR = """
name = "planar"
ngrams = { orders = [2, 3], missing = "filler" }
vocabulary = { size = 65536 }
hash = { family = "xor-multiply", layers = [1] }
rows = { addressing = "heads", heads = 4, primes_from = 10_000, width = 256, format = "fp8-e8m0" }
placement = { rule = "planar" }
"""


def test_parts_in_ram_are_of_the_layouts_that_have_parts(flashsim, corpus_file, tmp_path):
    (tmp_path / "planar.toml").write_text(PLANAR)
    sweep = ("sweep-cache", corpus_file, *SMALL, "-o", "x.csv", "--resident", "scales", "--layout")
    code, _, err = flashsim(*sweep, "planar.toml,flat")
    assert code == 0, err
    assert set(pd.read_csv("x.csv")["label"]) == {"planar-ram-scales", "flat-1M", "flat-2M"}
    code, out, err = flashsim(*sweep, "engram,flat")
    assert (code, out) == (2, "") and "--resident: none of the 2 layouts takes it" in err
    code, _, err = flashsim(*sweep, "planar.toml,flat", "--placement", "packed")
    assert code == 2 and "--resident: none of the 2 layouts takes it" in err


def test_boundaries_of_several_sources_are_told_apart(flashsim, corpus_file):
    assert flashsim("corpus", "synth", "-o", "made.bin", "--tokens", "5k")[0] == 0
    assert flashsim("trace", corpus_file, "--params", "1M", "--eot", 0, "-o", "t.npy")[0] == 0
    code, out, _ = flashsim("sweep-cache", "made.bin", "t.npy", "--params", "1M", "--cache", "64KiB", "-o", "x.csv")
    assert code == 0 and out.splitlines()[-1] == "boundary: made eot 0 (made.json); corpus --eot 0"
