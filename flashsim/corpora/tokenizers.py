"""Text to token ids: RWKV World, a Hugging Face ``tokenizer.json``, or a byte-level BPE trained on the text
itself.

All need the ``text`` extra. None of them lets text make the end-of-text id: a document that spells out
``<|endoftext|>`` holds the pieces of that string.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from flashsim.errors import DataError, UsageError
from flashsim.files import write_text

NEEDS_TEXT = "pip install 'flashsim[text]' (in a clone: '.[text]')"
BPE_EOT = "<|endoftext|>"
_BPE_SAMPLE_CHARACTERS = 40_000_000  # training on 40 MB takes about 70 s and 1.4 GB, and more changes little
_BPE_SMALLEST = 257  # 256 bytes and the end of text

# what tokenizers call the token that ends a document, the likeliest first
EOT_NAMES = (
    BPE_EOT,
    "<|end_of_text|>",
    "<｜end▁of▁sentence｜>",
    "</s>",
    "<eos>",
    "<|eos|>",
    "<EOS>",
    "[EOS]",
    "<|im_end|>",
    "<|eot_id|>",
    "[SEP]",
)


@dataclass(frozen=True)
class TextTokenizer:
    """A tokenizer as corpora need it.

    name: for people, kept in the corpus's facts.
    vocabulary: number of ids; every id is below it.
    eot: id that ends a document.
    encode: texts -> one list of ids a text, without ``eot``. Raises UsageError where a text makes ``eot`` all
        the same.
    """

    name: str
    vocabulary: int
    eot: int
    encode: Callable[[list[str]], list[list[int]]]


def rwkv_tokenizer(eot: int | None = None) -> TextTokenizer:
    """The RWKV World vocabulary: 65,536 ids, id 0 ends a text and no text makes it. Raises UsageError."""
    try:
        from pyrwkv_tokenizer import RWKVTokenizer
    except ImportError:
        raise UsageError(
            f"the RWKV World tokenizer (65,536 ids) is not installed: {NEEDS_TEXT}, or pass --tokenizer tokenizer.json"
        ) from None
    vocabulary = 65_536
    eot = _checked_eot(0 if eot is None else eot, vocabulary)
    encode = RWKVTokenizer().encode_batch

    def encode_texts(texts: list[str]) -> list[list[int]]:
        return [_without_eot(ids, eot) for ids in encode(texts)] if eot else encode(texts)

    return TextTokenizer("RWKV World (pyrwkv-tokenizer)", vocabulary, eot, encode_texts)


def file_tokenizer(path: str | os.PathLike, eot: int | None = None) -> TextTokenizer:
    """The tokenizer of a Hugging Face ``tokenizer.json``; ``eot`` None looks for one of EOT_NAMES.

    Raises UsageError where the file is missing, ``tokenizers`` is not installed or no end of text is found,
    DataError where the file is not a tokenizer.
    """
    return _wrapped(load_tokenizer(path), str(path), eot)


def load_tokenizer(path: str | os.PathLike):
    """The ``tokenizers.Tokenizer`` in a ``tokenizer.json``. Raises UsageError and DataError as file_tokenizer does."""
    library, path = tokenizers_library(), Path(path)
    if not path.is_file():
        raise UsageError(f"unknown tokenizer {str(path)!r}: the 2 ways are 'rwkv' and the path of a tokenizer.json")
    try:
        return library.Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing narrower
        raise DataError(
            f"{path}: {path.stat().st_size} bytes that are not a Hugging Face tokenizer.json ({error})"
        ) from None


def trained_bpe(
    texts: Iterable[str], vocabulary: int, save: str | os.PathLike, eot: int | None = None
) -> TextTokenizer:
    """Train a byte-level BPE of at most ``vocabulary`` ids on a sample of ``texts`` and save it as ``save``.

    The sample is every 1st, 2nd, 4th ... text, as many as stay under 40 M characters. A small text gives
    fewer ids than asked for. Raises UsageError for a vocabulary under 257, for 0 texts, or where
    ``tokenizers`` is not installed.
    """
    if vocabulary < _BPE_SMALLEST:
        raise UsageError(
            f"--train-bpe {vocabulary}: byte-level BPE needs at least {_BPE_SMALLEST} ids (65536 is usual)"
        )
    library = tokenizers_library()
    sample = _sample(texts, _BPE_SAMPLE_CHARACTERS)
    if not sample:
        raise UsageError("0 documents to train a BPE on; give UTF-8 text, plain, .gz or .zst")
    model = library.Tokenizer(library.models.BPE())
    model.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=False)
    model.decoder = library.decoders.ByteLevel()
    trainer = library.trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[BPE_EOT],
        initial_alphabet=sorted(library.pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    model.train_from_iterator(sample, trainer)
    write_text(save, model.to_str(pretty=True) + "\n")
    return _wrapped(model, f"byte-level BPE trained on this text ({Path(save).name})", eot)


def tokenizers_library():
    """The package ``tokenizers``. Raises UsageError where it is not installed."""
    try:
        import tokenizers
    except ImportError:
        raise UsageError(f"a tokenizer.json needs 1 more package, 'tokenizers': {NEEDS_TEXT}") from None
    return tokenizers


def _wrapped(model, name: str, eot: int | None) -> TextTokenizer:
    ids = model.get_vocab(with_added_tokens=True)
    vocabulary = max(ids.values(), default=-1) + 1
    eot = _named_eot(ids, name) if eot is None else _checked_eot(eot, vocabulary)
    spelling = model.id_to_token(eot) or ""
    model.no_truncation()
    model.no_padding()
    model.encode_special_tokens = True  # text that spells a special token is text

    def encode(texts: list[str]) -> list[list[int]]:
        batch = [found.ids for found in model.encode_batch_fast(texts, add_special_tokens=False)]
        for at, ids in enumerate(batch):
            if eot in ids:  # an added token that is not marked special is matched all the same
                batch[at] = _without_eot(_encoded_apart(model, texts[at], spelling), eot)
        return batch

    return TextTokenizer(name, vocabulary, eot, encode)


def _encoded_apart(model, text: str, spelling: str) -> list[int]:
    """Encode ``text`` cut inside each ``spelling``, so that no piece holds it whole."""
    half = len(spelling) // 2
    parts = text.split(spelling) if half else [text]
    heads = ["", *[spelling[half:]] * (len(parts) - 1)]
    tails = [*[spelling[:half]] * (len(parts) - 1), ""]
    pieces = [head + part + tail for head, part, tail in zip(heads, parts, tails, strict=True)]
    return [id for found in model.encode_batch_fast(pieces, add_special_tokens=False) for id in found.ids]


def _without_eot(ids: list[int], eot: int) -> list[int]:
    if eot in ids:
        raise UsageError(
            f"--eot {eot} is also an id of the text itself (token {ids.index(eot)} of a document): give an id"
        )
    return ids


def _checked_eot(eot: int, vocabulary: int) -> int:
    if not 0 <= eot < vocabulary:
        raise UsageError(f"--eot {eot} is outside the vocabulary: give an id of 0 to {vocabulary - 1}")
    return eot


def _named_eot(ids: dict[str, int], name: str) -> int:
    for spelling in EOT_NAMES:
        if spelling in ids:
            return ids[spelling]
    raise UsageError(
        f"{name}: none of its {len(ids)} tokens ends a text (looked for {', '.join(EOT_NAMES)}); pass --eot ID"
    )


def _sample(texts: Iterable[str], characters: int) -> list[str]:
    """Every n-th text, n the smallest power of two that keeps the sample within ``characters``."""
    kept, size, step = [], 0, 1
    for index, text in enumerate(texts):
        if index % step:
            continue
        kept.append(text)
        size += len(text)
        while size > characters and len(kept) > 1:
            step *= 2
            kept = kept[::2]
            size = sum(map(len, kept))
    return kept
