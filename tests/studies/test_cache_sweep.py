"""The cache sweep equals a plain OrderedDict over the plain-Python pages, whatever the source, back end and jobs."""

import json
from dataclasses import replace
from io import StringIO
from threading import Event

import numpy as np
import pandas as pd
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from flashsim.errors import DataError, UsageError
from flashsim.kernels import BACKENDS
from flashsim.layouts import layout
from flashsim.studies import cache_sweep, cells
from flashsim.studies.cache_sweep import COLUMNS, Ways, sweep_cache
from flashsim.studies.ledger import to_csv
from flashsim.tokens.stream import TokenStream
from flashsim.trace import Trace, write_trace

LAYOUTS = [
    layout("flat", params=1_000_000), layout("engram", params=1_000_000), layout("pagegram", params=1_000_000),
    layout("pagegram", params=2_000_000, S=60, page="1KiB"),
]  # fmt: skip
CACHES = [4096, 10_000, 65_536, 200_000, 10**6, 10**9]


def short(count, seed=0, vocabulary=40):
    ids = np.random.default_rng(seed).integers(0, vocabulary, count).astype(np.uint16)
    return TokenStream(ids, eot=0, boundary="--eot 0")


def plain(stream, made, caches, begin, end, warmup):
    """Rows of the sweep from plain Python alone."""
    ids = stream.ids.tolist()
    starts = [at + 1 for at, token in enumerate(ids) if token == stream.eot]
    tokens = list(reference.pages_of(made, ids, starts))[begin:end]
    trace = [page for pages in tokens for page in pages]
    warmed = sum(map(len, tokens[:warmup]))
    for size in caches:
        capacity = size // made.page_bytes
        misses = sum(reference.lru(trace, capacity)[warmed:])
        reads = len(trace) - warmed
        yield {
            "cache_bytes": size, "capacity_pages": capacity, "tokens": len(tokens) - warmup,
            "lookups": sum(map(bool, tokens[warmup:])), "reads": reads, "distinct_pages": len(set(trace)),
            "misses": misses, "cold_misses": len(set(trace)) - len(set(trace[:warmed])),
            "reads_per_token": misses / (len(tokens) - warmup), "hit_ratio": 1 - misses / reads if reads else None,
            "warmup_tokens": warmup,
        }  # fmt: skip


def records(table, *columns):
    """Rows of a table as dicts, NaN as None."""
    table = table[list(columns)] if columns else table
    return [
        {key: None if value != value else value for key, value in row.items()}
        for row in table.astype(object).to_dict("records")
    ]


@settings(max_examples=25)
@given(
    st.sampled_from(LAYOUTS), st.integers(1, 400), st.integers(0, 9), st.integers(0, 399), st.integers(1, 400),
    st.integers(0, 399), st.sampled_from(sorted(BACKENDS)),
)  # fmt: skip
def test_equals_plain_python(made, count, seed, skip, tokens, warmup, backend):
    skip = skip % count
    end = min(skip + tokens, count)
    warmup = warmup % (end - skip)
    stream = short(count, seed)
    table = sweep_cache(stream, made, CACHES, skip=skip, tokens=tokens, warmup=warmup, backend=backend)
    wanted = list(plain(stream, made, CACHES, skip, end, warmup))
    assert records(table, *wanted[0]) == wanted


@pytest.mark.parametrize("made", LAYOUTS, ids=lambda made: made.label)
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_trace_gives_the_numbers_of_its_token_file(tmp_path, monkeypatch, made, backend):
    monkeypatch.setattr(cells, "_TRACE_STEP", 1000)  # tokens are cut in two
    stream = replace(short(3000, vocabulary=300), path=tmp_path / "a.b.bin", synthetic=True)
    stream.path.touch()
    write_trace(tmp_path / "trace.npy", stream, made)
    trace = Trace.open(tmp_path / "trace.npy")
    for window in ({}, {"skip": 700, "tokens": 1234, "warmup": 500}, {"skip": 2999}):
        direct, stored = (
            sweep_cache(source, layouts, CACHES, backend=backend, **window)
            for source, layouts in ((stream, made), (trace, ()))
        )
        pd.testing.assert_frame_equal(direct, stored)
    assert set(direct["corpus"]) == {"a.b"} and direct["synthetic"].all()


