"""What commands say where the tokens are another tokenizer's than the layout's model has."""

import json
from pathlib import Path

import numpy as np
import pytest

from flashsim.layouts import load_spec
from flashsim.layouts.vocabulary import ids_elsewhere
from flashsim.report.doubts import doubts

QWEN = ("--layout", "qwen3.8-flash-next")
OURS = "65,536 ids, qwen3.8-flash-next's model has 248,045 or more: another tokenizer, other n-grams; figures of the "
SMALL = ("--vocab-size", "65536", "--eot", "0", "--tokens", "5k")
COMMANDS = {
    "sweep-cache": ("--cache", "64KiB", "-o", "x.csv"), "curve": ("-o", "x.csv"), "hot-set": ("-o", "x.csv"),
    "cold-start": ("--window", "1k", "-o", "x.csv"), "trace": ("-o", "x.npy"),
    "plan": ("--device", "pcie4-consumer", "--streams", "2", "-o", "x.csv"),
}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_it_is_noted_once_and_doubted_on_the_page(flashsim, corpus_file, command):
    code, _, err = flashsim(command, corpus_file, *QWEN, *COMMANDS[command], *SMALL)
    assert code == 0 and err.count(f"note: {corpus_file}: {OURS}") == err.count("another tokenizer") == 1, err
    told = [doubt for doubt in doubts(json.loads(Path("x.json").read_text()), None) if OURS in doubt.text]
    assert len(told) == 1 and told[0].mark == "UNCERTAIN" and told[0].text.startswith("corpus: ")


def test_a_trace_takes_its_note_along(flashsim, corpus_file):
    assert flashsim("trace", corpus_file, *QWEN, *SMALL, "-o", "t.npy")[0] == 0
    assert flashsim("curve", "t.npy", "-o", "x.csv")[0] == 0
    assert any(OURS in doubt.text for doubt in doubts(json.loads(Path("x.json").read_text()), None))


@pytest.mark.parametrize("layout", [("flat,pagegram,engram", "--params", "1M"), ("modded-nanogpt",), (QWEN[1],)])
@pytest.mark.parametrize("vocabulary", [None, 248_320])
def test_not_where_either_is_not_known_or_it_may_be_the_same(flashsim, layout, vocabulary):
    np.arange(5000, dtype=np.uint32).tofile("own.bin")
    Path("own.json").write_text(json.dumps({"vocabulary": vocabulary}))
    code, _, err = flashsim("curve", "own.bin", "--eot", "0", "--layout", *layout, "-o", "x.csv")
    assert code == 0 and "tokenizer" not in err


@pytest.mark.parametrize(("name", "ids", "told"), [
    ("longcat-flash-lite", 65_536, "131,072"), ("longcat-flash-lite", 131_072, None),
    ("longcat-flash-lite", 248_320, "131,072"), ("engram-27b", 128_815, None),  # of 129,280, the rest is padding
    ("engram-27b", 65_536, "129,280"), ("deepseek-v4.1", 65_536, "99,092 or more"), ("deepseek-v4.1", 129_280, None),
    ("qwen3.8-flash-next", 248_044, "248,045 or more"), ("qwen3.8-flash-next", 248_045, None),
    ("over-encoding", 256, None), ("pagegram", 256, None),
])  # fmt: skip
def test_how_many_ids_a_model_has(name, ids, told):
    assert ids_elsewhere(load_spec(name), ids) == told
