"""A token file from text: read documents, tokenize, shuffle, write."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from flashsim.corpora.text import DOCUMENT_CHARACTERS, TextSource, read_documents
from flashsim.corpora.tokenizers import TextTokenizer
from flashsim.corpora.write import Spool, write_tokens
from flashsim.errors import UsageError
from flashsim.units import number_of

_BATCH_CHARACTERS = 1 << 20  # enough for every core to have texts to encode, small in memory


def build_corpus(
    paths: Sequence[str | os.PathLike],
    output: str | os.PathLike,
    tokenizer: Callable[[Callable[[], Iterator[str]]], TextTokenizer],
    *,
    seed: int = 0,
    document_characters: int | None = DOCUMENT_CHARACTERS,
) -> dict[str, Any]:
    """Build the token file ``output`` from the text under ``paths``; returns its facts.

    tokenizer: called once with a function that reads the documents, for a tokenizer that is trained on them.
    seed: of the shuffle by document. Same text, tokenizer and seed give the same bytes.
    document_characters: longer files are split where a paragraph ends; None keeps a document a file.

    Raises UsageError where there is no document, DataError on damaged input; the output is then as it was.
    """

    def documents() -> Iterator[str]:
        for path in paths:
            yield from read_documents(TextSource(Path(path)), document_characters)

    if any(Path(path).is_file() and Path(output).exists() and Path(output).samefile(path) for path in paths):
        raise UsageError(f"{output} is 1 of the {len(paths)} paths to read, and would be lost: choose another -o")
    made = tokenizer(documents)
    sources = [TextSource(Path(path)) for path in paths]
    with Spool(output, made.vocabulary, made.eot) as spool:
        for index, source in enumerate(sources):
            tokenize(((index, text) for text in read_documents(source, document_characters)), made, spool)
        if not len(spool):
            skipped = sum(source.not_text + source.empty for source in sources)
            raise UsageError(
                f"0 documents in {number_of(len(sources), 'path')} ({number_of(skipped, 'file')} skipped: "
                "binary, not UTF-8 or empty); give UTF-8 text, plain, .gz or .zst"
            )
        counts = spool.tokens_by_source(len(sources))
        facts = {
            "documents": len(spool),
            "eot": made.eot,
            "tokenizer": made.name,
            "seed": seed,
            "sources": [
                {"path": str(source.path), "files": source.files, "documents": source.documents}
                | {"bytes": source.bytes, "tokens": count}
                | {"skipped_not_text": source.not_text, "skipped_empty": source.empty}
                for source, count in zip(sources, counts, strict=True)
            ],
        }
        return write_tokens(output, spool.shuffled(seed), spool.tokens, made.vocabulary, facts)


def tokenize(documents: Iterable[tuple[int, str]], tokenizer: TextTokenizer, spool: Spool) -> None:
    """Encode ``documents``, (source index, text) each, into ``spool``; progress goes to stderr."""
    from tqdm import tqdm

    with tqdm(desc="tokenizing", unit="B", unit_scale=True, disable=None) as progress:
        for batch in _batches(documents):
            texts = [text for _, text in batch]
            for (source, _), ids in zip(batch, tokenizer.encode(texts), strict=True):
                spool.add(ids, source)
            progress.update(sum(len(text.encode()) for text in texts))


def _batches(documents: Iterable[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    batch, characters = [], 0
    for document in documents:
        batch.append(document)
        characters += len(document[1])
        if characters >= _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch
