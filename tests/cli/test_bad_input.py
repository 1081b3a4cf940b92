"""Bad input: one line on stderr with a number and a way out, a code that is not 0, and nothing written or lost."""

import json
import os
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest

TRACE = ("trace", "corpus.bin", "--params", "1M", "--dtype", "uint16")
SWEEP = ("sweep-cache", *TRACE[1:], "--cache", "64KiB", "--eot", "0", "-o", "x.csv")
CURVE = ("curve", *TRACE[1:], "--eot", "0", "-o", "x.csv")
HOT = ("hot-set", *CURVE[1:])
COLD = ("cold-start", *CURVE[1:], "--window", "5k")
SWEEP_TRACE = ("sweep-cache", "t.npy", "-o", "x.csv")
SHOW = ("layouts", "show")

USAGE = [
    ("bogus",), ("--bogus",), ("trace",), ("trace", "--bogus"), ("trace", "a", "b"), ("layouts", "bogus"), SHOW,
    ("figures", "fig5"), ("figures", "fig4a"), ("corpus", "bogus"), ("sweep-cache", "--cache"), ("trace", "--tokens"),
    (*TRACE, "--layout", "pagegran"), (*TRACE, "--layout", ""), (*TRACE, "--layout", "nowhere.toml"),
    (*TRACE, "--layout", "folder.toml"), (*TRACE, "--layout", "broken.toml"), (*TRACE, "--layout", "typo.toml"),
    (*TRACE, "--layout", "binary.toml"), (*TRACE, "--layout", "preset.toml"), (*TRACE, "--layout", "corpus.bin"),
    (*TRACE, "--layout", "engram", "--S", "4"), (*TRACE, "--layout", "flat", "--heads", "2"), (*TRACE, "--S", "0"),
    (*TRACE, "--S", "-1"), (*TRACE, "--S", "four"), (*TRACE, "--S", "4.0"), (*TRACE, "--S", "2M"),
    (*TRACE, "--params", "20X"), (*TRACE, "--params", "0"), (*TRACE, "--params", "5"), (*TRACE, "--params", "-1M"),
    (*TRACE, "--params", "1e6"), (*TRACE, "--params", "4KiB"), (*TRACE, "--params", "9000000T"),
    (*TRACE, "--params", ""), (*TRACE, "--layout", "engram", "--params", "400B"),
    (*TRACE, "--params", "400B", "--unit", "row"), (*TRACE, "--params", "99999999999999999999"),
    (*TRACE, "--heads", "0"), (*TRACE, "--heads", "5000"), (*TRACE, "--width", "0"), (*TRACE, "--width", "3"),
    (*TRACE, "--width", "100000"), (*TRACE, "--orders", ""), (*TRACE, "--orders", "3,2"), (*TRACE, "--orders", "2,2"),
    (*TRACE, "--orders", "0"), (*TRACE, "--orders", "17"), (*TRACE, "--orders", "2,"), (*TRACE, "--orders", "2;3"),
    (*TRACE, "--orders", "٢"), (*TRACE, "--orders", "1_0"), (*TRACE, "--row-format", "nf5"),
    (*TRACE, "--row-format", ""), (*TRACE, "--seed", "-1"), (*TRACE, "--seed", "18446744073709551616"),
    (*TRACE, "--seed", "x"), (*TRACE, "--page", "1000B"), (*TRACE, "--page", "4K"), (*TRACE, "--page", "4096"),
    (*TRACE, "--page", "0B"), (*TRACE, "--page", "2GiB"), (*TRACE, "--page", "512.5B"), (*TRACE, "--tokens", "0"),
    (*TRACE, "--tokens", "-1"), (*TRACE, "--tokens", "1.5"), (*TRACE, "--tokens", "1MB"), (*TRACE, "--skip", "60000"),
    (*TRACE, "--skip", "1T"), (*TRACE, "--skip", "-1"), (*TRACE, "--skip", "x"), (*TRACE, "--eot", "-1"),
    (*TRACE, "--eot", "65536"), (*TRACE, "--eot", "x"), (*TRACE, "--eot", "0", "--documents", "d.npy"),
    (*TRACE, "--vocab-size", "0"), (*TRACE, "--vocab-size", "x"), (*TRACE, "--unit", "bucket"),
    (*TRACE, "--backend", "cuda"), (*TRACE, "--format", "csv"), (*TRACE, "--dtype", "int8"), (*TRACE, "-o", "folder"),
    (*TRACE, "-o", "folder.npy"), (*TRACE, "-o", "a"), (*TRACE, "-o", "a.bin"), (*TRACE, "-o", ""),
    (*TRACE, "-o", "/proc/x.npy"), (*TRACE, "-o", "corpus.bin/a.npy"), (*TRACE, "-o", "n" * 300 + ".npy"),
    (*TRACE, "-o", "sidecar.npy"), ("trace", "t.npy"), ("trace", "cut.npy"),
    ("trace", "tokens.npy", "-o", "tokens.npy"), (*SWEEP, "--cache", "1KiB"), (*SWEEP, "--cache", "64KiB,"),
    (*SWEEP, "--cache", "64K"), (*SWEEP, "--cache", "1GiB/s"), (*SWEEP, "--cache", ""), (*SWEEP, "--cache", "65536"),
    (*SWEEP, "--cache", "-64KiB"), (*SWEEP, "--cache", "12 parsecs"), (*SWEEP, "--warmup", "60000"),
    (*SWEEP, "--warmup", "100", "--tokens", "100"), (*SWEEP, "--warmup", "-1"), (*SWEEP, "--tokens", "0"),
    (*SWEEP, "--skip", "60000"), (*SWEEP, "--jobs", "0"), (*SWEEP, "--jobs", "x"), (*SWEEP, "--layout", "flat,flat"),
    (*SWEEP, "--layout", "flat,"), (*SWEEP, "--layout", "flat", "--S", "4"), (*SWEEP, "--S", "4,4"),
    (*SWEEP, "--S", "0"), (*SWEEP, "--S", "٤"), (*SWEEP, "--params", "1M,1M"), (*SWEEP, "--params", "1M,"),
    (*SWEEP, "--params", "0"), (*SWEEP, "--layout", "engram", "--params", "1M,400B"), (*SWEEP, "--backend", "cuda"),
    (*SWEEP, "-o", "x"), (*SWEEP, "-o", "x.json"), (*SWEEP, "-o", "folder.csv"), (*SWEEP, "-o", "/proc/x.csv"),
    (*SWEEP, "-o", "corpus.bin/x.csv"), (*SWEEP, "-o", "sidecar.csv"), (*SWEEP, "corpus.bin"),
    ("sweep-cache", "t.npy", "-o", "t.csv"), (*SWEEP_TRACE, "--layout", "flat"), (*SWEEP_TRACE, "--params", "1M"),
    (*SWEEP_TRACE, "--S", "1"), (*SWEEP_TRACE, "--seed", "0"), (*SWEEP_TRACE, "--eot", "0"),
    (*SWEEP_TRACE, "--vocab-size", "9"), (*SWEEP_TRACE, "--skip", "500"), (*SWEEP_TRACE, "--tokens", "0"),
    ("sweep-cache", "t.npy", "t.npy", "-o", "x.csv", "--cache", "64KiB"), (*SHOW, "pagegran"),
    (*SHOW, "pagegram", "--params", "0"), (*SHOW, "engram", "--params", "1k"), (*SHOW, "engram", "--S", "4"),
    (*SHOW, "engram", "--params", "400B"), (*SHOW, "typo.toml"), (*SHOW, "flat", "flat"),
    *(
        (*command, "-o", f"{name}.csv")
        for command in (SWEEP, CURVE, COLD, HOT)
        for name in ("no-json", "no-svg", "no-png")
    ),
    (*TRACE, "--eot", "0", "-o", "no-json.npy"), (*COLD, "--layout", "flat", "--save-state", "no-json.npy"),
    ("sim", "t.npy", "-o", "no-json.csv"),
    ("figures", "fig4a", "sweep.csv", "-o", "/proc/x"), ("figures", "fig4a", "sweep.csv", "-o", "folder"),
    ("report",), ("report", "folder", "-o", "x"), ("report", "folder", "-o", "/proc/x.html"),
    ("report", "folder", "-o", "corpus.bin/x.html"),
]  # fmt: skip

