"""Documents out of files, folders, .gz and .zst."""

import gzip
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from flashsim.corpora.text import TextSource, read_documents, split_documents
from flashsim.errors import DataError, UsageError


def documents(path, limit=24_000):
    source = TextSource(Path(path))
    return list(read_documents(source, limit)), source


def test_a_folder_is_walked_in_sorted_order_and_what_is_not_text_is_counted(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "2.txt").write_text("zwei")
    (tmp_path / "b" / "1.txt").write_text("eins")
    (tmp_path / "a.txt").write_bytes("\ufeffnull".encode())
    (tmp_path / "latin1.txt").write_bytes(b"caf\xe9")
    (tmp_path / "image").write_bytes(b"GIF\0")
    (tmp_path / "blank.txt").write_text(" \n\n")
    found, source = documents(tmp_path)
    assert found == ["null", "eins", "zwei"]
    assert (source.files, source.documents, source.not_text, source.empty) == (3, 3, 2, 1)
    assert source.bytes == 7 + 4 + 4


def test_a_file_that_turns_binary_after_a_block_gives_no_document(tmp_path):
    (tmp_path / "late").write_bytes(b"text\n\n" * 400_000 + b"\0")
    found, source = documents(tmp_path)
    assert found == []
    assert source.not_text == 1


@pytest.mark.parametrize("ending", [".txt", ".gz", ".zst"])
def test_compressed_files_read_as_plain_ones(tmp_path, ending):
    text = "Zeile — 行\n" * 9
    pack = {".txt": bytes, ".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}[ending]
    (tmp_path / f"a{ending}").write_bytes(pack(text.encode()))
    found, source = documents(tmp_path / f"a{ending}")
    assert found == [text]
    assert source.bytes == len(text.encode())


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".zst", zstandard.ZstdCompressor().compress)])
def test_a_truncated_compressed_file_is_refused(tmp_path, ending, pack):
    path = tmp_path / f"a{ending}"
    path.write_bytes(pack(bytes(range(65, 91)) * 3000)[:-6])
    with pytest.raises(DataError, match=r"truncated.*again"):
        documents(path)


def test_a_path_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"nowhere: 0 files"):
        documents(tmp_path / "nowhere")


def test_a_long_text_is_cut_after_a_blank_line_then_a_line_then_anywhere():
    paragraph, line = "a" * 60 + "\n\n", "b" * 60 + "\n"
    assert list(split_documents([paragraph * 2], 100)) == [paragraph, paragraph]
    assert list(split_documents([line * 2], 100)) == [line, line]
    assert list(split_documents(["c" * 150], 100)) == ["c" * 100, "c" * 50]
    assert list(split_documents(["c" * 150], None)) == ["c" * 150]


@given(st.lists(st.text(alphabet="a\n", max_size=80), max_size=8), st.integers(2, 30))
def test_splitting_loses_nothing_but_white_space(pieces, limit):
    parts = list(split_documents(pieces, limit))
    assert all(0 < len(part) <= limit and part.strip() for part in parts)
    assert "".join(parts).replace("\n", "") == "".join(pieces).replace("\n", "")
