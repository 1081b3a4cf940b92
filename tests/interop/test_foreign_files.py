"""Files that others made: what is understood, and what is refused in one line that says where."""

import numpy as np
import pytest

from flashsim.errors import DataError, UsageError
from flashsim.interop import oracle_general, read_trace, text


@pytest.fixture
def held(tmp_path):
    """Writes content, text or bytes, to a file; returns its path."""

    def write(content, name="trace"):
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path / name

    return write


def records(objects, times=None, sizes=1, following=-1) -> np.ndarray:
    made = np.zeros(len(objects), oracle_general.RECORD)
    made["object"], made["size"], made["next"] = objects, sizes, following
    made["time"] = np.arange(len(objects)) if times is None else times
    return made


@pytest.mark.parametrize(
    ("content", "ids", "object_bytes"),
    [
        ("3\n1\n3", [3, 1, 3], None),
        ("3\r\n1\r\n3\r\n", [3, 1, 3], None),
        ("\ufeff3\n1\n", [3, 1], None),
        (" 3 \n007\n9223372036854775807\n", [3, 7, 2**63 - 1], None),
        ("page\n5\n", [5], None),
        ("page,op\n5,read\n6,write\n", [5, 6], None),
        ('time;obj_id;"obj_size"\n0;5;4096\n0;"6";4096\n', [5, 6], 4096),
        ('Name\tLBA\n"a\tb"\t5\nc_d\t6\n', [5, 6], None),
        ("id,page\n1,5\n", [5], None),
    ],
)
def test_text(held, content, ids, object_bytes, monkeypatch):
    for step in (3, 1 << 22):
        monkeypatch.setattr(text, "_STEP_BYTES", step)
        read = read_trace(held(content))
        assert (read.format, read.ids.tolist(), read.object_bytes, read.notes) == ("text", ids, object_bytes, ())


TEXT = [
    ("", "0 bytes: give"), ("page\n", "0 references"), ("page,size\n", "0 references"),
    ("5\n\n6\n", "line 2 has '' where"), ("5\nsix\n", "line 2 has 'six' where"), ("five\n", "line 1 has 'five' where"),
    ("5\n-6\n", "line 2 has '-6'"), ("5\n6.0\n", "line 2 has '6.0'"), ("5\n1_0\n", "line 2 has '1_0'"),
    ("5\n+6\n", r"line 2 has '\+6'"), ("5\n9223372036854775808\n", "line 2 has '9223372036854775808'"),
    ("5\n" + "9" * 5000, "line 2 has '9{40}...'"), ("5\n0x10\n", "line 2 has '0x10'"), ("5 6\n", "line 1 has '5 6'"),
    ("5,6\n7,8\n", "line 1 has 2 columns, none named page"), ("a,b\n7,8\n", "line 1 has 2 columns, none named page"),
    ("page,op\n5\n", "line 2 has 1 column or"), ("page,op\n5,r\n6,r,r\n", "line 3 has 3 columns"),
    ("page,op\n5,r\n\n", "line 3 has 0 columns"), ('page,op\n5,"r\n6,r\n', "line 2 has 2 columns or open quotes"),
    ("page,op\n5,r\nx,r\n", "line 3 has 'x'"), ("page,size\n5,1\n6,2\n", "line 3 has 2 bytes, the first 1"),
    ("page,size\n5,0\n", "line 2 has 0 bytes"), ("page,size\n5,x\n", "line 2 has 'x' where a size"),
    ("page,op\n5," + "x" * 200_000, "not CSV"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "message"), TEXT, ids=[message for _, message in TEXT])
def test_bad_text(held, content, message):
    with pytest.raises(DataError, match=message) as caught:
        read_trace(held(content))
    assert "\n" not in str(caught.value)


def test_bad_text_in_a_later_step(held, monkeypatch):
    monkeypatch.setattr(text, "_STEP_BYTES", 1 << 10)
    lines = [str(number) for number in range(5000)]
    assert read_trace(held("\n".join(lines))).ids.tolist() == list(range(5000))
    lines[4321] = "٣"
    with pytest.raises(DataError, match="line 4322 has"):
        read_trace(held("\n".join(lines)), "text")
    with pytest.raises(DataError, match="line 1 is over 65536 bytes"):
        read_trace(held("1" * 100_000))