DATA = [
    ("trace", "none.bin"), ("trace", "folder.npy"), ("trace", "empty.bin"), ("trace", "/dev/null"), ("trace", "pipe"),
    ("trace", ""), ("trace", "llmc-cut.bin"), ("trace", "llmc-header.bin"), ("trace", "odd.bin", "--dtype", "uint16"),
    ("trace", "text.txt"), ("trace", "short.npy"), ("trace", "float.npy"), ("trace", "square.npy"),
    ("trace", "zip.npz"), ("trace", "negative.npy"), ("trace", "broken-json.bin"), ("trace", "sweep.csv"),
    ("trace", "corpus.bin", "--dtype", "uint32"), ("trace", "corpus.bin", "--format", "llmc"),
    ("trace", "corpus.bin", "--format", "npy"), ("trace", "corpus.bin", "--format", "megatron"),
    (*TRACE, "--vocab-size", "300"), (*TRACE, "--documents", "none.npy"), (*TRACE, "--documents", "corpus.bin"),
    (*TRACE, "--documents", "folder"), ("trace", "broken.npy"), ("sweep-cache", "none.bin", "-o", "x.csv"),
    ("sweep-cache", "folder.npy", "-o", "x.csv"), ("sweep-cache", "empty.bin", "-o", "x.csv"), (*SWEEP, "none.bin"),
    (*SWEEP, "--vocab-size", "300"), ("sweep-cache", "cut.npy", "-o", "x.csv"),
    ("sweep-cache", "broken.npy", "-o", "x.csv"),
    ("sweep-cache", "out-of-range.npy", "-o", "x.csv", "--cache", "64KiB"),
    ("sweep-cache", "uncounted.npy", "-o", "x.csv"), ("figures", "fig4a", "none.csv"), ("figures", "fig4a", "folder"),
    ("figures", "fig4a", "empty.bin"), ("figures", "fig4a", "corpus.bin"), ("figures", "fig4a", "columns.csv"),
    ("figures", "fig4a", "header.csv"), ("figures", "fig4a", "text-in-number.csv"), ("figures", "fig4a", "cut.csv"),
    ("figures", "fig4a", "t.json"), ("report", "none"), ("report", "corpus.bin"), ("report", "folder"),
    ("report", "pipe"),
]  # fmt: skip


