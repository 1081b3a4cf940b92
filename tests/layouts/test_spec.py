"""The TOML form: a file stands where a name does, and a mistake is named with its place."""

import shutil

import pytest

from flashsim.errors import UsageError
from flashsim.layouts import layout, load_spec, preset_names
from flashsim.layouts.spec import _PRESETS

OWN = """
name = "own"
[ngrams]
orders = [1, 4]
[rows]
addressing = "bucket"
heads = 4
slots = 2
params = "1M"
width = 32
format = "fp16"
[hash]
seed = 5
[placement]
page = "16KiB"
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(OWN)
    return path


def test_presets_are_the_reports_and_the_published_ones():
    assert preset_names() == [
        "deepseek-v4.1", "engram", "engram-27b", "engram-demo", "flat", "gemma-3n", "longcat-2.0", "longcat-flash-lite",
        "modded-nanogpt", "over-encoding", "pagegram", "qwen3.8-flash-next", "scone",
    ]  # fmt: skip
    for name in preset_names():
        assert load_spec(name).name == name and load_spec(name).title and load_spec(name).source
    for name in ("engram", "flat", "pagegram"):
        spec = load_spec(name)
        assert spec.name == name and spec.title and "PageGram report" in spec.source
        assert spec.ngrams.orders == (2, 3) and spec.rows.params == "20B" and spec.placement.page == "4KiB"


def test_a_file_stands_where_a_name_does(file):
    made = layout(str(file))
    assert made.label == "own-S2-1M" and made.orders == (1, 4) and (made.heads, made.slots) == (4, 2)
    assert (made.page_bytes, made.row_bytes, made.buckets_per_page) == (16384, 64, 32)
    assert made.spec.hash.seed == 5 and made.spec.hash.family == "mix64"
    assert layout(str(file), S=3, params="2M", seed=0).label == "own-S3-2M-seed0"


def test_a_copy_of_a_preset_may_keep_its_name_but_a_changed_one_may_not(tmp_path):
    path = tmp_path / "mine.toml"
    shutil.copy(_PRESETS / "pagegram.toml", path)
    assert layout(str(path)) == layout("pagegram")
    path.write_text(path.read_text().replace("width = 64", "width = 32"))
    with pytest.raises(UsageError, match="1 name, 2 layouts"):
        layout(str(path))


@pytest.mark.parametrize(("old", "new", "message"), [
    ("seed = 5", "layuot = 5", r"unknown field `layuot` at \$\.hash"),
    ('name = "own"', 'name = "own"\nlayuot = 1', r"unknown field `layuot` at \$ "),
    ("slots = 2", "slot = 2", r"unknown field `slot` at \$\.rows"),
    ('params = "1M"', "params = 1000000", r"expected `str \| null`, got `int` at \$\.rows\.params"),
    ("width = 32", 'width = "32"', r"expected `int`, got `str` at \$\.rows\.width"),
    ("width = 32", "width = 32.5", r"\$\.rows\.width"),
    ("orders = [1, 4]", 'orders = [1, "4"]', r"\$\.ngrams\.orders\[1\]"),
    ("orders = [1, 4]", "", r"missing required field `orders` at \$\.ngrams"),
    ("[ngrams]\norders = [1, 4]", "", r"missing required field `ngrams` at \$ "),
    ('name = "own"', "", r"missing required field `name` at \$ "),
    ('"bucket"', '"buckets"', r"'buckets' at \$\.rows\.addressing: one of bucket, heads, whole \("),
    ("seed = 5", 'family = "crc32"', r"invalid enum value 'crc32' at \$\.hash\.family: one of .*longest-match, mix64"),
    ("seed = 5", "word = 16", r"invalid enum value 16 at \$\.hash\.word: one of 32, 64 \("),
    ("[hash]", "[hash", "not TOML"),
    ("seed = 5", "seed = ", "not TOML"),
    ("seed = 5", "seed = 5\nseed = 6", "not TOML"),
    ('name = "own"', 'name = "a/b"', "name 'a/b' goes into file names"),
    ('name = "own"', 'name = ""', "name '' goes into file names"),
    ('name = "own"', 'name = "ö"', "goes into file names"),
    ('name = "own"', 'name = "flat"', "1 name, 2 layouts"),
    ("slots = 2", "", "slots"),
    ("seed = 5", "seed = -5", "seed -5"),
])  # fmt: skip
def test_mistakes_are_named_with_their_place(file, old, new, message):
    assert old in OWN
    file.write_text(OWN.replace(old, new))
    with pytest.raises(UsageError, match=message) as caught:
        layout(str(file))
    assert "\n" not in str(caught.value) and any(letter.isdigit() for letter in str(caught.value))


def test_what_is_no_text(file):
    for content in (b"", b"\xff\xfe\0", bytes(range(256)), b"\0" * 100):
        file.write_bytes(content)
        with pytest.raises(UsageError, match=r"not TOML|missing required field"):
            layout(str(file))


def test_a_file_that_is_not_there():
    for name in ("flat.toml", "nowhere/own.toml"):
        with pytest.raises(UsageError, match=r"no layout file .*0 files"):
            layout(name)


@pytest.mark.parametrize("name", ["", "Flat", "pagegran", "own", ".", "/"])
def test_unknown_names_list_the_known_ones(file, monkeypatch, name):
    monkeypatch.chdir(file.parent)
    with pytest.raises(UsageError, match=r"13 presets, deepseek-v4\.1, engram, .*flat"):
        layout(name)


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(UsageError, match="no layout file"):
        load_spec(str(tmp_path / "folder.toml"))