def test_a_trace_of_rows(tmp_path):
    """In units of rows a cache holds its bytes' worth of rows."""
    made, stream = LAYOUTS[1], short(2000)
    write_trace(tmp_path / "a.npy", stream, made, unit="row")
    table = sweep_cache(Trace.open(tmp_path / "a.npy"), (), [3400, 34_000])
    rows = [row for rows in reference.rows_of(made, stream.ids.tolist(), _starts(stream)) for row in rows]
    assert table["misses"].tolist() == [sum(reference.lru(rows, capacity)) for capacity in (100, 1000)]
    assert set(table["unit"]) == {"row"} and set(table["page_bytes"]) == {34}
    assert set(table["label"]) == {"engram-1M-row"}
    with pytest.raises(UsageError, match="33 B holds no row of 34 B: take 34 B or more"):
        sweep_cache(Trace.open(tmp_path / "a.npy"), (), [33])


def _starts(stream):
    return [at + 1 for at, token in enumerate(stream.ids.tolist()) if token == stream.eot]


def test_a_trace_or_window_without_reads(tmp_path):
    stream = TokenStream(np.zeros(10, np.uint16), eot=0)
    write_trace(tmp_path / "a.npy", stream, LAYOUTS[0])
    for source, layouts in ((stream, LAYOUTS[0]), (Trace.open(tmp_path / "a.npy"), ())):
        (row,) = records(sweep_cache(source, layouts, ["4KiB"], warmup=3))
        assert (row["tokens"], row["lookups"], row["reads"], row["misses"]) == (7, 0, 0, 0)
        assert row["reads_per_token"] == 0 and row["hit_ratio"] is None


def test_columns_and_what_was_run():
    table = sweep_cache(short(500), LAYOUTS[1:3], ["64KiB", "4KiB", 65_536])
    assert list(table.columns) == list(COLUMNS)
    assert table["label"].tolist() == ["engram-1M", "engram-1M", "pagegram-S4-1M", "pagegram-S4-1M"]
    assert table["cache_bytes"].tolist() == [4096, 65_536] * 2  # each once, in order
    first, last = records(table)[0], records(table)[-1]
    assert (first["corpus"], first["synthetic"], first["layout"], first["S"]) == ("tokens", False, "engram", None)
    assert (last["layout"], last["S"], last["params"], last["unit"]) == ("pagegram", 4, 1_000_000, "page")
    assert (last["table_bytes"], last["page_bytes"]) == (LAYOUTS[2].table_bytes, 4096)
    assert (last["warmup_tokens"], last["backend"]) == (0, "c")


def test_more_cache_never_reads_more(stream):
    table = sweep_cache(stream, LAYOUTS[:3], [size * 4096 for size in range(1, 200, 7)])
    assert table["synthetic"].all()
    for _, lines in table.groupby("label"):
        assert (lines["misses"].diff().dropna() <= 0).all() and lines["misses"].nunique() > 3
        assert (lines["cold_misses"] == lines["distinct_pages"]).all()
        assert (lines["misses"] >= lines["cold_misses"]).all()
        assert (lines["distinct_pages"] * 4096 <= lines["table_bytes"]).all()


@pytest.mark.parametrize("jobs", [2, 5])
def test_jobs_change_nothing(stream, jobs):
    one, many = (sweep_cache(stream, LAYOUTS, CACHES, tokens=60_000, jobs=count) for count in (1, jobs))
    pd.testing.assert_frame_equal(one, many)
    assert one["label"].drop_duplicates().tolist() == [made.label for made in LAYOUTS]


def test_sources_of_one_name_would_be_one_line_in_the_figure(tmp_path):
    first, second = (replace(short(100, seed), path=tmp_path / str(seed) / "corpus.bin") for seed in (1, 2))
    with pytest.raises(UsageError, match="corpus flat-1M plain comes 2 times"):
        sweep_cache([first, second], LAYOUTS, CACHES)
    other = replace(second, path=tmp_path / "other.bin")
    table = sweep_cache([first, other], LAYOUTS[0], [4096])
    assert table["corpus"].tolist() == ["corpus", "other"] and table["distinct_pages"].nunique() == 2


