"""Engram's compressed vocabulary: token ids whose texts differ only in case, accents or spaces become one id.

The rule is that of the published demo code (deepseek-ai/Engram, 2026-01; Cheng et al., arXiv:2601.07372, section on
tokenizer compression): ids are renumbered by the first appearance of their normalised text.
"""

import os

import numpy as np

from flashsim.corpora.tokenizers import load_tokenizer, tokenizers_library

_BROKEN = "\ufffd"  # in the text of a token that is part of a character
_SPACE = "\ue000"  # stands for a text of spaces only, which stripping would empty


def compressed_vocabulary(path: str | os.PathLike) -> np.ndarray:
    """uint32, shape (ids of the tokenizer,): the compressed id of each id of the ``tokenizer.json`` in ``path``.

    Raises UsageError or DataError as :func:`flashsim.corpora.tokenizers.load_tokenizer` does.
    """
    model, normalizers = load_tokenizer(path), tokenizers_library().normalizers
    spaces = tokenizers_library().Regex(r"[ \t\r\n]+")
    only_a_space = tokenizers_library().Regex(r"^ $")
    normalise = normalizers.Sequence(
        [
            normalizers.NFKC(),
            normalizers.NFD(),
            normalizers.StripAccents(),
            normalizers.Lowercase(),
            normalizers.Replace(spaces, " "),
            normalizers.Replace(only_a_space, _SPACE),
            normalizers.Strip(),
            normalizers.Replace(_SPACE, " "),
        ]
    ).normalize_str
    numbers: dict[str, int] = {}
    ids = np.empty(model.get_vocab_size(with_added_tokens=True), np.uint32)
    for token in range(len(ids)):
        text = model.decode([token], skip_special_tokens=False)
        key = model.id_to_token(token) if _BROKEN in text else normalise(text) or text
        ids[token] = numbers.setdefault(key or "", len(numbers))
    return ids
