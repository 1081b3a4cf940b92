"""What holds for every format: paths that are no files, the vocabulary, and the registry."""

import os

import numpy as np
import pytest

from flashsim.errors import DataError, UsageError
from flashsim.tokens import FORMATS, open_tokens


def saved(path, ids, dtype):
    np.save(path, np.asarray(ids, dtype))
    return path


def test_registry_rows_are_whole_and_raw_is_last():
    assert [module.NAME for module in FORMATS] == ["llmc", "npy", "megatron", "raw"]
    for module in FORMATS:
        assert callable(module.sniff) and callable(module.read) and isinstance(module.MAGICS, tuple)


def test_missing_file(tmp_path):
    for name in ("none.bin", "none", "none.idx", "none/deeper", "nul\0byte"):
        with pytest.raises(DataError, match=r"(no such file|cannot be read|not a).*errno \d+"):
            open_tokens(tmp_path / name)


def test_what_the_system_refuses_to_open(tmp_path):
    path = saved(tmp_path / "a.npy", [1], "uint16")
    with pytest.raises(DataError, match=r"cannot be read: Not a directory \(errno 20\)"):
        open_tokens(path / "b.npy")


@pytest.mark.parametrize("form", [None, "raw", "megatron"])
def test_folder(tmp_path, form):
    with pytest.raises(DataError, match=r"is a folder .mode d"):
        open_tokens(tmp_path, format=form)
    with pytest.raises(DataError, match="is a folder"):
        open_tokens(".")


def test_fifo_and_device_are_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(DataError, match=r"is a FIFO .mode p"):
        open_tokens(tmp_path / "fifo")
    with pytest.raises(DataError, match="is a device"):
        open_tokens("/dev/null")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_no_permission(tmp_path):
    path = saved(tmp_path / "a.npy", [1], "uint16")
    path.chmod(0)
    with pytest.raises(DataError, match=r"cannot be read: Permission denied .errno 13"):
        open_tokens(path)


@pytest.mark.parametrize("form", [None, "raw", "llmc", "npy", "megatron"])
def test_empty_file(tmp_path, form):
    (tmp_path / "a.bin").touch()
    with pytest.raises(DataError, match="0 tokens"):
        open_tokens(tmp_path / "a.bin", format=form)


def test_unknown_format(tmp_path):
    with pytest.raises(UsageError, match="--format csv: not one of the 4 formats llmc, npy, megatron, raw"):
        open_tokens(tmp_path / "a.csv", format="csv")


@pytest.mark.parametrize("vocab_size", [0, -5])
def test_no_vocabulary(tmp_path, vocab_size):
    with pytest.raises(UsageError, match=f"--vocab-size {vocab_size}: .* at least 1 id"):
        open_tokens(tmp_path / "a.bin", vocab_size=vocab_size)


@pytest.mark.parametrize(("dtype", "vocab_size"), [("uint16", 129_280), ("int16", 50_257), ("uint8", 257)])
def test_vocabulary_that_the_dtype_cannot_hold(tmp_path, dtype, vocab_size):
    path = saved(tmp_path / "a.npy", [1, 2, 3], dtype)
    largest = np.iinfo(dtype).max
    with pytest.raises(DataError, match=rf"vocabulary of {vocab_size} does not fit {dtype}, .* {largest}: .*uint32"):
        open_tokens(path, vocab_size=vocab_size)
    assert len(open_tokens(path, vocab_size=largest + 1)) == 3


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "int32", "int64", ">u2"])
def test_first_id_outside_the_vocabulary_is_named(tmp_path, dtype):
    ids = np.arange(1000) % 500
    ids[[700, 800]] = 500, 600
    stream = open_tokens(saved(tmp_path / "a.npy", ids, dtype), vocab_size=500)
    fits = "" if np.dtype(dtype).itemsize == 2 else rf" .read as {dtype}, where uint16 would fit it."
    with pytest.raises(DataError, match=rf"a\.npy: token 700 is 500, outside the vocabulary of 500{fits}"):
        list(stream.chunks(2, size=64))
    assert len(list(stream.chunks(2, end=700, size=64))) == 11


@pytest.mark.parametrize(
    ("dtype", "value", "message"),
    [
        ("int16", -1, "token 7 is -1, a negative id .int16."),
        ("int32", -100, "token 7 is -100, a negative id .int32."),
        ("int64", -(2**40), "token 7 is -1099511627776, a negative id"),
        ("uint32", 2**32 - 1, r"token 7 is 4294967295 \(-1 if it was written as int32\), over 31 bits"),
        ("uint32", 2**31, "token 7 is 2147483648, over 31 bits"),
        ("uint64", 2**63, "token 7 is 9223372036854775808, over 31 bits"),
        ("int64", 2**31, "token 7 is 2147483648, over 31 bits"),
    ],
)
@pytest.mark.parametrize("size", [3, 100])
def test_ids_that_no_vocabulary_has(tmp_path, dtype, value, message, size):
    ids = np.arange(10).astype(dtype)
    ids[7] = value
    with pytest.raises(DataError, match=message):
        list(open_tokens(saved(tmp_path / "a.npy", ids, dtype)).chunks(2, size=size))


def test_a_vocabulary_over_31_bits_lets_no_id_wrap(tmp_path):
    stream = open_tokens(saved(tmp_path / "a.npy", [1, 2**32 + 1], "int64"), vocab_size=2**40)
    with pytest.raises(DataError, match="token 1 is 4294967297, over 31 bits"):
        list(stream.chunks(2))


def test_placeholders_of_a_uint16_file_show_with_a_vocabulary(tmp_path):
    stream = open_tokens(saved(tmp_path / "a.npy", [1, 65_535], "uint16"), vocab_size=50_257)
    with pytest.raises(DataError, match=r"token 1 is 65535 \(-1 if it was written as int16\), outside"):
        list(stream.chunks(2))