def test_rows_are_kept_as_cells_end():
    seen, steps = [], []
    table = sweep_cache(short(500), LAYOUTS, CACHES, finished=seen.append, progress=steps.append)
    assert len(seen) == 4 and len(seen[-1]) == 24 and sum(steps) == 4 * 500
    pd.testing.assert_frame_equal(pd.read_csv(StringIO(to_csv(seen[-1], COLUMNS))), table)
    assert all(rows == seen[-1][: len(rows)] for rows in seen)


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_ended_before_an_error_is_kept(monkeypatch, jobs):
    """The second cell fails only after the first has ended; the third is never waited for."""
    first_ended, real = Event(), cache_sweep.run_cell

    def run_cell(cell, *args):
        if cell.layout is LAYOUTS[0]:
            rows = real(cell, *args)
            first_ended.set()
            return rows
        first_ended.wait(10)
        raise KeyboardInterrupt

    monkeypatch.setattr(cache_sweep, "run_cell", run_cell)
    seen = []
    with pytest.raises(KeyboardInterrupt):
        sweep_cache(short(500), LAYOUTS, CACHES, jobs=jobs, finished=seen.append)
    assert seen and all({row["label"] for row in rows} == {"flat-1M"} for rows in seen)


def test_an_interrupt_stops_the_cells_in_work(stream):
    """The cells' next piece is their last: 4 cells of 2 pieces take at most 1 piece for each thread after it."""
    steps = []

    def progress(tokens):
        steps.append(tokens)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep_cache(stream, LAYOUTS, CACHES, jobs=2, progress=progress)
    assert len(steps) <= 2


@pytest.mark.parametrize(("values", "message"), [
    ({"caches": [4095]}, "4095 B holds no page of 4096 B: take 4 KiB or more"),
    ({"caches": ["1KiB", "1GiB"]}, "1024 B holds no page"),
    ({"caches": [4096], "ways": Ways(entry_bytes=64)}, "holds no page of 4160 B: take 4160 B or more"),
    ({"caches": [0]}, "0 B holds no page"),
    ({"caches": [-1]}, "-1 B holds no page"),
    ({"caches": ["1G"]}, "not a size"),
    ({"caches": []}, "0 caches"),
    ({"layouts": []}, "0 sources through layouts"),
    ({"sources": []}, "0 sources"),
    ({"layouts": [LAYOUTS[0]] * 2}, "comes 2 times"),
    ({"warmup": 100}, "--warmup 100 leaves nothing of 100 tokens"),
    ({"warmup": 60, "skip": 50}, "leaves nothing of 50 tokens"),
    ({"skip": 100}, "--skip 100"),
    ({"tokens": 0}, "--tokens 0"),
    ({"backend": "cuda"}, "2 back ends|none of the"),
    ({"layouts": [layout("engram", params="400B")]}, "6250000086 rows do not fit"),
    ({"layouts": [layout("pagegram", params="20T", S=60)]}, "ids, over"),
])  # fmt: skip
def test_refused_before_anything_runs(values, message):
    seen = []
    arguments = {"sources": short(100), "layouts": LAYOUTS[:1], "caches": [4096]} | values
    with pytest.raises(UsageError, match=message):
        sweep_cache(**arguments, progress=seen.append)
    assert seen == []


def test_ids_beyond_those_of_the_json(tmp_path):
    write_trace(tmp_path / "a.npy", short(2000), LAYOUTS[0])
    ids = np.load(tmp_path / "a.npy")
    ids[1234] = 10**9
    np.save(tmp_path / "a.npy", ids)
    facts = json.loads((tmp_path / "a.json").read_text())
    del facts["fingerprint"]  # which would tell
    (tmp_path / "a.json").write_text(json.dumps(facts))
    with pytest.raises(DataError, match="id 1234 is 1000000000, its JSON says all are below"):
        sweep_cache(Trace.open(tmp_path / "a.npy"), (), [4096])
    (tmp_path / "a.json").write_text(json.dumps(facts | {"ids_below": 2**32}))
    with pytest.raises(UsageError, match="4294967296 ids, over"):
        sweep_cache(Trace.open(tmp_path / "a.npy"), (), [4096])
