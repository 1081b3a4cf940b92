"""``flashsim replay`` on a small stamped file: by direct I/O where the file system of the temporary folder has it."""

import json
import os
import re
from pathlib import Path

import pandas as pd
import pytest

SIZE = 4 << 20


@pytest.fixture
def drive(flashsim, corpus_file, tmp_path):
    """The command line in a folder with t.npy, whose table has 1,300 pages, and drive.bin, which has 1,024."""
    made = flashsim("trace", corpus_file, "--eot", 0, "--params", "8M", "--tokens", "20k", "--dtype", "uint16",
                    "-o", "t.npy")  # fmt: skip
    assert made[0] == 0 and flashsim("replay", "prepare", "drive.bin", "--size", f"{SIZE}B")[0] == 0
    return flashsim


@pytest.fixture
def reading(drive):
    """Options with which drive.bin can be read."""
    return () if drive("replay", "check", "drive.bin")[0] == 0 else ("--buffered",)


def quick(*more):
    return ("replay", "t.npy", "--target", "drive.bin", "--lookups", "500", "--ramp", "0.02", "--repeat", "1",
            "--in-flight", "1,8", "-o", "r.csv", *more)  # fmt: skip


@pytest.mark.parametrize("engine", ["auto", "threads"])
def test_a_run(drive, reading, engine):
    code, out, err = drive(*quick("--fold", "--engine", engine, "--mode", "stream,decode,prefill", *reading))
    assert code == 0, err
    table, facts = pd.read_csv("r.csv"), json.loads(Path("r.json").read_text())
    assert len(table) == 6 and (table["reads"] > 0).all() and set(table["engine"]) <= {"threads", "io_uring"}
    assert (table["mean_in_flight"] <= table["in_flight"] * 1.001).all()
    assert all("folded" in flags and "span" in flags for flags in table["flags"])
    assert all(("buffered" in flags) == bool(reading) for flags in table["flags"])
    target = facts["target"]
    assert target["fold_pages"] == SIZE // 4096 < target["table_pages"] == 1300 and target["bytes"] == SIZE
    assert target["stamp_seed"] == 0 and facts["verify_every"] == 64 and facts["engine"]["why"]
    assert sum(point["pages_checked"] for point in facts["points"]) > 0
    assert "page numbers folded" in Path("r.svg").read_text()
    assert ("BUFFERED" in Path("r.svg").read_text()) == bool(reading)
    assert err.splitlines()[0].startswith(f"{Path('drive.bin').absolute()}: 4 MiB, ") and "flag folded: " in out


def test_a_table_larger_than_the_target_is_refused(drive, reading):
    code, out, err = drive(*quick(*reading))
    assert (code, out) == (3, "") and len(err.splitlines()) == 1 and not Path("r.csv").exists()
    assert str(SIZE) in err and "--fold" in err and "--for" in err


def break_at(page, write):
    with open("drive.bin", "r+b") as file:
        file.seek(page * 4096)
        held = file.read(4096)
        file.seek(page * 4096)
        file.write(write(held))


