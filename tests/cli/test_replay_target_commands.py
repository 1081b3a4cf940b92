"""``flashsim replay prepare`` and ``flashsim replay check`` as a user gives them."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from mounts import direct_folder, in_memory

import flashsim.cli as cli
from flashsim.kernels.target import allocate

TABLE = {"prepare": ("replay_prepare", "Write a target."), "check": ("replay_check", "Look at a target.")}


@pytest.fixture
def replay(flashsim, monkeypatch):
    """replay("check", ...) -> (code, stdout, stderr), in an empty folder."""
    group = cli.LazyGroup("replay", table=TABLE)
    monkeypatch.setitem(sys.modules, "flashsim.cli.replay", SimpleNamespace(command=group))
    monkeypatch.setitem(cli.COMMANDS, "replay", ("replay", "Replay."))
    return lambda *args: flashsim("replay", *args)


def test_a_target_is_made_once_and_then_checked(replay, tmp_path):
    direct_folder(tmp_path)
    code, out, err = replay("prepare", "target", "--size", "6MiB", "--seed", "3")
    assert (code, err) == (0, "")
    path = os.path.realpath("target")
    expected = rf"{path}: 6 MiB, 1,536 stamped pages, seed 3: 6 MiB written in \d+\.\d s, \d+\.\d\d GB/s\n"
    assert re.fullmatch(expected, out)
    assert replay("prepare", "target", "--size", "6MiB", "--seed", "3") == (
        0, f"{path}: 6 MiB, 1,536 stamped pages, seed 3: already prepared\n", "",
    )  # fmt: skip
    code, out, err = replay("check", "target")
    assert (code, err) == (0, "") and re.search(r"stamps +seed 3; \d+ pages looked at, all right", out)
    assert re.search(r"\ntarget: a replay would run; its results have \d flags?\n$", out)
    code, out, err = replay("check", "target", "--verify")
    assert code == 0 and re.search(r"stamps +seed 3; 1,536 pages looked at, all right, read at \d+\.\d\d GB/s", out)
    assert os.listdir() == ["target"]


@pytest.fixture
def trace(replay, flashsim, corpus_file) -> int:
    """t.npy in the folder; its table's bytes."""
    assert flashsim("trace", corpus_file, "--params", "1M", "--dtype", "uint16", "-o", "t.npy")[0] == 0
    facts = json.loads(Path("t.json").read_bytes())
    return facts["ids_below"] * facts["page_bytes"]


def test_a_target_for_a_trace(replay, trace, tmp_path):
    direct_folder(tmp_path)
    assert replay("prepare", "target", "--for", "t.npy")[0] == 0
    assert os.path.getsize("target") == trace
    code, out, err = replay("check", "target", "--trace", "t.npy")
    assert (code, err) == (0, "") and " fold " not in out
    assert replay("prepare", "short", "--size", f"{trace - 4096}B")[0] == 0
    code, out, err = replay("check", "short", "--trace", "t.npy")
    assert code == 3 and f"short has {trace - 4096} B, page {trace // 4096 - 1} ends at byte {trace}" in err
    code, out, err = replay("check", "short", "--trace", "t.npy", "--fold")
    assert code == 0 and f"are taken modulo {trace // 4096 - 1}" in out
    code, out, err = replay("check", "target", "--trace", "t.npy", "--base", "4KiB")
    assert code == 3 and f"ends at byte {trace + 4096}" in err


def test_a_flipped_byte_is_named(replay, tmp_path):
    direct_folder(tmp_path)
    replay("prepare", "target", "--size", "20MiB")
    with open("target", "r+b") as file:
        file.seek(4321 * 4096 + 99)
        byte = file.read(1)[0] ^ 1
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte]))
    code, out, err = replay("check", "target", "--verify")
    assert code == 3 and "stamps" not in out
    assert err.startswith(
        "flashsim: error: target: 1 of 5,120 pages looked at are wrong: page 4321 (byte 17698816) is damaged"
    )
    assert len(err.splitlines()) == 1


def test_each_refusal_has_its_line(replay, tmp_path):
    with in_memory("tmpfs", tmp_path) as folder:
        with open(folder / "sparse", "wb") as file:
            file.truncate(1 << 20)
        code, out, err = replay("check", folder / "sparse")
        assert code == 3 and "would run" not in out
        first, second = err.splitlines()
        assert f"{folder}/sparse is on tmpfs: 0 reads would reach a drive" in first
        assert "256 of 256 pages read are not on the drive (256 in holes)" in second
        assert replay("prepare", folder / "target", "--size", "1MiB")[0] == 0
        assert replay("check", folder / "target")[0] == 3
        code, out, err = replay("check", folder / "target", "--buffered")
        assert (code, err) == (0, "") and re.search(r"flag +direct I/O +no, --buffered", out)


