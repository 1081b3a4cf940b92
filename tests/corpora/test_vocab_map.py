"""Engram's compressed vocabulary: against the rule in plain Python, and as a command."""

import unicodedata

import numpy as np
import pytest

from flashsim.corpora.vocab_map import compressed_vocabulary

tokenizers = pytest.importorskip("tokenizers")

TEXTS = [
    "The the THE naïve Naive NAÏVE ﬁne fine Ⅳ iv",
    "a  b\tc\r\nd \n",
    "日本語 にほんご 中文 Привет привет",
    "x" * 40,
]


@pytest.fixture
def tokenizer(tmp_path):
    """A byte-level BPE in which words, their cases and parts of characters are ids of their own."""
    model = tokenizers.Tokenizer(tokenizers.models.BPE())
    model.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    model.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=600, special_tokens=["<s>", "<pad>"], show_progress=False,
        initial_alphabet=sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()),
    )  # fmt: skip
    model.train_from_iterator(TEXTS * 9, trainer)
    model.save(str(tmp_path / "tokenizer.json"))
    return tmp_path / "tokenizer.json"


def plain(text, spelling):
    """The key of one token, by the published rule."""
    if "\ufffd" in text:
        return spelling
    key = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text))
    key = "".join(letter for letter in key if not unicodedata.category(letter).startswith("M")).lower()
    for space in "\t\r\n":
        key = key.replace(space, " ")
    while "  " in key:
        key = key.replace("  ", " ")
    return (key if key == " " else key.strip()) or text


def test_the_rule(tokenizer):
    model, numbers, expected = tokenizers.Tokenizer.from_file(str(tokenizer)), {}, []
    for token in range(model.get_vocab_size()):
        key = plain(model.decode([token], skip_special_tokens=False), model.id_to_token(token))
        expected.append(numbers.setdefault(key, len(numbers)))
    ids = compressed_vocabulary(tokenizer)
    assert ids.dtype == np.uint32 and ids.tolist() == expected
    assert len(set(expected)) < len(expected)  # something was compressed
    by_word = {word: model.token_to_id(word) for word in ("The", "the", "THE")}
    assert None not in by_word.values() and len({expected[token] for token in by_word.values()}) == 1


def test_the_command(flashsim, tokenizer):
    code, out, err = flashsim("corpus", "vocab-map", tokenizer)
    assert (code, err) == (0, "") and "compressed ids" in out
    made = np.load(tokenizer.with_suffix(".vocab-map.npy"))
    assert (made == compressed_vocabulary(tokenizer)).all()
    code, out, err = flashsim("layouts", "show", "engram-demo", "--vocab-map", tokenizer.with_suffix(".vocab-map.npy"))
    assert code == 0 and "engram-demo" in out
    code, out, err = flashsim(
        "layouts", "show", "deepseek-v4.1", "--vocab-map", tokenizer.with_suffix(".vocab-map.npy")
    )
    assert code == 2 and "99,092" in err and out == ""


@pytest.mark.parametrize(("arguments", "message"), [
    (["none.json"], "unknown tokenizer"),
    (["none.json", "-o", "x.bin"], "let -o end in .npy"),
    (["text.json"], "not a Hugging Face tokenizer.json"),
])  # fmt: skip
def test_what_is_no_tokenizer(flashsim, tmp_path, arguments, message):
    (tmp_path / "text.json").write_text("{}")
    code, out, err = flashsim("corpus", "vocab-map", *arguments)
    assert code and out == "" and message in err and err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["text.json"]
