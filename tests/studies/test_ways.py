"""Caches of rows, pinned pages, split caches and reads of single tokens, against plain Python on the same ids."""

from collections import Counter

import numpy as np
import pytest
import reference

from flashsim.errors import UsageError
from flashsim.layouts import layout
from flashsim.studies.cache_sweep import Ways, sweep_cache
from flashsim.studies.drives import Sharding
from flashsim.tokens.stream import TokenStream
from flashsim.trace import trace_ids

LAYOUTS = {
    "flat": layout("flat", params="2M"),
    "engram": layout("engram", params="2M"),
    "S4": layout("pagegram", params="2M"),
    "S60": layout("pagegram", params="4M", S=60),
    "S200": layout("pagegram", params="8M", S=200),
}
CACHES = ["16KiB", "64KiB", "200KiB"]
BYTES = [16 << 10, 64 << 10, 200 << 10]
WARMUP = 700


@pytest.fixture(scope="module")
def small(stream):
    return TokenStream(stream.ids[:4000], starts=stream.starts[stream.starts < 4000])


def tokens_of(made, stream, unit):
    expect = reference.rows_of if unit == "row" else reference.pages_of
    return list(expect(made, stream.ids.tolist(), stream.starts.tolist()))


def missed_by_token(tokens, capacity):
    """For each token, which of its ids missed in an LRU cache."""
    flat = iter(reference.lru([page for ids in tokens for page in ids], capacity))
    return [[next(flat) for _ in ids] for ids in tokens]


def run(stream, made, **ways):
    return sweep_cache(stream, made, CACHES, warmup=WARMUP, ways=Ways(**ways))


