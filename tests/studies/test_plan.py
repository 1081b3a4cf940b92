"""A plan's arithmetic: ceilings, the second drive, slack, gains, and what binds."""

from itertools import chain

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashsim.corpora.synth import synthesise
from flashsim.device.model import load_drive
from flashsim.device.relaxed import assumed
from flashsim.device.spec import Figure
from flashsim.device.workload import by_token
from flashsim.errors import UsageError
from flashsim.layouts import layout
from flashsim.studies import estimate
from flashsim.studies.cache_sweep import sweep_cache
from flashsim.studies.plan import (
    AS_ASKED,
    TWO_DRIVES,
    Wishes,
    busier_half,
    ceiling,
    other_layouts,
    plan,
    slack_of,
    work,
)
from flashsim.studies.verdict import Bound
from flashsim.tokens.stream import TokenStream
from flashsim.workloads import Workload

DRIVE = assumed(100, 200_000)


@pytest.fixture(scope="module")
def stream():
    ids, starts = synthesise(40_000, 5000, seed=4)
    return TokenStream(ids, starts=starts)


@settings(max_examples=200)
@given(st.lists(st.lists(st.integers(0, 9), max_size=6), min_size=1, max_size=12))
def test_the_busier_half(tokens):
    groups = by_token(np.array(list(chain(*tokens)), np.uint32), np.array([len(ids) for ids in tokens]), 4096)
    halves = [([page for page in ids if page % 2 == 0], [page for page in ids if page % 2]) for ids in tokens]
    busier = [odd if len(odd) > len(even) else even for even, odd in halves]
    found = busier_half(groups)
    assert np.diff(found.ends, prepend=0).tolist() == [len(ids) for ids in busier]
    assert found.pages.tolist() == list(chain(*busier)) and (found.lookups == groups.lookups).all()


def test_a_ceiling():
    groups = by_token(np.arange(4000, dtype=np.uint32), np.tile([0, 4], 1000), 4096)
    assert ceiling(DRIVE, groups, 64) == pytest.approx(2e6 / (100 + 3 * 5), rel=0.01)  # every other token reads nothing
    assert ceiling(DRIVE, groups.only(np.zeros(4000, bool)), 64) is None


def test_slack():
    """Four pages a token in two layers: the first two are there after 105 us, all four after 115."""
    groups = by_token(np.arange(4000, dtype=np.uint32), np.full(1000, 4), 4096)
    first, second = slack_of(DRIVE, groups, 1000, (1, 5), 10, 64)
    assert (first.layer, first.needed_us, second.layer) == (1, 100, 5)
    assert first.wait_us == pytest.approx(5, abs=1) and second.needed_us == 500 + first.wait_us and second.wait_us == 0
    assert (first.mean_us, second.mean_us) == (pytest.approx(105), pytest.approx(115))
    assert second.p99_us == pytest.approx(115, rel=0.02)
    nothing = slack_of(DRIVE, groups.only(np.zeros(4000, bool)), 1000, (1, 5), 10, 64)
    assert [one.mean_us for one in nothing] == [0, 0]


def test_rows_of_a_plan(stream):
    made, wishes = layout("engram", params="2M"), Wishes(64 << 10, streams=4, prefill=256)
    told = []
    found = plan(stream, made, DRIVE, wishes, progress=told.append)
    assert sum(told) == work(len(stream), wishes) == 60_000 and (found.warm_tokens, found.tokens) == (30_000, 10_000)
    loads = [one.label for one in wishes.workloads]
    assert loads == ["1 stream", "4 streams", "prefill 256"]
    for load, workload in zip(loads, wishes.workloads, strict=True):
        rows = {row["case"]: row for row in found.rows if row["workload"] == load}
        asked = rows[AS_ASKED]
        assert (
            asked["gain"] == 1
            and asked["references_per_token"] >= asked["shared_per_token"] >= asked["reads_per_token"]
        )
        assert asked["mb_per_s"] == pytest.approx(asked["tokens_per_s"] * asked["bytes_per_token"] / 1e6)
        for case, row in rows.items():
            assert row["gain"] == pytest.approx(row["tokens_per_s"] / asked["tokens_per_s"]), case
            if "pinned" not in case:
                assert row["gain"] > 0.99, case
        reads = [rows[case]["reads_per_token"] for case in (AS_ASKED, "2 x the cache", "4 x the cache")]
        assert reads == sorted(reads, reverse=True)
        assert rows[TWO_DRIVES]["reads_per_token"] == asked["reads_per_token"]
        if workload == Workload(1):  # the whole text through one cache, of which the last quarter is counted
            table = sweep_cache(stream, made, 64 << 10, workloads=[workload], warmup=30_000)
            assert asked["reads_per_token"] == pytest.approx(table["reads_per_token"][0])
            asked_for = asked["reads_per_token_least"], asked["reads_per_token"], asked["reads_per_token_most"]
            assert list(asked_for) == sorted(asked_for) and asked_for[0] < asked_for[2]
    relaxing = {"2 x the cache": "RAM", "half the latency": "latency", "2 x the drive's reads/s": "IOPS",
                "2 x in flight": "queue depth"}  # fmt: skip
    gains = {case: found.row(case, "1 stream")["gain"] for case in relaxing}
    best = max(gains, key=gains.get)
    assert found.binds("1 stream")[0] == Bound(relaxing[best], best, gains[best])


