"""Traces of other tools: what is written is what is read, and what the tools themselves read."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashsim.cache.lru import lru_misses
from flashsim.errors import DataError, UsageError
from flashsim.interop import KINDS, WRITERS, check_export, export, export_path, fio, oracle_general, read_trace, text

TRACES = st.lists(st.one_of(st.integers(0, 9), st.integers(0, 300_000)), min_size=1, max_size=300)


def next_uses(ids) -> list[int]:
    """Positions of the next uses, from 1; -1 where there is none."""
    return [next((at + 1 for at in range(t + 1, len(ids)) if ids[at] == ids[t]), -1) for t in range(len(ids))]


@pytest.fixture(autouse=True)
def small_steps(monkeypatch):
    """Steps that even these traces take several of."""
    for module in (oracle_general, fio, text):
        monkeypatch.setattr(module, "_STEP", 7)
    monkeypatch.setattr("flashsim.interop._STEP", 7)
    monkeypatch.setattr(text, "_STEP_BYTES", 11)


@pytest.mark.parametrize("packed", ["", ".zst"])
@pytest.mark.parametrize("format", ["oracleGeneral", "text"])
@given(ids=TRACES)
@settings(max_examples=40)
def test_what_is_written_is_read(tmp_path_factory, format, packed, ids):
    path, told = tmp_path_factory.mktemp("t") / f"trace{packed}", []
    export(path, format, np.array(ids, np.uint32), max(ids) + 1, progress=told.append)
    read = read_trace(path)  # told by its content
    first = 1 if format == "oracleGeneral" else 0
    assert read.format == format and (read.ids - first).tolist() == ids and not read.notes
    assert sum(told) == len(ids) and max(told) <= 7
    assert read.object_bytes == (1 if format == "oracleGeneral" else None)
    assert read_trace(path, format).ids.tolist() == read.ids.tolist()


@given(ids=TRACES)
@settings(max_examples=40)
def test_oracle_general_records(tmp_path_factory, ids):
    path = tmp_path_factory.mktemp("t") / "trace"
    export(path, "oracleGeneral", np.array(ids, np.uint32), max(ids) + 1)
    records = np.fromfile(path, oracle_general.RECORD)
    assert oracle_general.RECORD.itemsize == 24 and path.stat().st_size == 24 * len(ids)
    assert records["time"].tolist() == list(range(len(ids))) and set(records["size"]) == {1}
    assert records["next"].tolist() == next_uses(ids)


@pytest.mark.parametrize("packed", ["", ".zst"])
@given(ids=TRACES, page_bytes=st.sampled_from([512, 4096, 1 << 30]))
@settings(max_examples=20)
def test_fio_offsets(tmp_path_factory, packed, ids, page_bytes):
    path = tmp_path_factory.mktemp("t") / f"trace.iolog{packed}"
    export(path, "fio", np.array(ids, np.uint32), max(ids) + 1, page_bytes, "drive")
    if packed:
        import zstandard

        content = zstandard.ZstdDecompressor().stream_reader(path.read_bytes()).read().decode()
    else:
        content = path.read_text()
    assert content.endswith("\n")
    lines = content.splitlines()
    assert lines[:3] == ["fio version 3 iolog", "0 drive add", "0 drive open"] and lines[-1] == "0 drive close"
    assert lines[3:-1] == [f"0 drive read {page * page_bytes} {page_bytes}" for page in ids]


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, ">i4", np.uint64])
def test_npy_of_any_integers(tmp_path, dtype):
    np.save(tmp_path / "a.npy", np.array([5, 0, 120, 5], dtype))
    read = read_trace(tmp_path / "a.npy")
    assert (read.format, read.ids.tolist(), read.object_bytes) == ("npy", [5, 0, 120, 5], None)


def test_the_kernel_is_given_pieces_of_one_trace(tmp_path, monkeypatch):
    ids = np.random.default_rng(0).integers(0, 50, 400).astype(np.uint32)
    assert oracle_general.next_uses(ids, 50).tolist() == [at - 1 if at > 0 else 2**32 - 1 for at in next_uses(ids)]
    monkeypatch.setattr(oracle_general, "REFERENCES_MAX", 399)
    with pytest.raises(UsageError, match="400 references are over 399"):
        export(tmp_path / "a", "oracleGeneral", ids, 50)
    assert list(tmp_path.iterdir()) == []


def test_names():
    assert export_path("a/t.pagegram-S4.npy", "oracleGeneral.bin.zst") == Path("a/t.pagegram-S4.oracleGeneral.bin.zst")
    assert [export_path("t.npy", kind).name for kind in ("text", "fio", "iolog.zst", "oracleGeneral")] == [
        "t.txt", "t.iolog", "t.iolog.zst", "t.oracleGeneral",
    ]  # fmt: skip
    assert set(WRITERS) == {"oracleGeneral", "text", "fio"} < set(KINDS)
    for kind in ("csv", "", ".zst", "npy", "text.bin", "text.zst.zst", "oraclegeneral"):
        with pytest.raises(UsageError, match="none of the 6 kinds"):
            export_path("t.npy", kind)
    with pytest.raises(UsageError, match=r"end in \.npy"):
        export_path("t", "text")


def test_what_cannot_be_exported(tmp_path):
    ids = np.array([3, 1, 2], np.uint32)
    with pytest.raises(DataError, match="id 0 is 3, all should be below 3"):
        export(tmp_path / "a", "text", ids, 3)
    with pytest.raises(UsageError, match="none of the 3 formats"):
        export(tmp_path / "a", "npy", ids, 4)
    for target in ("", "a b", "a\n", "x" * 256):
        with pytest.raises(UsageError, match="1 to 255 bytes"):
            check_export("fio", "page", target)
    with pytest.raises(UsageError, match="1 page"):
        check_export("fio.zst", "row")
    check_export("fio", "page", "/dev/nvme0n1")
    check_export("text", "row")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a.oracleGeneral.bin", "a.oracleGeneral.zst"])
def test_libcachesim_reads_it_and_misses_as_often(tmp_path, name):
    libcachesim = pytest.importorskip("libcachesim")
    ids = (np.random.default_rng(1).zipf(1.2, 20_000) % 3000).astype(np.uint32)
    export(tmp_path / name, "oracleGeneral", ids, 3000)
    read, capacities = read_trace(tmp_path / name), (10, 100, 1000)
    theirs = []
    for capacity in capacities:
        reader = libcachesim.TraceReader(str(tmp_path / name), libcachesim.TraceType.ORACLE_GENERAL_TRACE)
        ratio, _ = libcachesim.LRU(cache_size=capacity).process_trace(reader)
        theirs.append(round(ratio * len(ids)))
    assert lru_misses(read.ids, capacities).tolist() == theirs