def pages_read():
    """A page of drive.bin that is read, and another."""
    from flashsim.trace import Trace

    ids = Trace.open("t.npy").ids % (SIZE // 4096)
    return int(ids[7]), int(ids[8])


@pytest.mark.parametrize("kind", ["flipped", "swapped"])
def test_verify_names_the_page(drive, reading, kind, monkeypatch):
    first, second = pages_read()
    monkeypatch.setattr("flashsim.device.checks.SAMPLE", 2)  # or the check before the run may find it
    if kind == "flipped":
        break_at(first, lambda held: held[:2000] + bytes([held[2000] ^ 1]) + held[2001:])
    else:
        data = Path("drive.bin").read_bytes()
        break_at(first, lambda _: data[second * 4096 :][:4096])
        break_at(second, lambda _: data[first * 4096 :][:4096])
    arguments = ("replay", "t.npy", "--target", "drive.bin", "--fold", "--in-flight", "256", "--ramp", "0", *reading)
    code, _, err = drive(*arguments, "--lookups", "20k", "--verify", "all")  # the whole trace
    assert code == 3 and re.search(rf"page ({first}|{second})\b", err.splitlines()[-1].replace(",", ""))
    code, _, err = drive(*arguments, "--lookups", "100", "--verify", "none")
    assert code == 0, err


def test_littles_law(drive, reading):
    """Reads in flight = reads/s x their latency, where all of them begin and end in what is measured."""
    code, _, err = drive(
        "replay", "t.npy", "--target", "drive.bin", "--fold", *reading, "--in-flight", "4,32", "--ramp", 0, "--lookups",
        "2k", "--repeat", "1", "--mode", "stream,decode", "-o", "r.csv",
    )  # fmt: skip
    assert code == 0, err
    table = pd.read_csv("r.csv")
    little = table["reads_per_s"] * table["read_mean_us"] / 1e6
    assert little.tolist() == pytest.approx(table["mean_in_flight"].tolist(), rel=0.02)


def test_a_target_that_is_cut_while_it_is_read(drive, reading, monkeypatch):
    from flashsim.studies import replay as study

    measure, runs = study.measure, []

    def cut_second(replayer, **more):
        if runs:
            os.truncate("drive.bin", 8192)
        runs.append(1)
        return measure(replayer, **more)

    monkeypatch.setattr(study, "measure", cut_second)
    code, _, err = drive(*quick("--fold", "--verify", "none", *reading))
    assert code == 4 and "ends here" in err.splitlines()[-1] and len(pd.read_csv("r.csv")) == 1


def test_a_target_that_is_written_to_while_it_is_read(drive, reading, monkeypatch):
    from flashsim.studies import replay as study

    measure = study.measure

    def touched(replayer, **more):
        os.utime("drive.bin", (1, 1))
        return measure(replayer, **more)

    monkeypatch.setattr(study, "measure", touched)
    code, _, err = drive(*quick("--fold", *reading))
    assert code == 3 and "written to" in err.splitlines()[-1] and not Path("r.csv").exists()


def test_bad_targets_and_wishes(drive, reading):
    Path("raw.bin").write_bytes(os.urandom(SIZE * 2))
    with open("sparse.bin", "wb") as file:
        file.truncate(SIZE * 2)
    good = [each for each in quick(*reading) if each not in ("--target", "drive.bin")]
    for code, words in (
        (3, ("--target", "none.bin")), (3, ("--target", ".")), (3, ("--target", "sparse.bin")),
        (2, ("--target", "raw.bin", "--verify", "all")), (2, ("--target", "raw.bin", "--engine", "libaio")),
        (3, ("--target", "raw.bin", "--base", "100B")), (2, ("--target", "r.csv")),
    ):  # fmt: skip
        if reading and "--base" in words:
            continue  # only direct I/O asks for alignment
        if words == ("--target", "r.csv"):
            Path("r.csv").write_bytes(b"mine")
        ended, out, err = drive(*good, *words)
        (line,) = err.splitlines()
        assert (ended, out) == (code, "") and any(letter.isdigit() for letter in line), (words, line)
    assert Path("r.csv").read_bytes() == b"mine"
    Path("r.csv").unlink()
    assert drive(*good, "--target", "raw.bin")[0] == 0
    assert "stamps" in pd.read_csv("r.csv")["flags"][0]


def test_a_drive_is_calibrated_by_a_run_and_predicts_another(drive, reading):
    assert drive(*quick("--fold", *reading), "--in-flight", "1,4,64")[0] == 0
    code, out, err = drive("device", "calibrate", "r.json", "-o", "mine.toml")
    assert code == 0, err
    assert "stream" in out and Path("mine.toml").is_file()
    code, _, err = drive("replay", "t.npy", "--device", "mine.toml", "--in-flight", "1,64", "-o", "m.csv")
    assert code == 0, err
    assert set(pd.read_csv("m.csv")["drive"]) == {"mine"}
