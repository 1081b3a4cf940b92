"""Document boundaries: one rule at a time, said in words, and refused where it cannot be met."""

import json
import struct

import numpy as np
import pytest

from flashsim.errors import DataError, UsageError
from flashsim.tokens import boundaries, open_tokens

IDS = [5, 6, 0, 7, 0, 0, 8, 9]


@pytest.fixture
def path(tmp_path):
    np.save(tmp_path / "a.npy", np.array(IDS, np.uint16))
    return tmp_path / "a.npy"


def starts_of(stream, size=100):
    """All document starts, as positions in the stream."""
    starts, first = {0}, 0
    for chunk in stream.chunks(2, size=size):
        starts |= {first - chunk.context + int(start) for start in chunk.starts if start >= max(chunk.context, 1)}
        first += len(chunk.ids) - chunk.context
    return sorted(starts)


def documents_file(path, starts):
    np.save(path.with_name("starts.npy"), np.asarray(starts))
    return path.with_name("starts.npy")


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_next_document_starts_behind_the_eot(path, size):
    stream = open_tokens(path, eot=0)
    assert stream.boundary == "--eot 0" and stream.eot == 0
    assert starts_of(stream, size) == [0, 3, 5, 6]


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize("dtype", ["int64", "uint8", ">u4", "uint64"])
def test_documents_file(path, size, dtype):
    documents = documents_file(path, np.array([0, 3, 7], dtype))
    stream = open_tokens(path, documents=documents)
    assert stream.boundary == f"--documents {documents}" and stream.eot is None
    assert stream.starts.dtype == np.int64 and starts_of(stream, size) == [0, 3, 7]


def test_none(path):
    assert open_tokens(path).boundary == "none" and starts_of(open_tokens(path)) == [0]


@pytest.mark.parametrize(
    ("starts", "message"),
    [
        ([1, 3], "first document start is 1, not 0"),
        ([], "first document start is missing .0 entries"),
        ([0, 3, 3], "start 2 is 3 after 3"),
        ([0, 5, 3], "start 2 is 3 after 5"),
        ([0, -1], "start 1 is -1 after 0"),
        ([0, 8], "start 1 is 8, but there are 8 tokens"),
        ([0, 3, 8, 9], "start 2 is 8, but there are 8 tokens"),
        ([0, 2**40], "start 1 is 1099511627776, but"),
        ([[0, 3]], "shape .1, 2."),
        ([0.0, 3.0], "dtype float64, 1-D integers"),
    ],
)
def test_documents_that_are_none(path, starts, message):
    starts = np.asarray(starts, np.int64) if len(starts) == 0 else starts
    with pytest.raises(DataError, match=rf"starts\.npy: .*{message}"):
        open_tokens(path, documents=documents_file(path, starts))


def test_documents_are_checked_across_pieces(path, monkeypatch):
    monkeypatch.setattr(boundaries, "_PIECE_ITEMS", 2)
    for starts, message in (([0, 1, 1, 4], "start 2 is 1 after 1"), ([0, 1, 4, 3], "start 3 is 3 after 4")):
        with pytest.raises(DataError, match=message):
            open_tokens(path, documents=documents_file(path, starts))
    assert starts_of(open_tokens(path, documents=documents_file(path, [0, 1, 2, 3, 5]))) == [0, 1, 2, 3, 5]


def test_documents_file_has_to_be_npy(path):
    raw = path.with_name("starts.bin")
    np.arange(5).tofile(raw)
    with pytest.raises(DataError, match=r"no \.npy header"):
        open_tokens(path, documents=raw)
    with pytest.raises(DataError, match="no such file"):
        open_tokens(path, documents=path.with_name("missing.npy"))


def test_two_rules_at_once(path):
    for eot in (0, "none"):
        with pytest.raises(UsageError, match=f"--eot {eot} and --documents .* are 2 boundary rules"):
            open_tokens(path, eot=eot, documents=documents_file(path, [0]))


@pytest.mark.parametrize(
    ("eot", "vocab_size", "message"),
    [
        (100, 100, "--eot 100 is outside the ids .0 to 99, the vocabulary"),
        (65_536, None, "--eot 65536 is outside the ids .0 to 65535, uint16"),
        (-1, None, "--eot -1 is outside"),
    ],
)
def test_eot_that_no_token_can_be(path, eot, vocab_size, message):
    with pytest.raises(UsageError, match=message):
        open_tokens(path, eot=eot, vocab_size=vocab_size)


def test_sidecar_eot_and_what_overrides_it(path):
    path.with_suffix(".json").write_text(json.dumps({"eot": 8}))
    assert open_tokens(path).boundary == "eot 8 (a.json)" and starts_of(open_tokens(path)) == [0, 7]
    assert open_tokens(path, eot=0).boundary == "--eot 0"
    forced = open_tokens(path, eot="none")
    assert forced.boundary == "none (--eot none)" and starts_of(forced) == [0]
    assert starts_of(open_tokens(path, documents=documents_file(path, [0, 2]))) == [0, 2]


def test_sidecar_eot_that_no_token_can_be(path):
    path.with_suffix(".json").write_text(json.dumps({"eot": 70_000}))
    with pytest.raises(DataError, match=r"a\.json: eot 70000 is outside the ids .0 to 65535, uint16.*--eot"):
        open_tokens(path)
    assert open_tokens(path, eot=0).eot == 0


def test_eot_against_the_index_of_a_megatron_pair(tmp_path):
    np.array(IDS, "<u2").tofile(tmp_path / "m.bin")
    header = struct.pack("<9sQBQQ", b"MMIDIDX", 1, 8, 1, 2)
    entries = np.array([8], "<i4").tobytes() + np.array([0, 0, 1], "<i8").tobytes()
    (tmp_path / "m.idx").write_bytes(header + entries)
    (tmp_path / "m.json").write_text(json.dumps({"eot": 8}))  # the index is the nearer source
    assert open_tokens(tmp_path / "m").boundary == "Megatron document index"
    overridden = open_tokens(tmp_path / "m", eot=0)
    assert overridden.boundary == "--eot 0, overrides the Megatron document index" and overridden.starts is None
    assert starts_of(overridden) == [0, 3, 5, 6]
    assert open_tokens(tmp_path / "m", eot="none").boundary == (
        "none (--eot none, overrides the Megatron document index)"
    )
