"""From text to a token file: header, shuffle, facts, refusals."""

import hashlib
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashsim.corpora.build import build_corpus
from flashsim.corpora.tokenizers import TextTokenizer
from flashsim.corpora.write import Spool, write_tokens
from flashsim.errors import DataError, UsageError


def code_points(vocabulary=65_536):
    return TextTokenizer(
        "code points", vocabulary, 0, lambda texts: [[ord(letter) for letter in text] for text in texts]
    )


def read(path):
    header = np.fromfile(path, "<i4", 256)
    ids = np.fromfile(path, "<u2" if header[0] == 20240520 else "<u4", offset=1024)
    return header, ids


def build(tmp_path, texts, tokenizer=None, **options):
    folder = tmp_path / "in"
    folder.mkdir(exist_ok=True)
    for index, text in enumerate(texts):
        (folder / f"{index:03}.txt").write_text(text)
    output = tmp_path / "corpus.bin"
    facts = build_corpus([folder], output, lambda _: tokenizer or code_points(), **options)
    return output, facts


def test_every_document_is_there_once_and_ends_with_eot(tmp_path):
    texts = [f"document {index}" for index in range(40)]
    output, facts = build(tmp_path, texts)
    header, ids = read(output)
    assert header[:3].tolist() == [20240520, 1, len(ids)]
    assert not header[3:].any()
    assert ids[-1] == 0
    found = "".join(map(chr, ids)).split("\0")[:-1]
    assert sorted(found) == sorted(texts)
    assert found != texts  # shuffled
    assert facts["tokens"] == len(ids) == sum(len(text) + 1 for text in texts)


def test_the_seed_decides_the_order_and_nothing_else_does(tmp_path):
    texts = [f"document {index}" for index in range(40)]
    first = build(tmp_path, texts)[0].read_bytes()
    assert build(tmp_path, texts)[0].read_bytes() == first
    other = build(tmp_path, texts, seed=1)[0].read_bytes()
    assert other != first
    assert sorted(other) == sorted(first)


def test_the_facts_say_what_was_made_of_what(tmp_path):
    output, facts = build(tmp_path, ["abc", "de\n\nfg", " "], document_characters=4)
    kept = json.loads(output.with_suffix(".json").read_text())
    assert {key: kept[key] for key in facts} == facts
    assert kept["sha256"] == hashlib.sha256(output.read_bytes()).hexdigest()
    assert (kept["documents"], kept["vocabulary"], kept["eot"], kept["dtype"]) == (3, 65_536, 0, "uint16")
    (source,) = kept["sources"]
    assert (source["files"], source["documents"], source["bytes"], source["tokens"]) == (2, 3, 9, 12)
    assert source["skipped_empty"] == 1


def test_a_vocabulary_over_65536_takes_4_bytes_an_id(tmp_path):
    output, _ = build(tmp_path, ["a\U0001f600"], code_points(200_000))
    header, ids = read(output)
    assert header[:3].tolist() == [20240801, 7, 3]
    assert ids.tolist() == [97, 0x1F600, 0]


def test_an_id_outside_the_vocabulary_is_refused_and_nothing_is_left(tmp_path):
    with pytest.raises(DataError, match=r"id 120, outside its vocabulary of 100"):
        build(tmp_path, ["ax"], code_points(100))
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_no_documents_is_refused_and_the_old_file_stays(tmp_path):
    (tmp_path / "corpus.bin").write_bytes(b"old")
    with pytest.raises(UsageError, match=r"0 documents in 1 path \(2 files skipped"):
        build(tmp_path, ["", "\0"])
    assert (tmp_path / "corpus.bin").read_bytes() == b"old"


@pytest.mark.parametrize(
    ("name", "reason"),
    [("corpus.json", "give a .bin"), ("in", "is a folder"), ("in/000.txt/x.bin", "choose another -o")],
)
def test_an_output_that_cannot_be_is_refused_before_any_text_is_read(tmp_path, name, reason):
    build(tmp_path, ["text"])
    tokenizer = TextTokenizer("none", 10, 0, lambda _: pytest.fail("read"))
    with pytest.raises(UsageError, match=reason):
        build_corpus([tmp_path / "in"], tmp_path / name, lambda _: tokenizer)


def test_an_input_is_never_overwritten(tmp_path):
    text = tmp_path / "a.txt"
    text.write_text("precious")
    with pytest.raises(UsageError, match="would be lost"):
        build_corpus([text], text, lambda _: code_points())
    assert text.read_text() == "precious"


def test_pieces_that_do_not_add_up_write_nothing(tmp_path):
    with pytest.raises(AssertionError):
        write_tokens(tmp_path / "x.bin", [np.arange(3)], 4, 100, {})
    assert not list(tmp_path.iterdir())


@given(st.lists(st.tuples(st.lists(st.integers(1, 70_000), max_size=5), st.integers(0, 2)), min_size=1))
def test_a_spool_gives_back_every_document_and_counts_by_source(tmp_path_factory, documents):
    with Spool(tmp_path_factory.getbasetemp() / "x.bin", 70_001, 0) as spool:
        for ids, source in documents:
            spool.add(ids, source)
        found = sorted(piece.tolist() for piece in spool.shuffled(3))
        counts = spool.tokens_by_source(3)
    assert found == sorted([*ids, 0] for ids, _ in documents)
    assert counts == [sum(len(ids) + 1 for ids, owner in documents if owner == source) for source in range(3)]
