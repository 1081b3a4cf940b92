"""Several drives against plain Python on the same ids, against laws, and against the multinomial distribution."""

from itertools import pairwise
from math import factorial, sqrt
from pathlib import Path

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from flashsim.errors import UsageError
from flashsim.kernels import BACKENDS
from flashsim.layouts import layout
from flashsim.studies.cache_sweep import Ways, sweep_cache
from flashsim.studies.drives import COLUMNS, Sharding
from flashsim.tokens.stream import TokenStream
from flashsim.trace import pieces, trace_ids
from flashsim.workloads import Workload

LAYOUTS = {
    "flat": layout("flat", params="300k"),
    "engram": layout("engram", params="300k", heads=3, orders=(1, 3)),
    "S4": layout("pagegram", params="300k"),
    "base": layout("engram", params="300k", heads=3, placement="packed", base=7 * 4096 + 100),
}
CACHES = [4096, 2 * 4096, 5 * 4096, 40 * 4096]
WORKLOADS = (None, Workload(1), Workload(3), Workload(0, 7), Workload(2, 5, 0.4), Workload(2, draft=2, accept=0.5))


def drive_of(made, page, drives, by):
    if by == "page":
        return page % drives
    if by == "rows":
        span = made.table_bytes // 4096
        return (page - (made.pages - span)) * drives // span
    starts = made.table_starts("head")
    table = sum(start <= page for start in starts) - 1
    return table % drives if by == "robin" else table * drives // len(starts)


def steps_of(workload, stream, made):
    """(token, step, page) of every reference."""
    if workload is None:
        tokens = np.repeat(range(len(stream)), [one for piece in pieces(stream, made) for one in piece.counts]).tolist()
        return list(zip(tokens, tokens, trace_ids(stream, made).tolist(), strict=True))
    found, before, step = [], 0, 0
    for piece in workload.steps(stream, made):
        step_of = np.repeat(range(len(piece.ends)), np.diff(piece.ends, prepend=0)) + step
        tokens = np.repeat(range(len(piece.counts)), piece.counts)
        found += zip((tokens + before).tolist(), step_of[tokens].tolist(), piece.ids.tolist(), strict=True)
        before, step = before + len(piece.counts), step + len(piece.ends)
    return found


def most_and_loads(reads, drives):
    """(sum over steps of the busiest drive's reads, reads of each drive) of (step, drive) pairs."""
    by_step = {}
    for step, drive in reads:
        by_step.setdefault(step, [0] * drives)[drive] += 1
    return sum(map(max, by_step.values())), [sum(drive == one for _, one in reads) for drive in range(drives)]


@st.composite
def texts(draw):
    ids = draw(st.lists(st.integers(0, 5), min_size=1, max_size=80))
    starts = sorted({0, *draw(st.lists(st.integers(0, len(ids) - 1), max_size=8))})
    return TokenStream(np.array(ids, np.uint32), starts=np.array(starts))


@settings(max_examples=150)
@given(
    texts(), st.sampled_from(sorted(LAYOUTS)), st.sampled_from(WORKLOADS), st.sampled_from([1, 2, 3, 4]),
    st.sampled_from(["page", "rows", "head", "robin"]), st.integers(0, 79), st.sampled_from(sorted(BACKENDS)),
)  # fmt: skip
def test_equals_plain_python(stream, name, workload, drives, by, warmup, backend):
    made, warmup = LAYOUTS[name], warmup % len(stream)
    if (by in ("head", "robin") and name in ("flat", "S4")) or (workload and workload.streams > len(stream.starts)):
        return
    ways = Ways(sharding=Sharding(drives, by))
    table = sweep_cache(stream, made, CACHES, ways=ways, workloads=[workload], warmup=warmup, backend=backend)
    reads = steps_of(workload, stream, made)
    placed = [(token, step, drive_of(made, page, drives, by)) for token, step, page in reads]
    most, loads = most_and_loads([read[1:] for read in placed if read[0] >= warmup], drives)
    for row in table.itertuples():
        assert row.no_cache_step_reads_busiest == most / row.steps
        assert list(map(int, row.no_cache_drive_reads.split())) == loads and sum(loads) == row.reads
        missed = reference.lru([page for _, _, page in reads], row.capacity_pages)
        kept = [read[1:] for read, flag in zip(placed, missed, strict=True) if flag and read[0] >= warmup]
        busiest, misses = most_and_loads(kept, drives)
        assert (row.drives, row.shard) == (drives, by)
        assert (row.step_reads, row.step_reads_busiest) == (len(kept) / row.steps, busiest / row.steps)
        assert list(map(int, row.drive_misses.split())) == misses and sum(misses) == row.misses
        if kept:
            assert row.busiest_share == max(misses) / len(kept)
        else:
            assert row.busiest_share != row.busiest_share


