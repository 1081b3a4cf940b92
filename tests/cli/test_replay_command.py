"""``flashsim replay`` without a drive: its words, files and refusals."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

QUICK = ("--engine", "null", "--seconds", "0.05", "--ramp", "0", "-o", "r.csv")


def table_of(csv):
    return pd.read_csv(csv, keep_default_na=False, na_values=[""])  # else the engine null is no text


@pytest.fixture
def in_traces(flashsim, corpus_file, tmp_path):
    """The command line in a folder with pagegram.npy, engram.npy, rows.npy and a token file."""
    (tmp_path / "corpus.bin").symlink_to(corpus_file)
    common = ("--eot", 0, "--params", "20M", "--tokens", "20k", "--dtype", "uint16")
    (tmp_path / "folder.svg").mkdir()
    for name in ("pagegram", "engram"):
        assert flashsim("trace", "corpus.bin", *common, "--layout", name, "-o", f"{name}.npy")[0] == 0
    assert flashsim("trace", "corpus.bin", *common, "--layout", "flat", "--unit", "row", "-o", "rows.npy")[0] == 0
    return flashsim


def test_a_run_without_a_drive(in_traces):
    code, out, err = in_traces(
        "replay", "pagegram.npy", "engram.npy", *QUICK, "--in-flight", "1,8", "--mode", "stream,prefill",
        "--cache", "none,1MiB", "--repeat", 2,
    )  # fmt: skip
    assert code == 0, err
    table = table_of("r.csv")
    needed = (
        "trace, layout, S, params, cache_bytes, mode, engine, in_flight, in_flight_unit, repeat, lookups_per_s, "
        "reads_per_s, mb_per_s, lookup_p50_us, lookup_p99_us, read_p50_us, read_p99_us, mean_in_flight, cpu_us_per_read"
    )
    assert set(needed.split(", ")) <= set(table) and len(table) == 2 * 2 * 2 * 2 * 2
    assert set(table["engine"]) == {"null"} and set(table["cache_bytes"]) == {0, 1 << 20}
    facts = json.loads(Path("r.json").read_text())
    assert facts["kind"] == "replay" and facts["complete"] and facts["schema"] == 1
    assert facts["asked"]["in_flight"] == [1, 8] and facts["run"]["argv"]
    assert [trace["fingerprint"] for trace in facts["traces"]] and facts["traces"][0]["layout"]
    for point, row in zip(facts["points"], table.itertuples(), strict=True):
        assert point["lookups_per_s"] == row.lookups_per_s and point["timeline"] and "foreign_cpu" in point
    medians = table.groupby(["mode", "cache_bytes", "trace", "in_flight"])["lookups_per_s"].median()
    for rate in medians:
        assert f"{rate:,.0f}" in out
    pairs = re.findall(r"^pagegram-S4-20M / engram-20M, lookups/s by reads in flight: 1: ([\d.]+), 8:", out, re.M)
    assert len(pairs) == 4
    for (mode, cache), ratio in zip(
        (("stream", 0), ("stream", 1 << 20), ("prefill", 0), ("prefill", 1 << 20)), pairs, strict=True
    ):
        ours, theirs = (medians[mode, cache, f"{name}.npy", 1] for name in ("pagegram", "engram"))
        assert float(ratio) == pytest.approx(ours / theirs, abs=0.051)
    drawn = Path("r.svg").read_bytes()
    assert in_traces("figures", "fig4b", "r.csv") == (0, "r.svg\nr.png\n", "")
    assert Path("r.svg").read_bytes() == drawn


def test_files_of_one_name_in_two_folders(in_traces):
    for name in ("pagegram", "engram"):
        Path(name).mkdir()
        for ending in (".npy", ".json", ".counts.npy"):
            Path(f"{name}{ending}").rename(f"{name}/t{ending}")
    code, out, err = in_traces("replay", "pagegram/t.npy", "engram/t.npy", *QUICK, "--in-flight", "4", "--repeat", 1)
    assert code == 0, err
    assert table_of("r.csv")["trace"].tolist() == ["pagegram/t.npy", "engram/t.npy"]
    assert "pagegram-S4-20M / engram-20M, lookups/s by reads in flight: 4: " in out


def test_exactly_so_many_lookups(in_traces):
    code, _, err = in_traces(
        "replay", "pagegram.npy", "--engine", "null", "--lookups", "5k", "--in-flight", "4", "--repeat", 1,
        "--in-flight-unit", "lookups", "--ramp", "0.01", "-o", "r.csv",
    )  # fmt: skip
    assert code == 0, err
    assert table_of("r.csv")["lookups"].tolist() == [5000]


def test_its_commands_stand_beside_it(in_traces, tmp_path):
    code, out, err = in_traces("replay", "engines")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == ["null", "threads", "io_uring"]
    assert re.search(r"^null +available$", out, re.M)
    for name in ("engines", "engines.npy"):
        assert "no trace" in in_traces("replay", f"./{name}", *QUICK)[2]
    Path("engram.npy").rename("engines")
    assert "is no trace" in in_traces("replay", "./engines", *QUICK)[2]
    assert in_traces("replay", *QUICK, "engines")[2] == in_traces("replay", "./engines", *QUICK)[2]
    for path in (("replay",), ("replay", "engines")):
        assert in_traces(*path, "--help")[1].startswith(f"Usage: flashsim {' '.join(path)} [OPTIONS]")


def test_what_reads_nothing_takes_no_option_of_a_target(in_traces):
    for option in (("--verify", "sample"), ("--base", "4KiB"), ("--fold",), ("--buffered",)):
        for drive in (QUICK, ("--device", "p3700-800g")):
            code, _, err = in_traces("replay", "pagegram.npy", *drive, *option)
            assert code == 2 and f"{option[0]} and 0 targets to read: give --target FILE, or leave it out" in err
    assert in_traces("replay", "pagegram.npy", *QUICK, "--in-flight", "1", "--repeat", 1)[0] == 0


def test_all_files_of_a_folder_are_its_traces(in_traces):
    """As a shell's traces/*.npy has them: counts and steps belong to a trace that is named too."""
    made = ("trace", "corpus.bin", "--eot", 0, "--params", "20M", "--dtype", "uint16", "--streams", 4)
    assert in_traces(*made, "-o", "s.npy")[0] == 0
    every = sorted(path.name for path in Path().glob("*.npy") if not path.name.startswith("rows"))
    assert len(every) == 7 and {"s.npy", "s.counts.npy", "s.steps.npy"} < set(every)
    code, _, err = in_traces("replay", *every, *QUICK, "--in-flight", "1", "--repeat", 1)
    assert code == 0, err
    assert set(table_of("r.csv")["trace"]) == {"engram.npy", "pagegram.npy", "s.npy"}
    code, _, err = in_traces("sweep-cache", *every, "--cache", "1MiB", "-o", "w.csv")
    assert code == 0, err
    assert len(pd.read_csv("w.csv")) == 3
    code, _, err = in_traces("replay", "s.steps.npy", *QUICK)
    assert code == 2 and "s.steps.npy holds the tokens of each step of s.npy, 0 ids: leave it out" in err


