"""llm.c headers: magic, version and count x width have to agree with the size before a token is read."""

import numpy as np
import pytest

from flashsim.errors import DataError
from flashsim.tokens import open_tokens

IDS = np.arange(300, 400)


def written(path, ids=IDS, magic=20240520, version=1, count=None, dtype="uint16"):
    header = np.zeros(256, "<i4")
    header[:3] = magic, version, len(ids) if count is None else count
    path.write_bytes(header.tobytes() + np.asarray(ids, dtype).tobytes())
    return path


@pytest.mark.parametrize(("magic", "version", "dtype"), [(20240520, 1, "uint16"), (20240801, 7, "uint32")])
@pytest.mark.parametrize("count", [1, 2, 100])
def test_both_kinds(tmp_path, magic, version, dtype, count):
    path = written(tmp_path / "whatever.npy", IDS[:count], magic, version, dtype=dtype)  # the ending says nothing
    for form in (None, "llmc"):
        stream = open_tokens(path, format=form)
        assert stream.format == "llmc" and stream.ids.dtype == dtype and stream.notes == ()
        assert np.array_equal(stream.ids, IDS[:count])


@pytest.mark.parametrize(
    ("count", "message"),
    [
        (101, "truncated: 1224 of 1226 bytes"),
        (2**31, "truncated: 1224 of 4294968320 bytes"),  # unsigned, not a negative count
        (99, "2 bytes over: the header and 99 uint16 tokens end at byte 1222"),
        (0, "200 bytes over"),
    ],
)
def test_count_that_the_file_does_not_hold(tmp_path, count, message):
    if count == 2**31:
        count = -(2**31)
    with pytest.raises(DataError, match=message):
        open_tokens(written(tmp_path / "a.bin", count=count))


@pytest.mark.parametrize(
    ("magic", "version", "dtype", "likely"),
    [
        (20240520, 1, "uint8", "1 bytes each, likely uint8"),
        (20240520, 1, "uint32", "4 bytes each, likely uint32"),
        (20240801, 7, "uint16", "2 bytes each, likely uint16"),
    ],
)
def test_same_magic_with_another_width_is_named(tmp_path, magic, version, dtype, likely):
    path = written(tmp_path / "a.bin", IDS % 256, magic, version, dtype=dtype)
    with pytest.raises(DataError, match=rf"100 tokens in \d+ bytes are {likely}.*\.npy"):
        open_tokens(path)


def test_unknown_version(tmp_path):
    with pytest.raises(DataError, match="magic 20240520 has version 3, expected 1"):
        open_tokens(written(tmp_path / "a.bin", version=3))


def test_header_cut_short(tmp_path):
    path = written(tmp_path / "a.bin")
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(DataError, match="truncated: 500 of 1024 header bytes"):
        open_tokens(path)


def test_header_without_tokens(tmp_path):
    with pytest.raises(DataError, match="0 tokens behind its llmc header"):
        open_tokens(written(tmp_path / "a.bin", ids=[]))


def test_raw_cannot_be_forced_on_a_header(tmp_path):
    with pytest.raises(DataError, match=r"begins with the header of llmc.*512 of them.*drop --format"):
        open_tokens(written(tmp_path / "a.bin"), format="raw", dtype="uint16")


def test_llmc_cannot_be_forced_on_raw_ids(tmp_path):
    path = tmp_path / "a.bin"
    for ids in (IDS, IDS[:1]):
        ids.astype("uint16").tofile(path)
        with pytest.raises(DataError, match=r"no llm.c header: it begins with .*--format raw"):
            open_tokens(path, format="llmc")


def test_another_dtype_than_the_headers_is_refused(tmp_path):
    path = written(tmp_path / "a.bin")
    assert len(open_tokens(path, dtype="uint16")) == 100
    with pytest.raises(DataError, match="llmc header says uint16, --dtype uint32: drop --dtype"):
        open_tokens(path, dtype="uint32")


def test_count_and_offsets_over_31_bits(tmp_path):
    tokens = 2**31 + 5
    path = written(tmp_path / "a.bin", ids=[], count=tokens - 2**32)  # as int32 it is negative
    with open(path, "r+b") as file:
        file.truncate(1024 + 2 * tokens)
        file.seek(-4, 2)
        file.write(np.array([21, 22], "uint16").tobytes())
    stream = open_tokens(path)
    assert len(stream) == tokens and stream.ids[-2:].tolist() == [21, 22]
