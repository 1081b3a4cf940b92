"""The synthetic stream: its shape, its laws, its repetition."""

import json

import numpy as np
import pytest

from flashsim.corpora import synth
from flashsim.corpora.synth import synthesise, write_synthetic
from flashsim.errors import UsageError

MODEL = {"documents_mean": 100.0, "exponent": 1.05, "quoted": 0.12}


def distinct(ids, order):
    key = np.zeros(len(ids) - order + 1, np.uint64)
    for back in range(order):
        key = key << np.uint64(16) | ids[back : len(ids) - order + 1 + back].astype(np.uint64)
    return len(np.unique(key)) / len(key)


def test_ids_documents_and_starts_agree():
    ids, starts = synthesise(50_000, 1000, 1, documents_mean=100)
    assert ids.dtype == np.uint16
    assert ids.shape == (50_000,)
    assert ids.max() < 1000
    assert ids[-1] == 0
    assert starts[0] == 0
    assert (ids[starts[1:] - 1] == 0).all()
    assert len(starts) == np.count_nonzero(ids == 0)
    assert 50_000 / len(starts) == pytest.approx(100, rel=0.1)


def test_the_seed_decides_every_id():
    first = synthesise(20_000, seed=5)[0]
    assert np.array_equal(first, synthesise(20_000, seed=5)[0])
    assert not np.array_equal(first, synthesise(20_000, seed=6)[0])


def test_fresh_ranks_follow_zipf_mandelbrot():
    ranks = synth._inverse(np.random.default_rng(0).random(400_000), 5000, 4.0, 1.05)
    edges = np.arange(1, 5002) + 4.0
    cumulative = (edges[0] ** -0.05 - edges**-0.05) / (edges[0] ** -0.05 - edges[-1] ** -0.05)
    found = np.bincount(ranks, minlength=5001)[1:] / len(ranks)
    assert (ranks.min(), ranks.max()) == (1, 5000)
    assert np.abs(np.cumsum(found) - cumulative[1:]).max() < 0.003  # Kolmogorov-Smirnov, far over its 5 % bound


def test_pairs_and_triples_repeat_as_they_do_in_text():
    ids, _ = synthesise(1_000_000)
    shuffled = np.random.default_rng(0).permutation(ids)
    assert 0.25 < distinct(ids, 2) < 0.4  # text of this length: 0.35
    assert 0.6 < distinct(ids, 3) < 0.8  # text: 0.66
    assert distinct(ids, 2) < 0.8 * distinct(shuffled, 2)


def test_quotations_repeat_long_spans():
    assert distinct(synthesise(200_000, quoted=0.5)[0], 4) < 0.7 * distinct(synthesise(200_000, quoted=0)[0], 4)


def test_the_file_is_the_stream_and_says_that_it_is_synthetic(tmp_path, monkeypatch):
    monkeypatch.setattr(synth, "_BLOCK_TOKENS", 3000)
    facts = write_synthetic(tmp_path / "s.bin", 10_001, 70_000, 2, **MODEL)
    ids, starts = synthesise(10_001, 70_000, 2, **MODEL)
    written = np.fromfile(tmp_path / "s.bin", "<u4", offset=1024)
    assert ids.dtype == np.uint32
    assert np.array_equal(written, ids)
    kept = json.loads((tmp_path / "s.json").read_text())
    assert kept["synthetic"] is True
    assert kept["documents"] == facts["documents"] == len(starts)
    assert (kept["tokens"], kept["vocabulary"], kept["eot"]) == (10_001, 70_000, 0)


@pytest.mark.parametrize("tokens", [1, 2, 21, 513])
def test_short_streams_work(tokens):
    ids, starts = synthesise(tokens, documents_mean=2)
    assert len(ids) == tokens
    assert ids[-1] == 0
    assert len(starts) == np.count_nonzero(ids == 0)


@pytest.mark.parametrize(
    ("change", "option"),
    [
        ({"tokens": 0}, "--tokens 0"),
        ({"vocabulary": 100}, "--vocab 100"),
        ({"documents_mean": 1}, "--documents-mean 1"),
        ({"documents_mean": float("nan")}, "--documents-mean nan"),
        ({"exponent": 0}, "--exponent 0"),
        ({"quoted": 1}, "--quoted 1"),
    ],
)
def test_what_is_out_of_range_is_refused(change, option):
    with pytest.raises(UsageError, match=option):
        synthesise(**({"tokens": 100} | change))