USAGE = [
    ("replay",), ("replay", "pagegram.npy"), ("replay", "pagegram.npy", "--engine", "auto"),
    ("replay", "corpus.bin", *QUICK), ("replay", "rows.npy", *QUICK), ("replay", *QUICK),
    ("replay", "pagegram.npy", "pagegram.npy", *QUICK), ("replay", "pagegram.npy", "--engine", "null", "-o", "r.txt"),
    ("replay", "pagegram.npy", "--engine", "null", "-o", "pagegram.csv"), ("replay", "engines", "more"),
    ("replay", "pagegram.npy", "--engine", "null", "-o", "folder.csv"),
    ("replay", "pagegram.npy", "--device", "p3700-800g", "--fold"),
    ("replay", "pagegram.npy", "--device", "p3700-800g", "--engine", "threads"),
    ("replay", "pagegram.npy", "--device", "apple-ssd"),
    # before the target is looked at, which would be another code
    *(("replay", "pagegram.npy", "--target", "none.bin", *more) for more in (
        ("--device", "apple-ssd"), ("--rate", "1e-7"), ("--rate", "1e13"),
    )),
] + [
    ("replay", "pagegram.npy", *QUICK, *more)
    for more in (
        ("--in-flight", "0"), ("--in-flight", "4097"), ("--in-flight", "1,1"), ("--in-flight", "-1"),
        ("--in-flight", ""), ("--in-flight", "many"), ("--in-flight-unit", "pages"), ("--mode", "train"),
        ("--mode", "prefill", "--in-flight-unit", "lookups"), ("--mode", "stream,stream"), ("--cache", "1K"),
        ("--cache", "100B"), ("--cache", "-1MiB"), ("--lookups", "5"), ("--seconds", "0"), ("--seconds", "nan"),
        ("--seconds", "x"), ("--ramp", "-1"), ("--repeat", "0"), ("--rate", "-5"), ("--rate", "inf"),
        ("--chunk", "0"), ("--base", "12"), ("--verify", "some"), ("--seed", "-1"), ("--device", "none-such"),
    )
]  # fmt: skip


