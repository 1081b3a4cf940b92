"""``flashsim corpus build``, ``synth`` and ``demo`` from the command line."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from flashsim.cli import corpus_build, corpus_demo, corpus_synth
from flashsim.corpora import demo
from flashsim.errors import UsageError


def run(command, *args):
    return CliRunner().invoke(command, [str(arg) for arg in args], catch_exceptions=False)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    for index in range(30):
        (tmp_path / "in" / f"{index}.md").write_text(f"# Page {index}\n\nIt says <|endoftext|> and goes on.\n")
    (tmp_path / "in" / "logo.png").write_bytes(b"\x89PNG\0")
    return tmp_path / "in"


def test_train_bpe_writes_corpus_facts_and_tokenizer_and_repeats(folder, tmp_path):
    pytest.importorskip("tokenizers")
    outputs = [tmp_path / "a.bin", tmp_path / "b.bin"]
    for output in outputs:
        result = run(corpus_build.command, folder, "-o", output, "--train-bpe", "300")
        assert result.exit_code == 0
        assert "skipped what is binary or not UTF-8: 1 file" in result.stderr
        assert result.stdout.startswith(f"{output}: ")
        assert len(result.stdout.splitlines()) == 1
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    facts = json.loads((tmp_path / "a.json").read_text())
    ids = np.fromfile(outputs[0], "<u2", offset=1024)
    assert np.count_nonzero(ids == facts["eot"]) == facts["documents"] == 30

    again = run(corpus_build.command, folder, "-o", tmp_path / "c.bin", "--tokenizer", tmp_path / "a.tokenizer.json")
    assert again.exit_code == 0
    assert (tmp_path / "c.bin").read_bytes() == outputs[0].read_bytes()


def test_rwkv_is_the_default(folder, tmp_path):
    pytest.importorskip("pyrwkv_tokenizer")
    assert run(corpus_build.command, folder, "-o", tmp_path / "a.bin").exit_code == 0
    facts = json.loads((tmp_path / "a.json").read_text())
    assert (facts["vocabulary"], facts["eot"], facts["dtype"]) == (65_536, 0, "uint16")


def test_a_missing_tokenizer_package_names_the_extra(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyrwkv_tokenizer", None)
    with pytest.raises(UsageError, match=r"pip install 'flashsim\[text\]'"):
        run(corpus_build.command, folder, "-o", tmp_path / "a.bin")


def test_long_files_are_split_unless_asked_not_to(tmp_path):
    pytest.importorskip("pyrwkv_tokenizer")
    (tmp_path / "long.txt").write_text(("word " * 200 + "\n\n") * 60)
    for option, documents in (([], 3), (["--one-document-a-file"], 1)):
        run(corpus_build.command, tmp_path / "long.txt", "-o", tmp_path / "a.bin", "--force", *option)
        assert json.loads((tmp_path / "a.json").read_text())["documents"] == documents


def test_two_tokenizers_are_refused(folder, tmp_path):
    with pytest.raises(UsageError, match="give one"):
        run(
            corpus_build.command,
            folder,
            "-o",
            tmp_path / "a.bin",
            "--tokenizer",
            "rwkv",
            "--train-bpe",
            "300",
        )


def test_synth_says_synthetic(tmp_path):
    result = run(corpus_synth.command, "-o", tmp_path / "s.bin", "--tokens", "10k", "--vocab", "1000")
    assert result.exit_code == 0
    assert "10000 synthetic tokens" in result.stdout
    assert json.loads((tmp_path / "s.json").read_text())["synthetic"] is True
    assert (tmp_path / "s.bin").stat().st_size == 1024 + 20_000


def test_demo_prints_the_path_of_the_corpus_that_is_there(tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "make_demo_corpus", lambda *_: pytest.fail("made again"))
    (tmp_path / "demo.bin").write_bytes(b"there")
    assert run(corpus_demo.command, "--folder", tmp_path).stdout == f"{tmp_path / 'demo.bin'}\n"


def test_a_token_file_is_not_replaced_unasked(folder, tmp_path):
    output = tmp_path / "a.bin"
    output.write_bytes(b"somebody's tokens")
    for command in (
        [corpus_build.command, folder, "-o", output],
        [corpus_synth.command, "-o", output, "--tokens", "1000"],
    ):
        with pytest.raises(UsageError, match="exists, 17 bytes"):
            run(*command)
        assert output.read_bytes() == b"somebody's tokens"
    assert run(corpus_synth.command, "-o", output, "--tokens", "1000", "--force").exit_code == 0
    assert output.read_bytes() != b"somebody's tokens"
