"""Megatron pairs: every entry of the index is checked against the other file before a token is read."""

import struct

import numpy as np
import pytest

from flashsim.errors import DataError
from flashsim.tokens import megatron, open_tokens

IDS = np.arange(300, 320)
LENGTHS = [3, 0, 7, 10]
DOCUMENTS = [0, 2, 2, 3, 4]  # the second is empty


def written(folder, **changes):
    """The .bin of a pair whose parts are as in a sound one, but for ``changes``."""
    part = {
        "code": 8,
        "dtype": "uint16",
        "lengths": LENGTHS,
        "documents": DOCUMENTS,
        "version": 1,
        "tail": b"",
    }
    part |= {"magic": b"MMIDIDX\x00\x00", "ids": IDS} | changes
    lengths = np.array(part["lengths"], "<i4")
    width = np.dtype(part["dtype"]).itemsize
    part.setdefault("pointers", (np.cumsum(lengths) - lengths) * width)
    part.setdefault("sequence_count", len(lengths))
    (folder / "my.text.idx").write_bytes(
        struct.pack(
            "<9sQBQQ",
            part["magic"],
            part["version"],
            part["code"],
            part["sequence_count"],
            len(part["documents"]),
        )
        + lengths.tobytes()
        + np.array(part["pointers"], "<i8").tobytes()
        + np.array(part["documents"], "<i8").tobytes()
        + part["tail"]
    )
    np.asarray(part["ids"], part["dtype"]).tofile(folder / "my.text.bin")
    return folder / "my.text.bin"


@pytest.mark.parametrize("name", ["my.text", "my.text.bin", "my.text.idx"])
@pytest.mark.parametrize("form", [None, "megatron"])
def test_prefix_or_either_file(tmp_path, name, form):
    written(tmp_path)
    stream = open_tokens(tmp_path / name, format=form)
    assert stream.format == "megatron" and stream.path.name == "my.text.bin"
    assert np.array_equal(stream.ids, IDS) and stream.ids.dtype == "uint16"
    assert stream.starts.tolist() == [0, 3, 10] and stream.starts.dtype == np.int64
    assert stream.eot is None and stream.boundary == "Megatron document index"


@pytest.mark.parametrize(
    ("code", "dtype"),
    [(1, "uint8"), (2, "int8"), (3, "int16"), (4, "int32"), (5, "int64"), (8, "uint16")],
)
def test_integer_dtypes(tmp_path, code, dtype):
    stream = open_tokens(written(tmp_path, code=code, dtype=dtype, ids=IDS - 300))
    assert stream.ids.dtype == dtype and stream.ids.tolist() == list(range(20))
    assert stream.starts.tolist() == [0, 3, 10]


def test_modes_of_a_multimodal_index_are_passed_over(tmp_path):
    assert len(open_tokens(written(tmp_path, tail=bytes(4)))) == 20


def test_empty_documents_at_the_end_start_nothing(tmp_path):
    stream = open_tokens(written(tmp_path, lengths=[20, 0], documents=[0, 1, 2, 2]))
    assert stream.starts.tolist() == [0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"code": 6}, r"dtype code 6 \(float64\), an integer dtype"),
        ({"code": 7}, r"dtype code 7 \(float32\)"),
        ({"code": 11}, r"dtype code 11 \(unknown\)"),
        ({"version": 2}, "version 2, expected 1"),
        ({"magic": b"TNTIDX\x00\x00"}, "no Megatron index: it begins with b'TNTIDX"),
        (
            {"ids": IDS[:-1]},
            "my.text.bin: truncated: it has 38 bytes, but my.text.idx ends at 40; .*different builds",
        ),
        ({"ids": np.arange(22)}, "4 bytes over: it has 44 bytes"),
        (
            {"pointers": [0, 6, 6, 22]},
            "sequence 3 points to byte 22, but the one before it ends at 20: a gap or overlap",
        ),
        ({"pointers": [0, 6, 4, 20]}, "sequence 2 points to byte 4"),
        ({"pointers": [0, 6, 6 - 2**32, 20]}, "sequence 2 points to byte -4294967290.*wrapped at 32 bits"),
        ({"pointers": [2, 6, 6, 20]}, "sequence 0 points to byte 2"),
        ({"lengths": [3, -4, 7, 10]}, "sequence 1 has a length of -4"),
        ({"documents": [0, 3, 2, 4]}, "entry 2 of its document index is 2 after 3: out of order"),
        ({"documents": [0, 2, 3]}, "goes from 0 to 3, not from 0 to its 4 sequences"),
        ({"documents": [1, 4]}, "goes from 1 to 4"),
        ({"documents": []}, r"goes from nowhere \(0 entries\)"),
        ({"documents": [0, -(2**63), 4]}, "entry 1 of its document index is -9223372036854775808 after 0"),
        ({"tail": b"abc"}, "3 bytes over"),
        ({"sequence_count": 5}, "truncated: 122 of 134 bytes"),
        ({"sequence_count": 2**63}, "truncated: 122 of"),
        ({"lengths": [], "documents": [0], "ids": [1]}, "2 bytes over: it has 2 bytes"),
    ],
)
def test_an_index_that_does_not_fit(tmp_path, changes, message):
    with pytest.raises(DataError, match=message):
        open_tokens(written(tmp_path, **changes))


