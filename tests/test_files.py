"""Files: all or nothing, ``.npy`` in pieces, and the JSON beside a result."""

import errno
import hashlib
import io
import json
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashsim.errors import UsageError
from flashsim.files import (
    NpyWriter,
    check_result,
    facts_path,
    parse_json,
    refuse_inputs,
    replacing,
    require_writable,
    same_name,
    sha256_of,
    write_facts,
    write_text,
)


def everything_in(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_replaces_at_the_end_and_not_before(tmp_path):
    path = tmp_path / "new" / "folder" / "a.bin"
    with replacing(path) as file:
        file.write(b"first")
        assert not path.exists()
    with replacing(path) as file:
        file.write(b"second")
        file.flush()
        assert path.read_bytes() == b"first"
    assert path.read_bytes() == b"second"
    assert everything_in(tmp_path) == ["new", "new/folder", "new/folder/a.bin"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("folder", [".", "new/folder"])
def test_an_exception_leaves_what_was_there(tmp_path, error, folder):
    old = tmp_path / "old.bin"
    old.write_bytes(b"old")
    for path in (old, tmp_path / folder / "none.bin"):
        with pytest.raises(error), replacing(path) as file:
            file.write(b"half")
            raise error
    assert everything_in(tmp_path) == ["old.bin"] and old.read_bytes() == b"old"


def test_a_new_folder_with_somebody_elses_file_stays(tmp_path):
    with pytest.raises(ValueError), replacing(tmp_path / "new" / "a.bin"):
        (tmp_path / "new" / "other").touch()
        raise ValueError
    assert everything_in(tmp_path) == ["new", "new/other"]


def test_files_get_the_permissions_that_the_umask_leaves(tmp_path):
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "a", "text")
        assert os.umask(0o027) == 0o027  # as it was
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


def test_where_nothing_can_be_written(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path, tmp_path / "file" / "a", "/proc/a.npy", "/proc/new/a.npy", tmp_path / ("n" * 300)):
        for attempt in (require_writable, lambda path: write_text(path, "text")):
            with pytest.raises(UsageError, match=r"\d"):
                attempt(path)
    assert everything_in(tmp_path) == ["file"]


def test_trying_leaves_no_trace(tmp_path):
    write_text(tmp_path / "old", "text")
    require_writable(tmp_path / "old")
    require_writable(tmp_path / "new" / "a")
    assert everything_in(tmp_path) == ["old"] and (tmp_path / "old").read_text() == "text"


@settings(max_examples=50)
@given(
    st.lists(st.integers(0, 200), max_size=6),
    st.sampled_from([np.uint8, np.uint16, np.uint32, np.int64, np.float64]),
)
def test_npy_pieces_are_one_numpy_file(lengths, dtype):
    parts = [np.arange(length).astype(dtype) for length in lengths]
    written, saved = io.BytesIO(), io.BytesIO()
    writer = NpyWriter(written, dtype)
    for part in parts:
        writer.write(part)
    writer.close()
    np.save(saved, np.concatenate([np.empty(0, dtype), *parts]))
    assert written.tell() == len(written.getvalue())
    assert written.getvalue() == saved.getvalue()
    assert writer.count == sum(lengths)


@pytest.mark.parametrize("count", [0, 3_000_001])
def test_npy_is_mapped(tmp_path, count):
    with replacing(tmp_path / "a.npy") as file:
        writer = NpyWriter(file, np.uint32)
        for first in range(0, count, 1_000_000):
            writer.write(np.arange(first, min(first + 1_000_000, count), dtype=np.uint32))
        writer.close()
    assert np.array_equal(np.load(tmp_path / "a.npy"), np.arange(count))
    if count:
        assert np.load(tmp_path / "a.npy", mmap_mode="r").offset % 64 == 0


def test_npy_takes_a_slice_and_refuses_another_dtype():
    file = io.BytesIO()
    writer = NpyWriter(file, np.uint32)
    writer.write(np.arange(10, dtype=np.uint32)[::3])
    for wrong in (np.arange(3), np.zeros((2, 2), np.uint32)):
        with pytest.raises(TypeError, match="1-D uint32"):
            writer.write(wrong)
    writer.close()
    file.seek(0)
    assert np.load(file).tolist() == [0, 3, 6, 9]


def test_sha256(tmp_path):
    (tmp_path / "a").write_bytes(b"x" * 100_000)
    assert sha256_of(tmp_path / "a") == hashlib.sha256(b"x" * 100_000).hexdigest()


def test_facts_say_how_the_result_was_made(tmp_path):
    path = write_facts(tmp_path / "a.b.csv", {"kind": "test", "name": "Öl", "count": 3})
    assert path == tmp_path / "a.b.json" and "Öl" in path.read_text()
    facts = json.loads(path.read_text())
    run = facts.pop("run")
    assert facts == {"kind": "test", "name": "Öl", "count": 3}
    assert set(run) == {"flashsim", "argv", "python", "numpy", "kernel", "cpu", "cores", "written"}
    assert run["numpy"] == np.__version__ and run["cores"] == os.cpu_count() and all(run.values())


def test_json_that_is_none():
    assert parse_json('{"a": [1, null]}') == parse_json(b'{"a": [1, null]}') == {"a": [1, None]}
    for text in ("", "{", b"\xff", "9" * 5000, "[" * 100_000, '{"a":' * 100_000):
        with pytest.raises(ValueError) as caught:
            parse_json(text)
        assert "\n" not in str(caught.value)


def test_a_json_of_something_else_is_never_replaced(tmp_path):
    write_facts(tmp_path / "a.csv", {"kind": "test", "count": 1})
    write_facts(tmp_path / "a.csv", {"kind": "test", "count": 2})
    assert json.loads((tmp_path / "a.json").read_text())["count"] == 2
    for text in ('{"kind": "trace"}', '{"eot": 0}', "[1]", "broken {", "", "[" * 100_000):
        (tmp_path / "a.json").write_text(text)
        with pytest.raises(UsageError, match="belongs to another file"):
            facts_path(tmp_path / "a.csv", "test")
        with pytest.raises(UsageError, match="belongs to another file"):
            write_facts(tmp_path / "a.csv", {"kind": "test"})
        assert (tmp_path / "a.json").read_text() == text


def test_a_file_name_that_is_not_utf8(tmp_path):
    name = os.fsdecode(b"caf\xe9.bin")
    path = write_facts(tmp_path / "a.csv", {"path": name})
    assert json.loads(path.read_bytes())["path"] == name


def test_a_device_or_pipe_is_not_replaced_and_a_link_stays_one(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="device or pipe"), replacing(tmp_path / "pipe"):
        pass
    assert (tmp_path / "pipe").is_fifo()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_text(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == "text"


def test_a_link_that_leads_back_to_itself_is_refused(tmp_path):
    (tmp_path / "a").symlink_to("b.csv")
    (tmp_path / "b.csv").symlink_to("a")
    (tmp_path / "read").touch()
    for attempt in (require_writable, lambda path: check_result(path, "test", [tmp_path / "read"])):
        with pytest.raises(UsageError, match=r"1 link that leads back to itself: remove it, or"):
            attempt(tmp_path / "b.csv")
    assert same_name(tmp_path / "a", tmp_path / "a") and not same_name(tmp_path / "a", tmp_path / "read")
    assert (tmp_path / "b.csv").is_symlink() and everything_in(tmp_path) == ["a", "b.csv", "read"]


def test_a_full_disk_is_told_with_the_file_that_did_not_fit(tmp_path):
    full = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(OSError) as caught, replacing(tmp_path / "a.png"):
        raise full
    assert caught.value is full and full.filename == str(tmp_path / "a.png") and everything_in(tmp_path) == []
    with pytest.raises(OSError) as caught, replacing(tmp_path / "a.png"):
        raise OSError(errno.EIO, "Input/output error")  # maybe of something that is read
    assert caught.value.filename is None


def test_inputs_are_not_outputs(tmp_path):
    (tmp_path / "a").write_text("")
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    refuse_inputs([tmp_path / "new"], [tmp_path / "a", None, tmp_path / "missing"])
    with pytest.raises(UsageError, match="is 1 of the files that are read"):
        refuse_inputs([tmp_path / "b"], [tmp_path / "a"])
    (tmp_path / "c.bin.zst").touch()
    refuse_inputs([tmp_path / "b.json"], [tmp_path / "c.bin.zst"])
    with pytest.raises(UsageError, match=r"c\.json belongs to another file, .*c\.bin\.zst .*choose another name"):
        refuse_inputs([tmp_path / "c.json"], [tmp_path / "c.bin.zst"])


def test_what_a_killed_run_left_goes_when_the_file_is_written_next(tmp_path):
    left = tmp_path / ".a[1].svg.abc_1234.tmp"
    others = [tmp_path / name for name in (".b.svg.abc_1234.tmp", ".a[1].svg.tmp", "a[1].svg.abc_1234.tmp")]
    for path in (left, *others):
        path.touch()
    write_text(tmp_path / "a[1].svg", "new")
    assert not left.exists() and all(path.exists() for path in others)


def test_a_file_that_is_being_written_is_not_what_a_killed_run_left(tmp_path):
    with replacing(tmp_path / "a") as file:
        write_text(tmp_path / "a", "other")
        file.write(b"mine")
    assert (tmp_path / "a").read_bytes() == b"mine" and everything_in(tmp_path) == ["a"]