@pytest.fixture(scope="module")
def rubbish(tmp_path_factory, corpus_file):
    """A folder with everything that the command lines name, made once and copied for each."""
    from flashsim.layouts import layout
    from flashsim.layouts.spec import _PRESETS
    from flashsim.studies.cache_sweep import sweep_cache
    from flashsim.tokens.stream import TokenStream
    from flashsim.trace import write_trace

    folder = tmp_path_factory.mktemp("rubbish")
    folders = "folder folder.npy folder.csv folder.toml folder.svg no-json.json no-svg.svg no-png.png"
    for name in folders.split():
        (folder / name).mkdir()
    shutil.copy(corpus_file, folder / "corpus.bin")
    os.mkfifo(folder / "pipe")
    (folder / "empty.bin").touch()
    (folder / "text.txt").write_text("No token ids, but words. " * 30)
    (folder / "odd.bin").write_bytes(bytes(range(255)))
    header = np.zeros(256, "<i4")
    header[:3] = 20240520, 1, 1000
    (folder / "llmc-cut.bin").write_bytes(header.tobytes() + bytes(500))
    (folder / "llmc-header.bin").write_bytes(struct.pack("<3i", 20240520, 1, 1000))
    np.save(folder / "tokens.npy", np.arange(500, dtype=np.uint16))
    (folder / "short.npy").write_bytes((folder / "tokens.npy").read_bytes()[:-10])
    np.save(folder / "float.npy", np.arange(500.0))
    np.save(folder / "square.npy", np.zeros((20, 20), np.uint16))
    np.save(folder / "negative.npy", np.array([1, 2, -100, 3], np.int16))
    np.savez(folder / "zip.npz", np.arange(5))
    np.save(folder / "d.npy", np.array([0, 100]))
    (folder / "broken-json.bin").write_bytes((folder / "corpus.bin").read_bytes())
    (folder / "broken-json.json").write_text("{")
    (folder / "sidecar.json").write_text('{"eot": 0}')
    preset = (_PRESETS / "pagegram.toml").read_text()
    (folder / "broken.toml").write_text(preset.replace("[hash]", "[hash"))
    (folder / "typo.toml").write_text(preset.replace("seed = 0", "layuot = 0"))
    (folder / "preset.toml").write_text(preset.replace("width = 64", "width = 32"))
    (folder / "binary.toml").write_bytes(bytes(range(256)))
    stream, made = TokenStream(np.arange(500, dtype=np.uint16)), layout("flat", params="1M")
    for name in ("t", "cut", "broken", "out-of-range", "uncounted"):
        write_trace(folder / f"{name}.npy", stream, made)
    (folder / "cut.npy").write_bytes((folder / "cut.npy").read_bytes()[:-40])
    (folder / "broken.json").write_text((folder / "broken.json").read_text()[:-100])
    ids = np.load(folder / "out-of-range.npy")
    ids[100] = 4_000_000_000
    np.save(folder / "out-of-range.npy", ids)
    (folder / "uncounted.counts.npy").unlink()
    text = sweep_cache(stream, made, [4096, 65_536]).to_csv(index=False)
    (folder / "sweep.csv").write_text(text)
    (folder / "header.csv").write_text(text.splitlines()[0] + "\n")
    (folder / "columns.csv").write_text("a,b\n1,2\n")
    (folder / "text-in-number.csv").write_text(text.replace("65536,", "64KiB,"))
    (folder / "cut.csv").write_text(text[:-60])
    return folder


