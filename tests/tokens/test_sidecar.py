"""The JSON beside a token file: used where the call says nothing, refused if broken or of another build."""

import json

import numpy as np
import pytest
import zstandard

from flashsim.errors import DataError
from flashsim.tokens import open_tokens, sidecar


@pytest.fixture
def path(tmp_path):
    with open(tmp_path / "corpus.bin", "wb") as file:
        np.save(file, np.arange(50, dtype=np.uint16))
    return tmp_path / "corpus.bin"


def beside(path, facts):
    path.with_name("corpus.json").write_text(facts if isinstance(facts, str) else json.dumps(facts))


@pytest.mark.parametrize("packed", [False, True])
def test_facts_are_used(path, packed):
    beside(path, {"eot": 3, "vocabulary": 60, "synthetic": True, "tokens": 50, "other": {}})
    if packed:
        path.with_name("corpus.bin.zst").write_bytes(zstandard.compress(path.read_bytes()))
        path = path.with_name("corpus.bin.zst")
    stream = open_tokens(path)
    assert (stream.eot, stream.vocab_size, stream.synthetic) == (3, 60, True)
    assert stream.name == "corpus"


def test_the_call_goes_before(path):
    beside(path, {"vocabulary": 40})
    assert open_tokens(path, vocab_size=70).vocab_size == 70


@pytest.mark.parametrize("facts", ["[1, 2]", "7", {}, {"sources": []}, {"eot": None, "vocabulary": None}])
def test_nothing_of_use(path, facts):
    beside(path, facts)
    stream = open_tokens(path)
    assert (stream.eot, stream.vocab_size, stream.synthetic, stream.boundary) == (None, None, False, "none")


@pytest.mark.parametrize("facts", ["", "{", '{"eot": 1} {"eot": 2}', '"\udc80"', "[" * 100_000], ids=range(5))
def test_broken(path, facts):
    path.with_name("corpus.json").write_text(facts, errors="surrogateescape")
    with pytest.raises(DataError, match=r"corpus\.json: broken JSON beside the token file.*rename or remove"):
        open_tokens(path)


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"eot": "0"}, '"eot" is "0", a whole number expected'),
        ({"eot": True}, '"eot" is true, a whole number'),
        ({"eot": -1}, '"eot" is -1'),
        ({"eot": 1.5}, '"eot" is 1.5'),
        ({"vocabulary": 0}, '"vocabulary" is 0'),
        ({"vocabulary": ["a", "b"]}, '"vocabulary" is'),
        ({"synthetic": 1}, '"synthetic" is 1, true or false expected'),
        ({"tokens": [1]}, '"tokens" is'),
    ],
)
def test_wrong_kinds(path, facts, message):
    beside(path, facts)
    with pytest.raises(DataError, match=rf"corpus\.json: {message}"):
        open_tokens(path)


@pytest.mark.parametrize("tokens", [49, 0])
def test_another_build(path, tokens):
    beside(path, {"tokens": tokens})
    with pytest.raises(DataError, match=rf"50 tokens, but corpus\.json beside it says {tokens}: .*different builds"):
        open_tokens(path)


def test_too_large_to_be_one(path, monkeypatch):
    monkeypatch.setattr(sidecar, "_MAX_BYTES", 10)
    beside(path, {"text": "0123456789"})
    with pytest.raises(DataError, match=r"corpus\.json: 22 bytes, over the 10"):
        open_tokens(path)


def test_vocabulary_that_wrapped(path):
    beside(path, {"vocabulary": 129_280})
    with pytest.raises(DataError, match=r"vocabulary of 129280 \(corpus\.json\) does not fit uint16"):
        open_tokens(path)
