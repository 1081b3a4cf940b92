""".npy: one dimension of integers, of any width and byte order; all else is refused before it is mapped."""

import numpy as np
import pytest

from flashsim.errors import DataError
from flashsim.tokens import open_tokens

IDS = np.arange(300, 400)


def saved(path, array, **kwargs):
    with open(path, "wb") as file:  # numpy.save would add an ending
        np.save(file, array, **kwargs)
    return path


@pytest.mark.parametrize("dtype", ["<u2", "<u4", "<i2", "<i4", "<i8", "<u8", ">u2", ">i4"])
@pytest.mark.parametrize("count", [1, 2, 100])
def test_every_integer_dtype(tmp_path, dtype, count):
    path = saved(tmp_path / "a.bin", IDS[:count].astype(dtype))  # the ending says nothing
    for form in (None, "npy"):
        stream = open_tokens(path, format=form)
        assert stream.format == "npy" and stream.ids.dtype == dtype
        (chunk,) = stream.chunks(0)
        assert chunk.ids.dtype == np.uint32 and np.array_equal(chunk.ids, IDS[:count])


def test_uint8_and_format_2(tmp_path):
    path = tmp_path / "a.npy"
    with open(path, "wb") as file:
        np.lib.format.write_array(file, np.arange(9, dtype=np.uint8), version=(2, 0))
    assert open_tokens(path).ids.tolist() == list(range(9))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((3, 4), np.uint16), r"shape \(3, 4\) in C order, 1-D"),
        (np.zeros((3, 4), np.uint16, order="F"), r"shape \(3, 4\) in Fortran order, 1-D"),
        (np.uint16(3), r"shape \(\) in C order"),
        (np.zeros(9, np.float32), "dtype float32, 1-D integers"),
        (np.zeros(9, bool), "dtype bool"),
        (np.zeros(9, "M8[s]"), "dtype datetime64"),
        (np.array([1, "a", None], object), "dtype object"),
        (np.zeros(9, [("a", "<u2")]), "dtype .*'a'"),
        (np.zeros(0, np.uint16), "0 tokens behind its npy header"),
    ],
)
def test_other_arrays(tmp_path, array, message):
    with pytest.raises(DataError, match=message):
        open_tokens(saved(tmp_path / "a.npy", array, allow_pickle=True))


@pytest.mark.parametrize(
    ("kept", "message"),
    [
        (slice(None, -3), "truncated: 325 of 328 bytes .the header and 100 uint16 items"),
        (slice(None, 60), "broken .npy header in its 60 bytes"),
        (slice(None, 7), "broken .npy header in its 7 bytes"),
    ],
)
def test_truncated(tmp_path, kept, message):
    path = saved(tmp_path / "a.npy", IDS.astype(np.uint16))
    path.write_bytes(path.read_bytes()[kept])
    with pytest.raises(DataError, match=message):
        open_tokens(path)


def test_bytes_over(tmp_path):
    path = saved(tmp_path / "a.npy", IDS.astype(np.uint16))
    path.write_bytes(path.read_bytes() + b"abcde")
    with pytest.raises(DataError, match="5 bytes over"):
        open_tokens(path)


@pytest.mark.parametrize("header", [b"{'descr': '<u2'}", b"{" * 200, b"\xff\xfe", b"{'descr': 7, 'fortran_order': 0}"])
def test_broken_header(tmp_path, header):
    path = tmp_path / "a.npy"
    header = header.ljust(117) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(100))
    with pytest.raises(DataError, match=r"broken .npy header"):
        open_tokens(path)


def test_fortran_order(tmp_path):
    path = tmp_path / "a.npy"
    header = b"{'descr': '<u2', 'fortran_order': True, 'shape': (50,), }".ljust(117) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(100))
    with pytest.raises(DataError, match=r"shape \(50,\) in Fortran order, 1-D"):
        open_tokens(path)


def test_unknown_version(tmp_path):
    path = tmp_path / "a.npy"
    path.write_bytes(b"\x93NUMPY\x09\x00" + bytes(120))
    with pytest.raises(DataError, match=r"version 9\.0, expected 1\.0 or 2\.0"):
        open_tokens(path)


def test_npy_cannot_be_forced_on_raw_ids(tmp_path):
    path = tmp_path / "a.bin"
    IDS.astype("uint16").tofile(path)
    with pytest.raises(DataError, match=r"no .npy header: it begins with .*numpy.save"):
        open_tokens(path, format="npy")


def test_npy_is_never_doubted_but_cannot_be_renamed(tmp_path):
    ids = np.tile(np.array([1000, 5], np.uint16), 50)  # the shape of uint32 ids
    path = saved(tmp_path / "a.npy", ids)
    assert np.array_equal(open_tokens(path, dtype="uint16").ids, ids)
    with pytest.raises(DataError, match="npy header says uint16, --dtype uint32: drop --dtype"):
        open_tokens(path, dtype="uint32")
