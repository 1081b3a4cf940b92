"""flashsim corpus info: the table on stdout, everything else on stderr, and the options that all commands share."""

import json
import subprocess
import sys

import numpy as np
import pytest

from flashsim.cli import main
from flashsim.cli.corpus_info import command
from flashsim.tokens import FORMATS, raw

IDS = np.resize(np.arange(20, 620), 3000).astype(np.uint16)
IDS[::50] = 3


@pytest.fixture
def path(tmp_path):
    IDS.tofile(tmp_path / "a.bin")
    return tmp_path / "a.bin"


def run(capsys, *args):
    code = main(["corpus", "info", *map(str, args)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_table_and_warnings(capsys, path):
    code, out, err = run(capsys, path, "--eot", 3, "--vocab-size", "65536")
    assert code == 0
    lines = out.splitlines()
    assert lines[:6] == [
        "file        a (raw, uint16)",
        "tokens      3,000",
        "documents   61, 49.2 tokens each on average",
        "boundary    --eot 3",
        "vocabulary  65,536",
        "largest id  619",
    ]
    assert lines[7].split("  ")[-1].strip() == "top 10,000"
    assert len({len(line) for line in lines[7:]}) == 1  # aligned
    assert lines[9].split()[:3] == ["bigrams", "2,939", "588"]
    assert "note: a.bin: read as raw uint16, told by its content\n" in err
    assert "warning: only 3,000 tokens" in err and "warning" not in out


def test_json(capsys, path):
    code, out, err = run(capsys, path, "--json", "--tokens", "1k", "--dtype", "uint16")
    found = json.loads(out)
    assert code == 0 and "note" not in err
    assert (found["tokens"], found["tokens_in_file"], found["documents"]) == (1000, 3000, 1)
    assert found["unigrams"]["top_1"] == 20 / 1000 and found["boundary"] == "none"
    assert [f"warning: {warning}" for warning in found["warnings"]] == err.splitlines()


def test_no_boundaries_can_be_forced(capsys, path):
    path.with_suffix(".json").write_text('{"eot": 3, "synthetic": true}')
    assert "eot 3 (a.json)" in run(capsys, path)[1]
    out = run(capsys, path, "--eot", "none")[1]
    assert "boundary    none (--eot none)" in out and "file        a (raw, uint16, synthetic)" in out


def test_documents_and_prefix(capsys, path):
    np.save(path.with_name("d.npy"), np.array([0, 1000]))
    out = run(capsys, path, "--documents", path.with_name("d.npy"), "--format", "raw", "--tokens", 2000)[1]
    assert "documents   2, 1,000.0 tokens" in out and "tokens      2,000 of 3,000" in out


@pytest.mark.parametrize(("options", "code", "message"), [
    (["--eot", "3", "--documents", "d.npy"], 2, "2 boundary rules"),
    (["--eot", "-3"], 2, "'-3' is neither a token id"),
    (["--eot", "²"], 2, "'²' is neither a token id"),
    (["--eot", "70000"], 2, "--eot 70000 is outside the ids"),
    (["--vocab-size", "64KiB"], 2, "--vocab-size"),
    (["--vocab-size", "500"], 3, "outside the vocabulary of 500"),
    (["--dtype", "uint32"], 3, "Pass --dtype uint16"),
    (["--format", "llmc"], 3, "no llm.c header"),
    (["--format", "csv"], 2, "'csv' is not one of"),
    (["--tokens", "0"], 2, "give at least 1"),
])  # fmt: skip
def test_bad_requests_are_one_line(capsys, path, options, code, message):
    found, out, err = run(capsys, path, *options)
    assert (found, out) == (code, "")
    last = err.splitlines()[-1]
    assert last.startswith("flashsim: error: ") and message in last and "Traceback" not in err


def test_choices_are_those_of_the_library():
    choices = {option.name: tuple(option.type.choices) for option in command.params if hasattr(option.type, "choices")}
    assert choices == {"format": tuple(module.NAME for module in FORMATS), "dtype": raw.DTYPES}


def test_every_option_has_help_and_help_is_cheap():
    assert all(option.help for option in command.params if option.param_type_name == "option")
    script = (
        "import sys; from flashsim.cli import main; code = main(['corpus', 'info', '--help']); "
        "sys.exit(code or 'numpy' in sys.modules)"
    )
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert finished.returncode == 0 and "--vocab-size" in finished.stdout