@pytest.mark.parametrize("items", [1, 2, 3])
def test_pointers_are_checked_across_pieces(tmp_path, monkeypatch, items):
    monkeypatch.setattr(megatron, "_PIECE_ITEMS", items)
    assert open_tokens(written(tmp_path)).starts.tolist() == [0, 3, 10]
    with pytest.raises(DataError, match="sequence 2 points to byte 4, but the one before it ends at 6"):
        open_tokens(written(tmp_path, pointers=[0, 6, 4, 20]))
    with pytest.raises(DataError, match="sequence 3 has a length of -10"):
        open_tokens(written(tmp_path, lengths=[3, 0, 7, -10]))


def test_index_cut_short(tmp_path):
    path = written(tmp_path)
    index = path.with_suffix(".idx")
    index.write_bytes(index.read_bytes()[:20])
    with pytest.raises(DataError, match="truncated: 20 of 34 header bytes"):
        open_tokens(path)


@pytest.mark.parametrize("name", ["my.text", "my.text.bin", "my.text.idx"])
@pytest.mark.parametrize("lost", [".bin", ".idx"])
def test_only_one_of_the_pair(tmp_path, name, lost):
    path = written(tmp_path)
    path.with_suffix(lost).unlink()
    with pytest.raises(DataError, match=r"my\.text.*no such file"):
        open_tokens(tmp_path / name, format="megatron")


def test_bin_alone_is_read_by_its_content(tmp_path):
    path = written(tmp_path)
    path.with_suffix(".idx").unlink()
    assert open_tokens(path).format == "raw"
    with pytest.raises(DataError, match=r"my\.text\.idx: no such file.*give my\.text\.bin and --format raw"):
        open_tokens(tmp_path / "my.text")


def test_raw_reads_the_ids_past_a_broken_index(tmp_path):
    path = written(tmp_path, documents=[0, 3, 2, 4])
    stream = open_tokens(path, format="raw")
    assert np.array_equal(stream.ids, IDS) and stream.boundary == "none"


def test_raw_cannot_be_forced_on_the_index(tmp_path):
    with pytest.raises(DataError, match="begins with the header of megatron"):
        open_tokens(written(tmp_path).with_suffix(".idx"), format="raw", dtype="uint16")


def test_index_under_another_name(tmp_path):
    index = written(tmp_path).with_suffix(".idx").rename(tmp_path / "index.bin")
    with pytest.raises(DataError, match=r"index\.idx: no such file"):
        open_tokens(index)


def test_packed_pair_is_not_read_without_its_index(tmp_path):
    import zstandard

    path = written(tmp_path)
    packed = path.with_name("my.text.bin.zst")
    packed.write_bytes(zstandard.compress(path.read_bytes()))
    with pytest.raises(DataError, match="needs 2 uncompressed files"):
        open_tokens(packed)


def test_no_tokens(tmp_path):
    with pytest.raises(DataError, match="0 tokens"):
        open_tokens(written(tmp_path, lengths=[], documents=[0], ids=[]))


def test_negative_ids_are_named_on_reading(tmp_path):
    ids = IDS.copy()
    ids[13] = -1
    stream = open_tokens(written(tmp_path, code=4, dtype="int32", ids=ids))
    with pytest.raises(DataError, match=r"token 13 is -1, a negative id .int32."):
        list(stream.chunks(2, size=5))