@pytest.mark.parametrize("workload", [None, Workload(8), Workload(0, 512)])
@pytest.mark.parametrize("by", ["page", "rows", "head", "robin"])
def test_laws(stream, by, workload):
    """What drives a table lies on never changes what misses; more drives never lengthen a step if they halve the ones
    there were; a step waits for no less than an even share and for no more than all."""
    made, caches = layout("engram", params="20M"), ["64KiB", "1MiB", "16MiB"]
    plain = sweep_cache(stream, made, caches, workloads=[workload], tokens=100_000)
    assert plain[list(COLUMNS)].isna().all(axis=None)
    tables = [
        sweep_cache(stream, made, caches, ways=Ways(sharding=Sharding(n, by)), workloads=[workload], tokens=100_000)
        for n in (1, 2, 4, 8)
    ]
    for table in tables:
        assert table["misses"].tolist() == plain["misses"].tolist()
        drives = table["drives"].iloc[0]
        assert (table["step_reads"] / drives <= table["step_reads_busiest"]).all()
        assert (table["step_reads"] * table["steps"]).round().tolist() == table["misses"].tolist()
        assert (1 / drives <= table["busiest_share"]).all()
        assert (table["step_reads_busiest"] <= table["no_cache_step_reads_busiest"]).all()
    assert (tables[0]["step_reads_busiest"] == tables[0]["step_reads"]).all() and (
        tables[0]["busiest_share"] == 1
    ).all()
    for few, many in pairwise(tables):
        assert (many["step_reads_busiest"] < few["step_reads_busiest"]).all()


def largest_of_multinomial(balls, bins):
    """(mean, standard deviation) of the fullest bin: P(all <= m) = balls! [x^balls] (sum_{j<=m} x^j / j!)^bins /
    bins^balls."""
    below = [0.0]
    for most in range(1, balls + 1):
        term = np.array([1 / factorial(j) if j <= most else 0 for j in range(balls + 1)])
        power = np.ones(1)
        for _ in range(bins):
            power = np.convolve(power, term)[: balls + 1]
        below.append(power[balls] * factorial(balls) / bins**balls)
    chance, sizes = np.diff(below), np.arange(1, balls + 1)
    mean = float(chance @ sizes)
    return mean, sqrt(float(chance @ (sizes - mean) ** 2))