@pytest.mark.parametrize("name", LAYOUTS)
def test_reads_of_single_tokens(name, small):
    made = LAYOUTS[name]
    table = run(small, made, per_token=True)
    for row, size in zip(table.itertuples(), BYTES, strict=True):
        counts = sorted(
            sum(missed) for missed in missed_by_token(tokens_of(made, small, "page"), size // 4096)[WARMUP:]
        )
        assert row.misses == sum(counts)
        assert row.token_reads_max == counts[-1]
        for share, got in ((0.5, row.token_reads_p50), (0.99, row.token_reads_p99)):
            assert got == np.quantile(counts, share, method="inverted_cdf")


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_cache_of_rows_reads_a_page_for_all_rows_of_an_ngram_in_it(name, small):
    made = LAYOUTS[name]
    table = run(small, made, unit="row", entry_bytes=14, per_token=True)
    rows, pages = tokens_of(made, small, "row"), tokens_of(made, small, "page")
    for row, size in zip(table.itertuples(), BYTES, strict=True):
        assert row.capacity_pages == size // (made.row_bytes + 14)
        missed = missed_by_token(rows, row.capacity_pages)[WARMUP:]
        counts = [0] * len(missed)
        for at, flags in enumerate(missed):
            for order in range(0, len(flags), made.heads):
                seen = flags[order : order + made.heads]
                for head in range(0, made.heads, made.rows_per_read):
                    counts[at] += any(seen[head : head + made.rows_per_read])
        assert row.misses == sum(counts)
        assert row.token_reads_max == max(counts)
        assert row.reads == sum(len(ids) for ids in pages[WARMUP:])


@pytest.mark.parametrize("values", [{}, {"row_format": "bf16"}, {"page": "512B"}])
def test_a_missed_row_that_straddles_reads_every_page_that_it_touches(small, values):
    made = layout("qwen3.8-flash-next", **values)
    table = run(small, made, unit="row", entry_bytes=16, per_token=True)
    rows = trace_ids(small, made, unit="row").reshape(len(small), 16).tolist()
    for row, size in zip(table.itertuples(), BYTES, strict=True):
        counts = []
        for ids, missed in zip(rows, missed_by_token(rows, size // (made.row_bytes + 16)), strict=True):
            pages = [reference.pages_of_bytes(id * made.row_bytes, made.row_bytes, made.page_bytes) for id in ids]
            counts.append(sum(len(touched) for touched, flag in zip(pages, missed, strict=True) if flag))
        assert row.misses == sum(counts[WARMUP:]) and row.token_reads_max == max(counts[WARMUP:])
        pages = run(small, made).reads.iloc[0]
        assert row.reads == pages  # with no cache, as many as a cache of pages is asked for


@pytest.mark.parametrize("unit", ["page", "row"])
def test_pinned_is_what_another_stream_reads_most(small, stream, unit):
    made = LAYOUTS["engram"]
    other = TokenStream(stream.ids[4000:9000])
    table = run(small, made, unit=unit, pin_bytes=8 << 10, pin_from=other)
    size = made.unit_bytes(unit)
    reads = Counter(page for ids in reference_tokens(made, other, unit) for page in ids)
    best = sorted(reads, key=lambda page: (-reads[page], page))[: (8 << 10) // size]
    assert table["pinned_pages"].tolist() == [len(best)] * 3
    flat = [[page for page in ids if page not in set(best)] for ids in tokens_of(made, small, unit)]
    for row, capacity in zip(table.itertuples(), BYTES, strict=True):
        assert row.capacity_pages == (capacity - (8 << 10)) // size
        missed = missed_by_token(flat, row.capacity_pages)[WARMUP:]
        assert row.misses == sum(map(sum, missed))


def reference_tokens(made, stream, unit):
    expect = reference.rows_of if unit == "row" else reference.pages_of
    return expect(made, stream.ids.tolist(), [])


@pytest.mark.parametrize(("name", "by"), [("flat", "order"), ("S4", "order"), ("S60", "order"), ("engram", "head")])
def test_a_split_cache_is_one_for_each_part(name, by, small):
    made = LAYOUTS[name]
    starts = made.table_starts(by)
    assert starts[0] == 0 and starts == sorted(set(starts)) and starts[-1] < made.pages
    assert len(starts) == (2 if by == "order" else 16)
    table = sweep_cache(small, made, CACHES[1:], warmup=WARMUP, ways=Ways(split=by))
    tokens = tokens_of(made, small, "page")
    for row, size in zip(table.itertuples(), BYTES[1:], strict=True):
        misses = 0
        for first, last in zip(starts, [*starts[1:], made.pages], strict=True):
            part = [[page for page in ids if first <= page < last] for ids in tokens]
            missed = missed_by_token(part, size // 4096 // len(starts))
            misses += sum(map(sum, missed[WARMUP:]))
        assert row.misses == misses


@pytest.mark.parametrize(
    ("ways", "message"),
    [
        ({"split": "order", "per_token": True}, "give 1 of them"),
        ({"split": "head", "made": "engram"}, "cannot be split in 16"),
        ({"pin_bytes": 16 << 10}, "beside 16384 B pinned"),
        ({"per_token": True, "policies": ["fifo"]}, "1 policy can, lru"),
        ({"per_token": True, "caches": [4096 * size for size in range(1, 257)]}, "256 caches with .*take 255 or fewer"),
    ],
)
def test_what_does_not_go_together_is_refused(ways, message, small):
    made = LAYOUTS[ways.pop("made", "flat")]
    policies, caches = ways.pop("policies", ["lru"]), ways.pop("caches", CACHES)
    if "pin_bytes" in ways:
        ways["pin_from"] = small
    with pytest.raises(UsageError, match=message):
        sweep_cache(small, made, caches, ways=Ways(**ways), policies=policies)


@pytest.mark.parametrize(("name", "by", "message"), [
    ("pagegram", "head", "8 heads share one table an order; --split head cannot, take --split order"),
    ("flat", "head", "1 head has one table an order; --split head cannot, take --split order"),
    ("engram-demo", "order", "2 layers have 2 orders each; --split order cannot, take --split head"),
    ("deepseek-v4.1", "order", "2 layers have 3 orders each; --split order cannot, leave it out"),
    ("deepseek-v4.1", "head", "planar, 2 regions: .*; --split head cannot, leave it out"),
])  # fmt: skip
def test_what_a_layout_can_be_split_by(name, by, message, small):
    made = layout(name, raw_ids=True if name[0] in "ed" else None)
    with pytest.raises(UsageError, match=message) as caught:
        sweep_cache(small, made, "1MiB", ways=Ways(split=by))
    other = str(caught.value).partition("take --split ")[2]
    assert len(sweep_cache(small, made, "1MiB", ways=Ways(split=other or None))) == 1


def test_what_works_where_heads_are_not_on_pages_of_their_own(small):
    made = layout("deepseek-v4.1", raw_ids=True)
    for by in ("head", "robin"):
        with pytest.raises(UsageError, match=f"pages apart; --shard {by} cannot, take --shard page or rows$"):
            sweep_cache(small, made, "1MiB", ways=Ways(sharding=Sharding(2, by)))
    for by in ("page", "rows"):
        assert len(sweep_cache(small, made, "1MiB", ways=Ways(sharding=Sharding(2, by)))) == 1


def test_the_command_line(flashsim, corpus_file, tmp_path):
    other = tmp_path / "other.bin"
    other.write_bytes(corpus_file.read_bytes()[:20_000])
    common = [
        "sweep-cache",
        corpus_file,
        "--eot",
        "0",
        "--params",
        "2M",
        "--cache",
        "64KiB,256KiB",
        "--layout",
        "engram",
    ]
    for more in (
        ["--unit", "row", "--entry-bytes", "16"],
        ["--pin", "16KiB", "--pin-from", other],
        ["--split", "head"],
        ["--per-token"],
        ["--policy", "lru,sieve,min"],
    ):
        code, out, err = flashsim(*common, *more, "-o", "x.csv")
        assert code == 0, err
        assert "engram-2M" in out
    for more, message in (
        (["--pin", "16KiB"], "1 of the 2 is missing"),
        (["--pin", "16KiB", "--pin-from", corpus_file], "is 1 of the sources"),
        (["--policy", "lirs"], "each of the 13 policies"),
    ):
        code, out, err = flashsim(*common, *more)
        assert code == 2 and message in err and len(err.splitlines()) == 1