@pytest.mark.parametrize(
    ("drive", "load", "binds"),
    [
        (assumed(1000, 1e6), "1 stream", {"latency"}), (assumed(1000, 1e6), "prefill 2048", {"latency", "queue depth"}),
        (assumed(10, 100_000), "prefill 2048", {"IOPS"}), (assumed(10.24, 1e6, 4e8), "prefill 2048", {"bandwidth"}),
    ],
)  # fmt: skip
def test_what_binds(stream, drive, load, binds):
    """A slow drive waits for its latency, with many reads for the queue as much; a fast one for its rate, or bytes."""
    found = plan(stream, layout("engram", params="200M"), drive, Wishes(8 << 10, streams=1))
    bounds = found.binds(load)
    assert {bound.what for bound in bounds} == binds and bounds[0].gain > 1.5
    for bound in bounds:
        assert found.row(bound.case, load)["gain"] == bound.gain >= 0.95 * bounds[0].gain
    assert len({row["workload"] for row in found.rows}) == 2  # one stream is asked for once


def test_ram_binds_where_the_cache_is_almost_enough(stream):
    made = layout("flat", params="2M")
    found = plan(stream, made, assumed(100, 100_000), Wishes(made.table_bytes // 2 // 4096 * 4096))
    row = found.row("2 x the cache", "1 stream")
    assert row["reads_per_token"] == 0 and row["tokens_per_s"] is None and row["gain"] is None


def test_other_layouts():
    planar = layout("deepseek-v4.1", raw_ids=True)
    found = other_layouts(planar, lambda **changed: layout("deepseek-v4.1", raw_ids=True, **changed))
    assert {name: made.label for name, made in found.items()} == {
        "scales in RAM": "deepseek-v4.1-ram-scales-raw-ids", "scales beside their row": "deepseek-v4.1-packed-raw-ids"
    }  # fmt: skip
    qwen = layout("qwen3.8-flash-next")
    (padded,) = other_layouts(qwen, lambda **changed: layout("qwen3.8-flash-next", **changed)).values()
    assert padded.spec.placement.rule == "page-aligned" and padded.straddle_share == 0
    based = {"base": 1000}  # which a row that is padded to a page cannot have
    qwen = layout("qwen3.8-flash-next", **based)
    assert other_layouts(qwen, lambda **changed: layout("qwen3.8-flash-next", **based | changed)) == {}
    assert other_layouts(layout("pagegram"), None) == {}


def test_what_a_stream_waits_for(stream):
    """Where no layers are known, for all of its reads; where they are, for what is late."""
    made, drive = layout("engram", params="200M"), assumed(1000, 1e6)

    def stall(**values):
        found = plan(stream, made, drive, Wishes(8 << 10, streams=1, **values), end=4000)
        return found.stall_us, found

    assert stall()[0] is None
    alone, found = stall(compute_us=2000)
    assert alone == pytest.approx(1e6 / found.row(AS_ASKED, "1 stream")["tokens_per_s"], rel=0.01) and not found.slack
    hidden, found = stall(compute_us=2000, layers=((1, 3), 4))
    late = [one.wait_us for one in found.slack]
    assert hidden == sum(late) and late[0] == pytest.approx(found.slack[0].mean_us - 500, rel=0.02) and late[1] < 1
    assert stall(compute_us=20_000, layers=((1, 3), 4))[0] == 0


def test_what_only_some_tokens_wait_for():
    """Every other token reads, and waits 0.5 ms of 1; on the average they are there in time."""
    groups = by_token(np.arange(1000, dtype=np.uint32), np.tile([0, 1], 1000), 4096)
    (one,) = slack_of(assumed(1000, 1e6), groups, 1000, (5,), 10, 64)
    assert (one.needed_us, one.mean_us) == (500, pytest.approx(500, rel=0.01)) and one.wait_us == pytest.approx(
        250, 0.02
    )


def test_ram_binds_where_more_of_it_ends_all_reads():
    """A loop that twice the cache would hold."""
    loop = TokenStream(np.tile(np.random.default_rng(0).permutation(3000).astype(np.uint32), 8), eot=None)
    wishes = Wishes(16 << 20, streams=1)
    found = plan(loop, layout("pagegram", params="200M"), load_drive("pcie4-consumer"), wishes)
    row = found.row("2 x the cache", "1 stream")
    assert (
        row["reads_per_token"] == 0 and row["gain"] is None and found.row(AS_ASKED, "1 stream")["reads_per_token"] > 1
    )
    assert found.binds("1 stream") == [Bound("RAM", "2 x the cache", None)]


def test_a_second_drive_does_not_bring_a_second_sender(stream):
    """What the sender's CPU takes for its reads is no less on two drives."""
    drive = assumed(20, 1e6)
    drive = msgspec.structs.replace(drive, parameters=drive.parameters | {"c_us": Figure(10, "", "C")})
    found = plan(stream, layout("engram", params="200M"), drive, Wishes(8 << 10, streams=1))
    assert found.row(TWO_DRIVES, "prefill 2048")["gain"] == pytest.approx(1, abs=0.05)


def test_pages_of_another_size_than_the_drives(stream):
    """No more bytes a second than the drive's own reads have, and a note."""
    wishes, drive = Wishes(8 << 20, streams=1), load_drive("optane-p4800x")
    rates = {}
    for page in ("4KiB", "16KiB"):
        found = plan(stream, layout("pagegram", params="200M", page=page), drive, wishes)
        rates[page] = found.row(AS_ASKED, "prefill 2048")["mb_per_s"]
        assert any("of reads of 4 KiB: in one of 16 KiB" in note for note in found.notes) == (page == "16KiB")
    assert rates["16KiB"] == pytest.approx(rates["4KiB"], rel=0.1)


def test_numbers_a_token_are_told_apart(stream):
    others = {"pagegram, as many parameters": layout("pagegram", params="20M", width=32)}
    found = plan(stream, layout("engram", params="20M"), DRIVE, Wishes(1 << 20, streams=1, others=others))
    assert found.notes == ["pagegram, as many parameters: a token reads 512 numbers of the table at most, here 1,024"]


def test_what_stays_in_ram_is_taken_from_the_cache(stream):
    made = layout("deepseek-v4.1", raw_ids=True)
    others = other_layouts(made, lambda **changed: layout("deepseek-v4.1", raw_ids=True, **changed))
    small = plan(stream, made, DRIVE, Wishes(1 << 20, streams=1, others=others), end=2000)
    assert "scales in RAM" not in {row["case"] for row in small.rows}  # 5.7 GiB of scales in 1 MiB
    assert any(note.startswith("scales in RAM: left out, 5.7") for note in small.notes)
    large = plan(stream, made, DRIVE, Wishes(6 << 30, streams=1, others=others), end=2000)
    scales = next(iter(others.values())).placed.resident_bytes
    assert large.row("scales in RAM", "1 stream")["cache_bytes"] == (6 << 30) - scales


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"in_flight": 0}, "--in-flight 0: take 1 to 4096"),
        ({"streams": 0}, "--streams 0: take 1"),
        ({"compute_us": 0.0}, "--compute 0 ms"),
        ({"cache_bytes": 8000}, "--cache 8000B: take 2 pages"),
        ({"layers": ((1, 9), 9)}, "--layers: the numbers .* below how many there are, 9"),
        ({"layers": ((1, 1), 9), "compute_us": 1.0}, "--layers: 2 numbers, some of them twice"),
        ({"layers": ((1, 8), 9)}, "--layers: 9 layers take what time"),
        ({"prefill": 0}, "--prefill 0: take 1 to 1048576"),
    ],
)
def test_refusals(stream, values, message):
    with pytest.raises(UsageError, match=message):
        plan(stream, layout("flat"), DRIVE, Wishes(**{"cache_bytes": 1 << 20} | values))


def test_streams_without_documents_are_refused_at_once(stream):
    with pytest.raises(UsageError, match=r"--streams 8: .*tokens 150 to 200, have 1 document: "):
        plan(stream, layout("flat"), DRIVE, Wishes(1 << 20), end=200, progress=lambda tokens: pytest.fail("it ran"))


def test_a_table_too_large_for_memory_is_refused_at_once(stream, monkeypatch, tmp_path):
    (tmp_path / "meminfo").write_text("MemAvailable: 1000 kB\n")
    monkeypatch.setattr(estimate, "_MEMORY", tmp_path / "meminfo")
    with pytest.raises(UsageError, match=r"about .* MiB of memory are needed, 1000 KiB are free: take a smaller table"):
        plan(stream, layout("flat"), DRIVE, Wishes(1 << 20), progress=lambda tokens: pytest.fail("it ran"))


def test_a_template_is_refused(stream):
    with pytest.raises(UsageError, match="apple-ssd is a template with 0 of"):
        plan(stream, layout("flat"), load_drive("apple-ssd"), Wishes(1 << 20))