@pytest.mark.parametrize(("heads", "streams", "drives"), [(8, 1, 2), (8, 1, 4), (8, 1, 16), (1, 4, 4), (4, 4, 8)])
def test_uniform_pages_fill_drives_like_a_multinomial(heads, streams, drives):
    """Tokens at random make n-grams that hash anywhere: a step's pages fall on any drive alike, by page or by range."""
    made = layout("engram", params="200M", heads=heads)
    ids = np.random.default_rng(3).integers(0, 60_000, 40_000).astype(np.uint32)
    stream = TokenStream(ids, starts=np.arange(0, len(ids), len(ids) // streams))
    workload = Workload(streams) if streams > 1 else None
    mean, deviation = largest_of_multinomial(2 * heads * streams, drives)
    ways = Ways(sharding=Sharding(drives))
    (row,) = sweep_cache(stream, made, 4096, ways=ways, workloads=[workload], warmup=8).itertuples()
    assert row.no_cache_step_reads_busiest == pytest.approx(mean, abs=4 * deviation / sqrt(row.steps))
    assert row.busiest_share == pytest.approx(1 / drives, abs=5 / sqrt(row.misses))


def test_whole_tables_of_heads_split_a_step_evenly():
    """Each head is one read of a token, so that 16 heads on 4 drives are 4 reads of each, in every step; but for the
    pages in which two tables meet, 3 in 2600 here."""
    made, ids = layout("engram", params="20M"), np.random.default_rng(4).integers(0, 60_000, 5000).astype(np.uint32)
    table = sweep_cache(TokenStream(ids), made, 4096, ways=Ways(sharding=Sharding(4, "head")), warmup=2)
    assert table["no_cache_step_reads_busiest"].iloc[0] == pytest.approx(4, abs=0.02)
    uneven = sweep_cache(TokenStream(ids), made, 4096, ways=Ways(sharding=Sharding(3, "head")), warmup=2)
    loads = list(map(int, uneven["no_cache_drive_reads"].iloc[0].split()))
    assert loads == pytest.approx([4998 * heads for heads in (6, 5, 5)], rel=0.005)


def test_pinned_pages_load_no_drive_and_single_tokens_are_counted_beside(stream):
    made, part = LAYOUTS["engram"], TokenStream(stream.ids[:5000])
    other = TokenStream(stream.ids[5000:9000])
    pinned, two = {"pin_bytes": 8 * 4096, "pin_from": other}, {"sharding": Sharding(2)}
    plain, spread, tokens, both = (
        sweep_cache(part, made, ["64KiB", "100KiB"], ways=Ways(**pinned, **more))
        for more in ({}, two, {"per_token": True}, {"per_token": True} | two)
    )
    assert spread["pinned_pages"].tolist() == [8, 8]
    assert both[list(COLUMNS)].equals(spread[list(COLUMNS)])
    assert spread.drop(columns=list(COLUMNS)).equals(plain.drop(columns=list(COLUMNS)))
    assert both.drop(columns=list(COLUMNS)).equals(tokens.drop(columns=list(COLUMNS)))
    for row in spread.itertuples():
        assert sum(map(int, row.drive_misses.split())) == row.misses
        assert sum(map(int, row.no_cache_drive_reads.split())) == row.reads


@pytest.mark.parametrize(("drives", "by", "more", "message"), [
    (0, "page", {}, "--drives 0: take 1 to 64"),
    (65, "page", {}, "--drives 65: take 1 to 64"),
    (2, "order", {}, "--shard order: none of the 4: page, rows, head, robin"),
    (7, "head", {}, "--drives 7: engram.* has 6 tables of heads: take as many or fewer"),
    (64, "rows", {}, "--drives 64: engram.* has 40 pages: take as many or fewer"),
    (2, "head", {"made": "S4"}, "8 heads share one table an order.*--shard head cannot, take --shard page or rows"),
    (2, "page", {"unit": "row"}, "--drives 2 with rows, which may lie on 2 of them: take --unit page"),
    (2, "page", {"split": "head"}, "--split head with rows, drives"),
    (2, "page", {"policies": ["lru", "sieve"]}, "--policy sieve with .*several drives.*1 policy can, lru"),
])  # fmt: skip
def test_refusals(stream, drives, by, more, message):
    made, policies = LAYOUTS[more.get("made", "engram")], more.get("policies", ["lru"])
    ways = {name: value for name, value in more.items() if name in ("unit", "split")}
    with pytest.raises(UsageError, match=message):
        sweep_cache(stream, made, "64KiB", policies=policies, ways=Ways(sharding=Sharding(drives, by), **ways))


def test_the_command_line(flashsim, corpus_file):
    common = [
        "sweep-cache",
        corpus_file,
        *("--eot", "0", "--dtype", "uint16"),
        "--params",
        "2M",
        "--cache",
        "64KiB,1GiB",
        "--warmup",
        "59k",
    ]
    code, out, err = flashsim(*common, "--layout", "engram", "--drives", "2", "--shard", "head", "-o", "x.csv")
    assert code == 0, err
    lines = out.splitlines()
    assert lines[2] == "drives that help, of 2 by head: reads of a step / those of its busiest drive"
    assert lines[4] == "share of a drive in all reads, least-most %"
    helping, shares = lines[3].split()[2:], lines[5].split()[2:]
    assert len(helping) == len(shares) == 3
    table = Path("x.csv").read_text().splitlines()
    header, first = (line.split(",") for line in table[:2])
    row = dict(zip(header, first, strict=True))
    assert helping[1] == f"{float(row['step_reads']) / float(row['step_reads_busiest']):.2f}"
    least, most = sorted(map(int, row["drive_misses"].split()))
    assert shares[1] == f"{100 * least / (least + most):.0f}-{100 * most / (least + most):.0f}"
    assert '"sharding": {' in Path("x.json").read_text()
    code, _, err = flashsim(*common, "--shard", "rows")
    assert code == 2 and err == "flashsim: error: --shard rows over 0 drives: give --drives\n"
    code, _, err = flashsim(*common, "--layout", "pagegram", "--drives", "2", "--shard", "head")
    assert code == 2 and len(err.splitlines()) == 1