BAD = [
    (("check", "none"), 3, "'flashsim replay prepare' makes one"),
    (("check", "folder"), 3, "is a folder (0 pages"),
    (("check", "pipe"), 3, "is a pipe (0 pages"),
    (("check", "socket"), 3, "is a socket (0 pages"),
    (("check", "/dev/zero"), 3, "is a character device (0 pages"),
    (("check", "empty"), 3, "is empty (0 B)"),
    (("check", "short"), 3, "has 100 B: no page of 4096 B has room"),
    (("check", "sparse"), 3, "in holes"),
    (("check", "allocated"), 3, "allocated but never written"),
    (("check", "notes", "--base", "100B"), 3, "alignment"),
    (("check", "notes", "--base", "1MiB"), 3, "no page of 4096 B has room from byte 1048576 on"),
    (("check", "notes", "--base", "4096"), 2, "--base"),
    (("check", "notes", "--verify"), 2, "page 0 of notes has no stamp"),
    (("check", "notes", "--trace", "none.npy"), 3, "none.npy"),
    (("check",), 2, "TARGET"),
    (("prepare", "target"), 2, "give 1 of --size and --for"),
    (("prepare", "target", "--size", "1MiB", "--for", "t.npy"), 2, "give 1 of --size and --for"),
    (("prepare", "target", "--size", "0B"), 2, "a target of 0 B"),
    (("prepare", "target", "--size", "10"), 2, "--size"),
    (("prepare", "target", "--size", "9000000TiB"), 2, "over 2^63"),
    (("prepare", "target", "--size", "2000000TiB"), 2, "B free"),
    (("prepare", "target", "--size", "1MiB", "--seed", "-1"), 2, "--seed"),
    (("prepare", "target", "--size", "1MiB", "--seed", "18446744073709551616"), 2, "--seed"),
    (("prepare", "target", "--for", "none.npy"), 3, "none.npy"),
    (("prepare", "notes", "--size", "1MiB"), 2, "is there already (40960 B)"),
    (("prepare", "empty", "--size", "1MiB"), 2, "is there already (0 B)"),
    (("prepare", "folder", "--size", "1MiB"), 2, "0 pages fit"),
    (("prepare", "new/", "--size", "1MiB"), 2, "new/ names a folder (0 pages fit)"),
    (("prepare", "nowhere/target", "--size", "1MiB"), 2, "nowhere: 0 folders"),
    (("prepare", "other", "--size", "1MiB"), 2, "other.partial is there already (40960 B)"),
    (("prepare", "/dev/sdzz", "--size", "1MiB", "--force"), 2, "0 devices of this name"),
]


@pytest.mark.parametrize(("arguments", "code", "text"), BAD)
def test_bad_targets(replay, tmp_path, arguments, code, text):
    direct_folder(tmp_path)
    os.mkdir("folder"), os.mkfifo("pipe"), Path("empty").touch(), Path("short").write_bytes(b"x" * 100)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")
    with open("sparse", "wb") as sparse, open("allocated", "wb") as allocated:
        sparse.truncate(1 << 20), allocate(allocated.fileno(), 1 << 20)
    for name in ("notes", "other.partial"):
        Path(name).write_bytes(os.urandom(40960))
    before = {name: os.stat(name).st_mtime_ns for name in os.listdir()}
    got, out, err = replay(*arguments)
    assert got == code and text in err, err
    assert len(err.splitlines()) == 1 and err.startswith("flashsim: error: ") and re.search(r"\d", err)
    assert "Traceback" not in err + out
    assert {name: os.stat(name).st_mtime_ns for name in os.listdir()} == before


def test_a_target_for_a_trace_is_never_the_trace(flashsim, replay, corpus_file, tmp_path):
    for unit in ("page", "row"):
        arguments = ("--params", "1M", "--unit", unit, "-o", f"{unit}.npy")
        assert flashsim("trace", corpus_file, "--eot", "0", "--tokens", "2k", *arguments)[0] == 0
    before = Path("page.npy").read_bytes()
    code, out, err = replay("prepare", "page.npy", "--for", "page.npy", "--force")
    assert (code, out) == (2, "") and err.count("\n") == 1 and Path("page.npy").read_bytes() == before
    code, out, err = replay("prepare", "new", "--for", "row.npy")
    assert (code, out) == (2, "") and "1 trace of rows" in err and not Path("new").exists()


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_prepare_says_what_stays(tmp_path, stop):
    script = (
        "import sys; from types import SimpleNamespace; import flashsim.cli as cli;"
        f"group = cli.LazyGroup('replay', table={TABLE!r});"
        "sys.modules['flashsim.cli.replay'] = SimpleNamespace(command=group);"
        "cli.COMMANDS['replay'] = ('replay', 'Replay.'); import flashsim.device.fill as made, time;"
        "fill = made.backend('c').stamp_fill; slow = lambda *args: time.sleep(0.02) or fill(*args);"
        "made.backend = lambda name: SimpleNamespace(stamp_fill=slow); sys.exit(cli.main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", script, "replay", "prepare", "target", "--size", "400MiB"]
    child = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    partial = tmp_path / "target.partial"
    for _ in range(6000):
        if partial.exists() and partial.stat().st_size:
            break
        time.sleep(0.01)
    time.sleep(0.1)
    child.send_signal(stop)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130 and "Traceback" not in err
    done = re.fullmatch(
        r"flashsim: error: interrupted after ([\d,]+) of 419,430,400 bytes; what was written to target by then stays: "
        r"the same command goes on from there\n",
        err,
    )
    assert done and 0 < int(done[1].replace(",", "")) <= partial.stat().st_size
    assert os.listdir(tmp_path) == ["target.partial"]
