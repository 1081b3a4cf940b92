"""Tokenizers: which end of text, and that text never makes it."""

import pytest

from flashsim.corpora.tokenizers import EOT_NAMES, _sample, file_tokenizer, rwkv_tokenizer, trained_bpe
from flashsim.errors import DataError, UsageError

tokenizers = pytest.importorskip("tokenizers")


def saved(path, tokens, special=()):
    """A tokenizer.json of single characters and whole added tokens."""
    vocabulary = {character: index for index, character in enumerate("abcdefghijklmnopqrstuvwxyz<>|/ ")}
    model = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, []))
    model.add_tokens(list(tokens))
    model.add_special_tokens(list(special))
    model.enable_truncation(4)
    model.enable_padding(length=9)
    model.save(str(path))
    return path


@pytest.mark.parametrize("special", [True, False])
def test_text_that_spells_the_end_of_text_is_text(tmp_path, special):
    name = "<|endoftext|>"
    path = saved(tmp_path / "t.json", *(((), [name]) if special else ([name], ())))
    tokenizer = file_tokenizer(path)
    text = f"one {name}{name} two {name}"
    (ids,) = tokenizer.encode([text])
    assert tokenizer.eot == 31
    assert tokenizer.vocabulary == 32
    assert tokenizer.eot not in ids
    assert len(ids) == len(text)  # one id a character: not truncated, not padded, nothing lost


@pytest.mark.parametrize("name", EOT_NAMES)
def test_the_usual_names_are_found(tmp_path, name):
    assert file_tokenizer(saved(tmp_path / "t.json", (), ["<pad>", name])).eot == 32


def test_an_unknown_end_of_text_lists_the_names_and_eot_overrides(tmp_path):
    path = saved(tmp_path / "t.json", (), ["<stop>"])
    with pytest.raises(UsageError, match=r"</s>.*<eos>.*--eot"):
        file_tokenizer(path)
    assert file_tokenizer(path, eot=31).eot == 31
    with pytest.raises(UsageError, match=r"--eot 32 .*0 to 31"):
        file_tokenizer(path, eot=32)


def test_an_end_of_text_that_text_makes_is_refused(tmp_path):
    tokenizer = file_tokenizer(saved(tmp_path / "t.json", ()), eot=0)
    with pytest.raises(UsageError, match="--eot 0 is also an id of the text"):
        tokenizer.encode(["banana"])


def test_what_is_no_tokenizer_is_refused(tmp_path):
    with pytest.raises(UsageError, match="unknown tokenizer 'gpt9'"):
        file_tokenizer("gpt9")
    (tmp_path / "t.json").write_text("{}")
    with pytest.raises(DataError, match=r"2 bytes that are not"):
        file_tokenizer(tmp_path / "t.json")


def test_training_repeats_and_the_saved_file_encodes_alike(tmp_path):
    texts = ["the cat sat on the mat <|endoftext|> ", "der Hund, 犬, собака " * 3]
    first = trained_bpe(texts, 300, tmp_path / "1.json")
    trained_bpe(texts, 300, tmp_path / "2.json")
    assert (tmp_path / "1.json").read_bytes() == (tmp_path / "2.json").read_bytes()
    again = file_tokenizer(tmp_path / "1.json")
    assert again.encode(texts) == first.encode(texts)
    assert 257 <= first.vocabulary <= 300
    assert all(first.eot not in ids for ids in first.encode(texts))


def test_training_needs_ids_and_text(tmp_path):
    with pytest.raises(UsageError, match="at least 257"):
        trained_bpe(["text"], 256, tmp_path / "t.json")
    with pytest.raises(UsageError, match="0 documents"):
        trained_bpe([], 300, tmp_path / "t.json")
    assert not (tmp_path / "t.json").exists()


def test_the_sample_is_spread_over_the_texts_and_bounded():
    texts = [f"{index:04}" for index in range(1000)]
    assert _sample(texts, 4000) == texts
    assert _sample(texts, 1000) == texts[::4]


def test_rwkv_ends_with_0_and_text_never_makes_it():
    pytest.importorskip("pyrwkv_tokenizer")
    tokenizer = rwkv_tokenizer()
    (ids,) = tokenizer.encode(["Hello 世界\0<|endoftext|>"])
    assert (tokenizer.vocabulary, tokenizer.eot) == (65_536, 0)
    assert ids[:2] == [33155, 33]  # RWKV World: "Hello", " "
    assert 0 not in ids
