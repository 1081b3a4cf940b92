"""Which reads reach the drive: as many as the simulated cache misses, from anywhere in the trace, in every mode."""

from dataclasses import replace

import numpy as np
import pytest

from flashsim.errors import DataError, UsageError
from flashsim.layouts import layout
from flashsim.studies import replay_reads
from flashsim.studies.cache_sweep import sweep_cache
from flashsim.studies.replay_reads import DriveReads, touched_pages
from flashsim.tokens.stream import TokenStream
from flashsim.trace import Trace, write_trace

CACHES = [64 << 10, 1 << 20, 1 << 40]


@pytest.fixture(scope="module", params=["pagegram", "engram", "unigrams"])
def trace(request, stream, tmp_path_factory):
    """20,000 tokens in documents, whose first tokens read less where n-grams reach back."""
    path, same = tmp_path_factory.mktemp("trace") / "t.npy", request.param == "unigrams"
    made = layout("pagegram", params="5M", orders=(1,)) if same else layout(request.param, params="5M")
    write_trace(path, stream, made, tokens=20_000)
    trace = Trace.open(path)
    assert (trace.counts is None) == same
    return trace


@pytest.fixture(autouse=True)
def small_steps(monkeypatch):
    monkeypatch.setattr(replay_reads, "_STEP_TOKENS", 3000)


def counts_of(trace):
    return [trace.facts["reads_per_token"]] * len(trace) if trace.counts is None else trace.counts.tolist()


def reference(trace, tokens_a_group, capacity, dedup):
    """Plain Python: (pages that reach the drive, tokens) of each group of the whole trace."""
    cache, groups, at = {}, [], 0
    counts = counts_of(trace)
    for first in range(0, len(trace), tokens_a_group):
        mine = counts[first : first + tokens_a_group]
        pages = trace.ids[at : at + sum(mine)].tolist()
        at += len(pages)
        pages = list(dict.fromkeys(pages)) if dedup else pages
        missed = []
        for page in pages:
            if capacity and page in cache:
                del cache[page]
            else:
                missed.append(page)
            cache[page] = None
            if capacity and len(cache) > capacity:
                del cache[next(iter(cache))]
        groups.append((missed, len(mine)))
    return groups


def listed(groups):
    begins = [0, *groups.ends.tolist()]
    spans = zip(begins, groups.ends.tolist(), groups.lookups.tolist(), strict=False)
    return [(groups.pages[begin:end].tolist(), lookups) for begin, end, lookups in spans]


def test_as_many_reads_as_a_sweep_counts_misses(trace):
    reads = DriveReads(trace, "stream", cache_bytes=CACHES)
    swept = sweep_cache(trace, (), CACHES)
    assert [reads.misses(size) for size in CACHES] == swept["misses"].tolist()
    for size in CACHES:
        _, groups = reads.window(size, 0.0, 1 << 40)
        assert len(groups.pages) == reads.misses(size) and groups.lookups.sum() == len(trace)


@pytest.mark.parametrize("mode", ["decode", "prefill"])
@pytest.mark.parametrize("cache", [0, *CACHES])
def test_the_reads_are_those_of_plain_python(trace, mode, cache):
    chunk = 70
    reads = DriveReads(trace, mode, chunk, [0, cache])
    group = chunk if mode == "prefill" else 1
    expected = reference(trace, group, cache // 4096, mode == "prefill")
    start, groups = reads.window(cache, 0.0, 1 << 40)
    assert start == 0 and listed(groups) == expected and groups.page_bytes == 4096
    if cache != CACHES[-1]:  # which holds all of the table, so that in places it lets nothing through
        start, groups = reads.window(cache, 3.35, 5000)  # a share of the trace: 0.35
        assert start == int(0.35 * len(trace)) // group * group
        got = listed(groups)
        assert got == expected[start // group : start // group + len(got)]
        assert 5000 <= len(groups.pages) + groups.lookups.sum() < 5000 + 3100 * 17
    start, groups = reads.window(cache, 0.35, 1 << 40)
    assert listed(groups) == expected[start // group :] + expected[: start // group]


def test_touched_pages(trace):
    assert touched_pages(trace).tolist() == sorted(set(trace.ids.tolist()))


def test_what_cannot_be_replayed(stream, tmp_path):
    made = layout("flat", params="1M")
    rows = write_trace(tmp_path / "rows.npy", stream, made, unit="row", tokens=100) and Trace.open(
        tmp_path / "rows.npy"
    )
    for takes in (touched_pages, lambda trace: DriveReads(trace, "stream")):
        with pytest.raises(UsageError, match="--unit page"):
            takes(rows)
    alone = TokenStream(stream.ids[:5], starts=np.arange(5), boundary="test")
    write_trace(tmp_path / "none.npy", alone, made)
    with pytest.raises(UsageError, match="0 reads of 5 tokens"):
        DriveReads(Trace.open(tmp_path / "none.npy"), "stream")
    write_trace(tmp_path / "t.npy", TokenStream(np.ones(1000, np.uint16)), made)
    trace = Trace.open(tmp_path / "t.npy")
    with pytest.raises(UsageError, match="holds no page of 4096 B"):
        DriveReads(trace, "stream", cache_bytes=[100])
    with pytest.raises(UsageError, match="from token 500 on reach the drive"):
        DriveReads(trace, "stream", cache_bytes=[1 << 20]).window(1 << 20, 0.5, 10)
    ids = np.array(trace.ids)
    ids[3] = 4_000_000_000
    with pytest.raises(DataError, match="id 3 is 4000000000"):
        touched_pages(replace(trace, ids=ids))


def test_ids_that_its_json_does_not_allow(trace):
    """They are found as they are reached, in every mode, with and without a cache."""
    largest = int(trace.ids.max())
    small = replace(trace, facts=trace.facts | {"ids_below": largest})
    message = f"id {int(np.argmax(trace.ids == largest))} is {largest}, its JSON says all are below {largest}"
    for mode in ("stream", "decode", "prefill"):
        with pytest.raises(DataError, match=message):
            DriveReads(small, mode).window(0, 0.0, 1 << 40)
        with pytest.raises(DataError, match=message):
            DriveReads(small, mode, cache_bytes=[1 << 20])