@pytest.mark.parametrize("arguments", USAGE, ids=" ".join)
def test_refusals(in_traces, arguments):
    before = sorted(Path().iterdir())
    code, out, err = in_traces(*arguments)
    (line,) = err.splitlines()
    assert line.startswith("flashsim: error: ") and any(letter.isdigit() for letter in line)
    assert (code, out) == (2, "") and sorted(Path().iterdir()) == before


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt, 130), ("drive", 4)])
def test_what_has_ended_stands_when_a_run_does_not(in_traces, monkeypatch, error, code):
    from flashsim.errors import DriveError
    from flashsim.studies import replay as study

    assert in_traces("replay", "pagegram.npy", *QUICK, "--in-flight", "1", "--repeat", 1)[0] == 0
    before = {name: Path(name).read_bytes() for name in ("r.csv", "r.json", "r.svg")}
    measure, done = study.measure, []

    def third_fails(*args, **kwargs):
        assert {name: Path(name).read_bytes() for name in before} == before  # until the run has ended
        assert len(table_of("r.partial.csv") if done else []) == len(done)
        if len(done) == 2:
            raise DriveError("drive: page 7, offset 28,672 cannot be read") if error == "drive" else error
        done.append(measure(*args, **kwargs))
        return done[-1]

    monkeypatch.setattr(study, "measure", third_fails)
    ended, out, err = in_traces("replay", "pagegram.npy", "engram.npy", *QUICK, "--in-flight", "1,2", "--repeat", 1)
    assert ended == code and err.splitlines()[-1].startswith("flashsim: error: ")
    if error is KeyboardInterrupt:
        assert "error: interrupted after 2 of 4 points; r.csv has them: run it again for all" in err.splitlines()[-1]
    assert not list(Path().glob("*.partial.*"))
    table, facts = table_of("r.csv"), json.loads(Path("r.json").read_text())
    assert len(table) == len(facts["points"]) == 2 and facts["complete"] is False
    assert "2 of 4 points" in err and "pagegram-S4-20M" in out and Path("r.png").is_file()


def test_an_interrupt_before_the_first_point_leaves_the_earlier_result(in_traces, monkeypatch):
    from flashsim.studies import replay as study

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    run = ("replay", "pagegram.npy", *QUICK, "--in-flight", "1", "--repeat", 1)
    assert in_traces(*run)[0] == 0
    before = {path: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    monkeypatch.setattr(study, "measure", interrupted)
    code, out, err = in_traces(*run)
    assert (code, out) == (130, "")
    assert err.splitlines()[-1].endswith("interrupted after 0 of 1 point; nothing was written: run it again for all")
    assert {path: path.read_bytes() for path in Path().iterdir() if path.is_file()} == before


def test_a_model_alone_and_beside_a_run(in_traces):
    code, out, err = in_traces("replay", "pagegram.npy", "engram.npy", "--device", "p3700-800g", "--in-flight", "1,64",
                               "--mode", "stream,decode,prefill", "-o", "m.csv")  # fmt: skip
    assert code == 0, err
    table, facts = table_of("m.csv"), json.loads(Path("m.json").read_text())
    assert len(table) == 36 and set(table["source"]) == {"model"} and set(table["drive"]) == {"p3700-800g"}
    assert facts["model"]["name"] == "p3700-800g" and "target" not in facts
    assert (table["reads_per_s"] / table["reads_per_lookup"]).tolist() == pytest.approx(table["lookups_per_s"])
    little = table["reads_per_s"] * table["read_mean_us"] / 1e6
    assert little.tolist() == pytest.approx(table["mean_in_flight"], rel=0.01)
    assert "model: p3700-800g" in Path("m.svg").read_text() and "slowest" not in Path("m.svg").read_text()
    assert "pagegram-S4-20M / engram-20M, lookups/s by reads in flight: 1: 8.0, 64: " in out
    code, out, err = in_traces("replay", "pagegram.npy", "--device", "p3700-800g", *QUICK, "--in-flight", "1")
    assert code == 0, err
    rates = table_of("r.csv").groupby("source")["lookups_per_s"].median()
    assert f"model / measured, lookups/s of pagegram-S4-20M: 1: {rates['model'] / rates['measured']:.2f}\n" in out
    assert out.index("no drive, null") < out.index("model p3700-800g")