def test_sizes_ignored(held):
    read = read_trace(held("page,size\n5,1\n6,2\n"), ignore_size=True)
    assert read.ids.tolist() == [5, 6] and read.object_bytes is None and len(read.notes) == 1
    read = read_trace(held(records([5, 6, 7], sizes=[1, 0, 4096]).tobytes()), ignore_size=True)
    assert read.ids.tolist() == [5, 6, 7] and read.notes == ("objects of 0 to 4096 bytes, each counted as 1 page",)


def test_oracle_general_of_others(held):
    """Equal times, big hashes as objects, both marks of "never", sizes of a page."""
    made = records([2**64 - 1, 5, 2**64 - 1], times=[7, 7, 9], sizes=4096, following=[3, 2**63 - 1, -1])
    read = read_trace(held(made.tobytes()))
    assert (read.format, read.ids.tolist(), read.object_bytes) == ("oracleGeneral", made["object"].tolist(), 4096)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (records([1, 2, 3]).tobytes()[:-1], "71 bytes are 2 records of 24 and 23 over: truncated"),
        (records(np.arange(500), times=[*range(499), 3]).tobytes(), "record 499 is of time 3, after a later one"),
        (records([1, 2], sizes=[1, 2]).tobytes(), "record 1 has 2 bytes, record 0 1,"),
        (records([1, 2], sizes=[1, 0]).tobytes(), "record 1 has 0 bytes"),
        (np.random.default_rng(0).bytes(240), "none of the 3 formats"),
        (bytes(240), "none of the 3 formats"),
        (np.arange(500, dtype=np.uint32)[::-1].tobytes(), "none of the 3 formats"),
    ],
)
def test_bad_oracle_general(held, made, message, monkeypatch):
    monkeypatch.setattr(oracle_general, "_STEP", 3)
    with pytest.raises(DataError, match=message):
        read_trace(held(made))


def test_bad_npy(tmp_path):
    for array, message in (
        (np.array([1, 2, -3]), "id 2 is -3, below 0"), (np.zeros((2, 2), int), "shape"), (np.zeros(3), "dtype"),
        (np.zeros(0, int), "0 references"), (np.array([True]), "dtype"),
    ):  # fmt: skip
        np.save(tmp_path / "a.npy", array)
        with pytest.raises(DataError, match=message):
            read_trace(tmp_path / "a.npy")
    np.save(tmp_path / "a.npy", np.arange(100))
    (tmp_path / "a.npy").write_bytes((tmp_path / "a.npy").read_bytes()[:-5])
    with pytest.raises(DataError, match="truncated"):
        read_trace(tmp_path / "a.npy")


@pytest.mark.parametrize(
    ("format", "message"),
    [("npy", "no .npy header"), ("oracleGeneral", "truncated|after a later one|bytes"), ("text", "line 1 has")],
)
def test_a_wrong_format_is_refused(held, format, message):
    content = "12\n7\n9\n" * 30 if format != "text" else records(np.arange(60)).tobytes()
    with pytest.raises(DataError, match=message):
        read_trace(held(content), format)


def test_bad_zst(held):
    import zstandard

    packed = zstandard.compress(b"".join(b"%d\n" % (number * number) for number in range(9000)))
    assert len(read_trace(held(packed)).ids) == 9000
    broken = packed[:300] + bytes(40) + packed[340:]
    for content, name, message in (
        (packed[:-9], "a", "truncated .zst"), (b"12\n", "a.zst", "named .zst"),
        (zstandard.compress(b""), "a", "0 bytes"), (broken, "a", "corrupt .zst|line "),
    ):  # fmt: skip
        with pytest.raises(DataError, match=message):
            read_trace(held(content, name))


def test_bad_names(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        read_trace(tmp_path / "none")
    with pytest.raises(DataError, match="is a folder"):
        read_trace(tmp_path)
    with pytest.raises(UsageError, match="none of the 3 formats"):
        read_trace(tmp_path, "fio")


def test_no_room_for_the_ids_of_a_text(held, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with pytest.raises(UsageError, match="TMPDIR"):
        read_trace(held("1\n2\n"))
