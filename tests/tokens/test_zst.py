"""Packed files: every frame is unpacked, what is inside is told by content, and damage is one line."""

import tempfile

import numpy as np
import pytest
import zstandard

from flashsim.errors import DataError, UsageError
from flashsim.tokens import open_tokens

IDS = (60_000 * np.random.default_rng(3).random(200_000) ** 3).astype(np.uint16)


def llmc_bytes(ids=IDS):
    header = np.zeros(256, "<i4")
    header[:3] = 20240520, 1, len(ids)
    return header.tobytes() + ids.tobytes()


def packed(path, content, **parameters):
    path.write_bytes(zstandard.ZstdCompressor(**parameters).compress(content))
    return path


@pytest.mark.parametrize("kind", ["llmc", "raw", "npy"])
def test_single_file_formats(tmp_path, kind):
    plain = tmp_path / "plain"
    if kind == "npy":
        with open(plain, "wb") as file:
            np.save(file, IDS)
    else:
        plain.write_bytes(llmc_bytes() if kind == "llmc" else IDS.tobytes())
    stream = open_tokens(packed(tmp_path / "any.name", plain.read_bytes()))
    assert stream.format == kind and np.array_equal(stream.ids, IDS)
    assert stream.path.name == "any.name"


def test_nothing_is_left_in_the_temporary_folder(tmp_path, monkeypatch):
    path, folder = packed(tmp_path / "a.bin.zst", llmc_bytes()), tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    stream = open_tokens(path)
    assert list(folder.iterdir()) == [] and np.array_equal(stream.ids, IDS)


def test_several_frames_and_skippable_ones(tmp_path):
    content, path = llmc_bytes(), tmp_path / "a.bin.zst"
    skippable = b"\x50\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"info"
    frames = [zstandard.compress(content[first : first + 100_001]) for first in range(0, len(content), 100_001)]
    path.write_bytes(skippable + skippable.join(frames))
    assert np.array_equal(open_tokens(path).ids, IDS)


def test_highly_packed(tmp_path):
    ids = np.full(20_000_000, 1000, np.uint16)
    assert np.array_equal(open_tokens(packed(tmp_path / "a.bin.zst", llmc_bytes(ids), level=1)).ids, ids)


@pytest.mark.parametrize("checksum", [False, True])
@pytest.mark.parametrize("kept", [5, 4096, 0.5, -1])
def test_truncated(tmp_path, checksum, kept):
    path = packed(tmp_path / "a.bin.zst", llmc_bytes(), write_checksum=checksum)
    content = path.read_bytes()
    content = content[: kept if kept != 0.5 else len(content) // 2]
    path.write_bytes(content)
    with pytest.raises(DataError, match=f"truncated .zst: its frame is open at byte {len(content)}"):
        open_tokens(path)


def test_corrupt(tmp_path):
    path = packed(tmp_path / "a.bin.zst", llmc_bytes(), write_checksum=True)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"corrupt .zst before byte \d+: .*copy it again"):
        open_tokens(path)


def test_junk_behind_the_last_frame(tmp_path):
    path = packed(tmp_path / "a.bin.zst", llmc_bytes())
    path.write_bytes(path.read_bytes() + b"something else")
    with pytest.raises(DataError, match=r"corrupt .zst"):
        open_tokens(path)


def test_window_over_the_limit(tmp_path):
    parameters = zstandard.ZstdCompressionParameters.from_level(1, window_log=28)
    writer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()  # size unknown: window kept
    path = tmp_path / "a.bin.zst"
    path.write_bytes(writer.compress(llmc_bytes()) + writer.flush())
    with pytest.raises(DataError, match="window over 134217728 bytes, pack it again with --long=27"):
        open_tokens(path)


def test_misnamed(tmp_path):
    path = tmp_path / "a.bin.zst"
    path.write_bytes(llmc_bytes())
    with pytest.raises(DataError, match=r"named .zst, but"):
        open_tokens(path)


@pytest.mark.parametrize("content", [b"", zstandard.compress(b"")])
def test_empty(tmp_path, content):
    path = tmp_path / "a.bin.zst"
    path.write_bytes(content)
    with pytest.raises(DataError, match="0 tokens"):
        open_tokens(path)


def test_no_room_to_unpack(tmp_path, monkeypatch):
    path = packed(tmp_path / "a.bin.zst", llmc_bytes())
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(UsageError, match=r"cannot be unpacked into .*missing.*errno 2.*TMPDIR"):
        open_tokens(path)
