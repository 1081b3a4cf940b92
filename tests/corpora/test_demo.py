"""The demo corpus, without the network: its list of sources, its rules, and a tiny one made of wheels made here."""

import json
import random
import struct
from zipfile import ZipFile

import pytest

from flashsim.corpora import demo, wheels
from flashsim.corpora.demo import (
    Document,
    Package,
    Part,
    clean_documents,
    demo_sources,
    in_language,
    within_budgets,
)
from flashsim.corpora.wheels import READERS, Wheel, download, read_texts
from flashsim.errors import DataError, UsageError
from flashsim.files import sha256_of

PROSE = "Reading a table from flash costs one page for every row that no cache holds, and rows are small."


def catalogue(messages, order="<"):
    """A gettext .mo of ``messages`` as msgfmt lays it out: header, two tables of (length, offset), the strings."""
    pairs = sorted({"": "Content-Type: text/plain; charset=UTF-8\n", **messages}.items())
    columns = [[pair[side].encode() for pair in pairs] for side in (0, 1)]
    tables = 28, 28 + 8 * len(pairs)
    at, lengths, strings = 28 + 16 * len(pairs), b"", b""
    for column in columns:
        for text in column:
            lengths += struct.pack(f"{order}2I", len(text), at + len(strings))
            strings += text + b"\0"
    return struct.pack(f"{order}7I", 0x950412DE, 0, len(pairs), *tables, 0, 0) + lengths + strings


def test_every_source_can_be_read_and_has_a_budget():
    packages, budgets = demo_sources()
    assert len({package.wheel.name for package in packages}) == len(packages) > 5
    assert sum(package.wheel.bytes for package in packages) < 150e6
    groups = set()
    for package in packages:
        assert package.licence
        assert len(package.wheel.sha256) == 64
        for part in package.parts:
            assert part.reader in READERS
            assert "{" not in part.files
            groups.add(f"{part.kind}/{part.language}")
    assert groups == set(budgets)
    assert {group.split("/")[1] for group in groups} >= {"en", "de", "ja", "ru", "zh"}


@pytest.mark.parametrize("order", ["<", ">"])
def test_catalogues_give_translations_and_plurals_without_header_and_context(order):
    data = catalogue({"menu\4Open": "Öffnen", "a page\0pages": "eine Seite\0Seiten", "Same": "Same"}, order)
    assert sorted(READERS["gettext"](data)) == ["Seiten", "eine Seite", "Öffnen"]
    assert sorted(READERS["gettext-source"](data)) == ["Open", "Same", "a page", "pages"]


def test_json_gives_strings_or_entries_and_text_has_to_be_utf8():
    data = b'{"a": {"title": "T", "steps": ["x", 3, "y"]}, "b": "z"}'
    assert list(READERS["json-strings"](data)) == ["T", "x", "y", "z"]
    assert list(READERS["json-entries"](data)) == ["T\nx\ny", "z"]
    assert list(READERS["text"](b"caf\xe9")) == []


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("The cache holds it.", "en", True),
        ("Кэш содержит её.", "en", False),
        ("Кэш %(name)s содержит её.", "ru", True),
        ("キャッシュにあります。", "ja", True),
        ("缓存中没有这一页。", "ja", False),
        ("缓存中没有这一页。", "zh", True),
        ("キャッシュの中", "zh", False),
        ("12345", "de", False),
        ("12345", "python", True),
    ],
)
def test_languages_are_told_by_script(text, language, expected):
    assert in_language(text, language) is expected


def test_a_line_is_kept_once_and_tables_of_data_are_dropped():
    seen = set()
    assert list(clean_documents([PROSE, f"{PROSE}\nAnother line that was not there before.", "short"], "en", seen)) == [
        f"{PROSE}\n\nAnother line that was not there before."
    ]
    assert list(clean_documents([PROSE], "en", seen)) == []
    assert list(clean_documents(["\n".join(f"value {n % 10}, 0, 0, 0" for n in range(900))], "en", seen)) == []


def test_budgets_bound_each_kind_and_language():
    documents = [Document(0, "prose", "de", "x" * 10) for _ in range(9)] + [Document(0, "code", "c", "y" * 10)]
    chosen = within_budgets(documents, {"prose/de": 35, "code/c": 100})
    assert sorted(document.group for document in chosen) == ["code/c", "prose/de", "prose/de", "prose/de"]


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """Two sources, of which pip "downloads" the first; returns the folder and the calls of pip."""
    made, draw = tmp_path / "made.whl", random.Random(0)
    with ZipFile(made, "w") as archive:
        archive.writestr("pkg/docs/a.txt", "\n".join(" ".join(draw.choices(PROSE.split(), k=9)) for _ in range(60)))
        archive.writestr("pkg/code.py", "".join(f"def f{n}():\n    return {n * n * 7919}\n" for n in range(80)))
    have = Package(
        Wheel("have", "1", sha256_of(made), made.stat().st_size),
        "MIT",
        (Part("pkg/docs/*.txt", "text", "prose", "en"), Part("pkg/*.py", "text", "code", "python")),
    )
    lack = Package(Wheel("lack", "2", "0" * 64, 1), "MIT", (Part("*", "text", "prose", "en"),))
    calls = []

    def pip(wheel, home):
        calls.append(wheel.name)
        if wheel.name == "lack":
            return "ERROR: no such package"
        home.mkdir(parents=True, exist_ok=True)
        (home / "have-1-py3-none-any.whl").write_bytes(made.read_bytes())
        return ""

    monkeypatch.setattr(wheels, "_pip_download", pip)
    monkeypatch.setattr(demo, "demo_sources", lambda: ([have, lack], {"prose/en": 10**6, "code/python": 10**6}))
    return tmp_path / "corpora", calls


def test_a_source_that_cannot_be_had_is_named_and_left_out(tiny, monkeypatch, capsys):
    pytest.importorskip("pyrwkv_tokenizer")
    folder, calls = tiny
    with pytest.raises(UsageError, match=r"of the 5000000 tokens .* from 1 of 2 packages"):
        demo.demo_corpus(folder)
    assert not (folder / "demo.bin").exists()
    assert calls == ["have", "lack", "lack", "lack"]
    assert "lack 2 could not be had in 3 attempts: ERROR: no such package" in capsys.readouterr().err

    monkeypatch.setattr(demo, "MINIMUM_TOKENS", 100)
    path = demo.demo_corpus(folder)
    assert calls[4:] == ["lack"] * 3  # the other one was still there
    facts = json.loads(path.with_suffix(".json").read_text())
    assert set(facts["by_kind_and_language"]) == {"code/python", "prose/en"}
    assert sum(facts["by_kind_and_language"].values()) == facts["tokens"] == facts["sources"][0]["tokens"]
    assert facts["sources"][0]["licence"] == "MIT"

    demo.demo_corpus(folder)
    assert len(calls) == 7  # made once


def test_a_wheel_with_another_checksum_is_removed_and_refused(tiny, tmp_path):
    with pytest.raises(DataError, match=r"SHA-256 of have-1-py3-none-any\.whl differs"):
        download(Wheel("have", "1", "0" * 64, 1), tmp_path / "d")
    assert not list((tmp_path / "d").rglob("*.whl"))


def test_members_are_read_in_sorted_order(tmp_path):
    with ZipFile(tmp_path / "w.whl", "w") as archive:
        archive.writestr("b.txt", "b")
        archive.writestr("a.txt", "a")
        archive.writestr("c.md", "c")
    assert list(read_texts(tmp_path / "w.whl", "*.txt", "text")) == ["a", "b"]
