"""Raw ids: the width is told by content, recorded, and never guessed where the content does not tell."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashsim.errors import DataError, UsageError
from flashsim.tokens import open_tokens

RNG = np.random.default_rng(1)
TEXT_LIKE = (60_000 * RNG.random(5000) ** 3).astype(np.uint32)  # skewed towards small ids, as text is
LARGE_IDS = (129_000 * RNG.random(5000) ** 3).astype(np.uint32)


def written(path, ids, dtype):
    np.asarray(ids, dtype).tofile(path)
    return path


@pytest.mark.parametrize("dtype", ["uint16", "uint32"])
def test_width_is_told_by_content_and_recorded(tmp_path, dtype):
    stream = open_tokens(written(tmp_path / "a.bin", TEXT_LIKE, dtype))
    assert stream.format == "raw" and stream.ids.dtype == dtype
    assert np.array_equal(stream.ids, TEXT_LIKE)
    assert stream.notes == (f"a.bin: read as raw {dtype}, told by its content",)


def test_forced_dtype_needs_no_note(tmp_path):
    stream = open_tokens(written(tmp_path / "a.bin", TEXT_LIKE, "uint16"), dtype="uint16")
    assert np.array_equal(stream.ids, TEXT_LIKE) and stream.notes == ()


def test_ids_over_16_bits_are_seen_as_uint32(tmp_path):
    assert np.array_equal(open_tokens(written(tmp_path / "a.bin", LARGE_IDS, "uint32")).ids, LARGE_IDS)


@pytest.mark.parametrize(("held", "wrong"), [("uint16", "uint32"), ("uint32", "uint16")])
def test_dtype_against_the_content_is_refused_with_the_other(tmp_path, held, wrong):
    path = written(tmp_path / "a.bin", TEXT_LIKE, held)
    with pytest.raises(DataError, match=rf"--dtype {wrong} is against.*Pass --dtype {held}.*\.npy, .*never doubted"):
        open_tokens(path, dtype=wrong)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("dtype", ["uint16", "uint32"])
def test_padding_does_not_hide_the_width(tmp_path, dtype, share):
    ids = np.where(RNG.random(5000) < share, 0, 20 + TEXT_LIKE)
    assert open_tokens(written(tmp_path / "a.bin", ids, dtype)).ids.dtype == dtype


@given(st.lists(st.integers(0, 2**20 - 1), min_size=1, max_size=200), st.sampled_from(["uint16", "uint32"]))
@settings(max_examples=200)
def test_a_told_width_is_the_right_one_or_none(tmp_path_factory, ids, dtype):
    ids = [token % 2**16 for token in ids] if dtype == "uint16" else ids
    path = written(tmp_path_factory.mktemp("raw") / "a.bin", ids, dtype)
    try:
        stream = open_tokens(path, format="raw")
    except DataError as error:
        assert "cannot tell" in str(error) and "--dtype" in str(error)
        assert np.array_equal(open_tokens(path, format="raw", dtype=dtype).ids, ids)
        return
    if stream.ids.dtype != dtype:  # only uint16 ids that are tiny at nearly every second place can mislead
        large = sum(16 <= token < 0xFFFF for token in ids[1::2])
        assert dtype == "uint16" and len(ids) >= 16 and large <= 0.1 * len(ids) / 2


@pytest.mark.parametrize(
    ("ids", "dtype"), [([7], "uint16"), ([7, 9], "uint16"), ([70_000], "uint32"), ([70_000, 1], "uint32")]
)
def test_one_and_two_tokens(tmp_path, ids, dtype):
    stream = open_tokens(written(tmp_path / "a.bin", ids, dtype), dtype=dtype)
    assert [chunk.ids.tolist() for chunk in stream.chunks(2)] == [ids]


def test_few_words_or_only_zeros_do_not_tell(tmp_path):
    with pytest.raises(DataError, match="cannot tell 2 uint16 from 1 uint32 ids: pass --dtype"):
        open_tokens(written(tmp_path / "a.bin", [1000, 2], "uint16"))
    with pytest.raises(DataError, match="cannot tell 400 uint16 from 200 uint32"):
        open_tokens(written(tmp_path / "b.bin", np.zeros(200), "uint32"))


def test_the_vocabulary_decides_where_the_content_does_not(tmp_path):
    path = written(tmp_path / "a.bin", [1000, 2], "uint16")
    assert open_tokens(path, vocab_size=2000).ids.tolist() == [1000, 2]
    path = written(tmp_path / "b.bin", [60_000], "uint32")
    with pytest.raises(DataError, match="cannot tell"):  # both readings are inside
        open_tokens(path, vocab_size=65_000)


@pytest.mark.parametrize(
    ("dtype", "cut", "message"),
    [
        ("uint16", 1, "truncated: 9999 of 10000 bytes .5000 uint16 tokens"),
        ("uint32", 2, "truncated: 19998 of 20000 bytes .5000 uint32 tokens"),
        ("uint32", 1, "truncated: 19999 of 20000 bytes .5000 uint32 tokens"),
    ],
)
def test_half_a_token_at_the_end(tmp_path, dtype, cut, message):
    path = tmp_path / "a.bin"
    path.write_bytes(TEXT_LIKE.astype(dtype).tobytes()[:-cut])
    with pytest.raises(DataError, match=message):
        open_tokens(path)


def test_one_byte_is_no_token(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"\x07")
    with pytest.raises(DataError, match="truncated: 1 of 2 bytes"):
        open_tokens(path)


def test_eight_byte_ids_are_named(tmp_path):
    path = written(tmp_path / "a.bin", TEXT_LIKE, "int64")
    for dtype in (None, "uint16", "uint32"):
        with pytest.raises(DataError, match=r"8-byte ids.*\.npy"):
            open_tokens(path, dtype=dtype)


def test_placeholders_of_an_int32_file_do_not_hide_its_width(tmp_path):
    ids = TEXT_LIKE.astype(np.int32)
    ids[::3] = -1
    ids[0] = 5
    stream = open_tokens(written(tmp_path / "a.bin", ids, "int32"))
    assert stream.ids.dtype == "uint32"
    with pytest.raises(DataError, match=r"token 3 is 4294967295 \(-1 if it was written as int32\)"):
        list(stream.chunks(2))


def test_other_dtypes_are_refused(tmp_path):
    path = written(tmp_path / "a.bin", TEXT_LIKE, "uint16")
    with pytest.raises(DataError, match=r"raw ids are uint16 or uint32, not int64: .*\.npy"):
        open_tokens(path, dtype="int64")
    with pytest.raises(UsageError, match="--dtype u17: not one of the 2"):
        open_tokens(path, dtype="u17")


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"Reading is to the mind what exercise is to the body.\n" * 3, "first 159 bytes are text"),
        ("書を読むことは、心を養うことである。".encode() * 200, "first 4096 bytes are text"),
        (b"\x1f\x8b\x08\x00" + bytes(range(256)), "gzip data .its first 3 bytes"),
        (b"PK\x03\x04" + bytes(range(256)), "zip archive"),
        (b"PAR1" + bytes(range(256)), "Parquet"),
        (b"\x7fELF" + bytes(range(256)), "a program"),
        (b"\x89PNG" + bytes(range(256)), "a picture"),
    ],
)
def test_what_is_plainly_no_token_file_is_refused_unless_forced(tmp_path, content, kind):
    path = tmp_path / "a.bin"
    path.write_bytes(content[: len(content) // 4 * 4])
    with pytest.raises(DataError, match=kind if "159" not in kind else "first 156 bytes are text"):
        open_tokens(path)
    assert len(open_tokens(path, format="raw", dtype="uint16")) == len(content) // 4 * 2


def test_over_4_gib_and_2_31_tokens(tmp_path):
    path, tokens = tmp_path / "a.bin", 2**31 + 10
    with open(path, "wb") as file:
        file.truncate(2 * tokens)
        file.seek(2 * (tokens - 3))
        file.write(np.array([11, 40_000, 13], np.uint16).tobytes())
    stream = open_tokens(path, dtype="uint16", eot=40_000)
    assert len(stream) == tokens
    (chunk,) = stream.chunks(2, begin=tokens - 2)
    assert chunk.ids.tolist() == [0, 11, 40_000, 13] and chunk.starts.tolist() == [3]


def test_big_endian_ids_are_refused(tmp_path):
    ids = np.random.default_rng(1).integers(100, 60_000, 5000)
    path = tmp_path / "a.bin"
    ids.astype(">u4").tofile(path)
    for dtype in (None, "uint32"):
        with pytest.raises(DataError, match="big-endian uint32"):
            open_tokens(path, dtype=dtype)
    assert len(open_tokens(path, dtype="uint16")) == 10_000
    ids.astype("<u4").tofile(path)
    assert open_tokens(path).ids.dtype == np.uint32