def contents(folder):
    """Every name below ``folder``, with the bytes of files."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")
    }


@pytest.fixture
def in_rubbish(flashsim, rubbish, tmp_path):
    for path in rubbish.iterdir():
        if path.is_dir():
            (tmp_path / path.name).mkdir()
        elif path.is_file():
            os.link(path, tmp_path / path.name)
        else:
            os.mkfifo(tmp_path / path.name)
    return flashsim


OTHER = [("trace", "n" * 300), ("trace", "n" * 300 + ".npy")]  # the operating system says so, whatever they are

CASES = [(code, arguments) for code, group in ((2, USAGE), (3, DATA), (1, OTHER)) for arguments in group]


@pytest.mark.parametrize(("expected", "arguments"), CASES, ids=[" ".join(arguments)[:90] for _, arguments in CASES])
def test_one_line_and_nothing_written(in_rubbish, tmp_path, expected, arguments):
    before = contents(tmp_path)
    code, out, err = in_rubbish(*arguments)
    errors = [line for line in err.splitlines() if not line.startswith("note: ")]
    assert len(errors) == 1, err
    assert errors[0].startswith("flashsim: error: ") and "Traceback" not in err + out
    assert any(letter.isdigit() for letter in errors[0]) or "(mode " in errors[0], errors[0]
    assert (code, out) == (expected, ""), errors[0]
    assert contents(tmp_path) == before


def test_the_cases_are_bad_for_their_own_sake(in_rubbish):
    """What the bad lines start from is good."""
    assert in_rubbish(*TRACE)[0] == 0
    assert in_rubbish(*SWEEP)[0] == 0
    assert in_rubbish(*CURVE, "-o", "c.csv")[0] == in_rubbish(*COLD, "-o", "d.csv")[0] == 0
    assert in_rubbish(*HOT, "-o", "h.csv")[0] == 0
    assert in_rubbish("sweep-cache", "t.npy", "-o", "y.csv", "--cache", "64KiB")[0] == 0
    assert in_rubbish("figures", "fig4a", "sweep.csv")[0] == 0
    assert in_rubbish("trace", "tokens.npy", "--documents", "d.npy", "--params", "1M", "-o", "d2.npy")[0] == 0
    assert len({arguments for _, arguments in CASES}) == len(CASES)
    assert json.loads(Path("x.json").read_text())["kind"] == "cache sweep"


def test_no_permission(in_rubbish, tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may read and write everything")
    (tmp_path / "secret.bin").write_bytes(bytes(1000))
    (tmp_path / "secret.bin").chmod(0)
    (tmp_path / "folder").chmod(0o500)
    for arguments, expected in (
        (("trace", "secret.bin"), 3),
        ((*TRACE, "-o", "folder/a.npy"), 2),
        ((*SWEEP, "-o", "folder/x.csv"), 2),
    ):
        code, out, err = in_rubbish(*arguments)
        assert (code, out) == (expected, "") and "(errno 13)" in err.splitlines()[-1]


def test_out_of_space_is_one_line(in_rubbish, monkeypatch, tmp_path):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("flashsim.files.NpyWriter.write", full)
    before = contents(tmp_path)
    code, out, err = in_rubbish(*TRACE, "--eot", "0")
    assert (code, out, err) == (
        1,
        "",
        "flashsim: error: traces/corpus.pagegram-S4-1M.npy: No space left on device (errno 28)\n",
    )
    assert contents(tmp_path) == before


def test_out_of_memory_is_one_line(in_rubbish, monkeypatch):
    def full(*_, **__):
        raise MemoryError("64 GiB")

    monkeypatch.setattr("flashsim.studies.cache_sweep.run_cell", full)
    code, out, err = in_rubbish(*SWEEP)
    assert (code, out) == (1, "") and err.startswith("flashsim: error: out of memory (64 GiB): take")
