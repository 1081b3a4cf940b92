"""A replay's points, what is counted of each, and when its figures are doubted. Nothing here reads a drive."""

from dataclasses import replace

import numpy as np
import pytest

from flashsim.device.host import Load
from flashsim.errors import DriveError, UsageError
from flashsim.kernels.replay import BINS, Counters, Latency, bin_edges
from flashsim.layouts import layout
from flashsim.studies.replay import COLUMNS, Ended, Medium, Replay, flag_spread
from flashsim.studies.replay_sample import Flag, Sample, Tick, flags_of
from flashsim.studies.replay_wishes import Point, Wishes, points_of
from flashsim.trace import Trace, write_trace

NULL = Medium(-1, "no drive", "null")


@pytest.fixture(scope="module")
def traces(stream, tmp_path_factory):
    folder, made = tmp_path_factory.mktemp("traces"), []
    for name in ("pagegram", "engram"):
        write_trace(folder / f"{name}.npy", stream, layout(name, params="20M"), tokens=50_000)
        made.append(Trace.open(folder / f"{name}.npy"))
    return made


def test_rounds_over_everything():
    wishes = Wishes((1, 8), modes=("stream", "decode"), cache_bytes=(0, 4096), repeats=3)
    points = points_of(wishes, 2)
    assert len(points) == len(set(points)) == 2 * 2 * 2 * 2 * 3
    assert [point.repeat for point in points] == [1] * 16 + [2] * 16 + [3] * 16
    assert points[:3] == [Point(0, 0, "stream", 1, 1), Point(1, 0, "stream", 1, 1), Point(0, 4096, "stream", 1, 1)]
    rounds = [[point._replace(repeat=0) for point in points[at : at + 16]] for at in (0, 16, 32)]
    assert rounds[0] == rounds[1] == rounds[2]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"in_flight": (0,)}, "--in-flight 0: take 1 to 4096"), ({"in_flight": (1, 4097)}, "4097: take 1 to 4096"),
        ({"in_flight": ()}, "--in-flight: 0 values"), ({"in_flight": (2, 2)}, "--in-flight: 2 values"),
        ({"unit": "pages"}, "--in-flight-unit pages"), ({"modes": ("train",)}, "--mode train"),
        ({"modes": ("prefill",), "unit": "lookups"}, "take --in-flight-unit reads"),
        ({"cache_bytes": (0, 0)}, "--cache: 2 values"), ({"seconds": None}, "1 of the 2"),
        ({"lookups": 5}, "1 of the 2"), ({"seconds": 0}, "--seconds 0: take 0.01"),
        ({"seconds": float("nan")}, "--seconds nan"), ({"seconds": float("inf")}, "--seconds inf"),
        ({"lookups": 0, "seconds": None}, "--lookups 0"), ({"repeats": 0}, "--repeat 0"), ({"ramp_s": -1}, "--ramp -1"),
        ({"rate": -1.0}, "--rate -1"), ({"chunk": 0}, "--chunk 0"),
    ],
)  # fmt: skip
def test_wishes_that_cannot_be_met(wrong, said):
    with pytest.raises(UsageError, match=said):
        replace(Wishes((1, 2)), **wrong).check()


def test_what_is_counted_is_what_was_asked(traces):
    """lookups x reads a lookup = reads, whatever the mode, the cache and the number in flight; the ramp is left out."""
    wishes = Wishes((1, 64), modes=("stream", "decode", "prefill"), cache_bytes=(0, 1 << 20), seconds=None,
                    lookups=70_000, ramp_s=0.02, repeats=2, chunk=100)  # fmt: skip
    replay, told = Replay(traces, wishes), []
    ended = list(replay.measured(NULL, lambda point, done, counters: told.append(done)))
    assert len(ended) == len(points_of(wishes, 2)) and replay.points * 2 == len(ended)
    for each in ended:
        row = each.row
        assert set(row) == set(COLUMNS) and row["source"] == "measured"
        more = 0 if row["mode"] != "prefill" else wishes.chunk  # begun in the ramp, or the last one whole
        assert 70_000 - more <= row["lookups"] <= 70_000 + more
        per_token = {"pagegram": 2, "engram": 16}[row["layout"]]
        uncached = row["mode"] != "prefill" and not row["cache_bytes"]
        assert row["reads_per_lookup"] == pytest.approx(per_token, rel=0.01) if uncached else (
            0 < row["reads_per_lookup"] < 0.97 * per_token
        )  # fmt: skip
        assert row["reads"] == pytest.approx(row["lookups"] * row["reads_per_lookup"], rel=1e-4)
        assert row["lookups_per_s"] * row["seconds"] == pytest.approx(row["lookups"], abs=0.6)
        assert row["mb_per_s"] == pytest.approx(row["reads_per_s"] * 4096 / 1e6)
        assert 0 <= row["lookup_p50_us"] <= row["lookup_p99_us"] <= row["lookup_p9999_us"] * 1.02
    total = sum(each.row["lookups"] for each in ended)
    assert sum(told) == pytest.approx(total, rel=0.01) == replay.total


def test_seconds_are_kept_and_told(traces):
    replay, told = Replay(traces[:1], Wishes((4,), seconds=0.25, ramp_s=0.1, repeats=1)), []
    (ended,) = replay.measured(NULL, lambda point, done, counters: told.append(done))
    assert ended.row["seconds"] == pytest.approx(0.25, abs=0.1)
    assert sum(told) == pytest.approx(replay.total, abs=0.1) and replay.total == pytest.approx(0.35)
    assert len(told) >= 4  # slices of 100 ms at most


def test_points_start_at_places_of_their_own_and_traces_at_the_same(traces):
    wishes = Wishes((1, 2, 4), modes=("stream", "decode"), seconds=None, lookups=100, ramp_s=0, repeats=3)
    starts: dict[str, list[int]] = {}
    for each in Replay(traces, wishes).measured(NULL):
        starts.setdefault(each.row["layout"], []).append(each.more["start_token"])
    assert starts["pagegram"] == starts["engram"] and len(set(starts["engram"])) == 18
    apart = np.diff(np.sort(starts["engram"]))
    assert apart.min() > 50_000 / 18 / 4  # spread over the trace, not drawn in heaps
    other = Replay(traces, replace(wishes, seed=1))
    assert [each.more["start_token"] for each in other.measured(NULL)][::2] != starts["engram"]


def test_rate_is_that_of_the_schedule(traces):
    wishes = Wishes((64,), seconds=0.3, ramp_s=0.1, repeats=1, rate=20_000.0)
    (ended,) = Replay(traces[:1], wishes).measured(NULL)
    assert ended.row["lookups_per_s"] == pytest.approx(20_000, rel=0.1)


def test_a_read_that_fails_ends_the_run(traces, tmp_path):
    (tmp_path / "short").write_bytes(bytes(4096))
    with open(tmp_path / "short", "rb") as file:
        medium = Medium(file.fileno(), "short", "threads")
        with pytest.raises(DriveError, match=r"short: page .* ends here"):
            list(Replay(traces[:1], Wishes((4,), repeats=1)).measured(medium))
    assert DriveError.exit_code == 4


def latency(us, count=1000):
    bins = np.zeros(BINS, np.uint64)
    bins[np.searchsorted(bin_edges(), us * 1e3, side="right") - 1] = count
    return Latency(bins, count, int(us * 1e3) * count, int(us * 1e3))


def sample(*, seconds=2.0, reads=100_000, lookups=50_000, in_flight=64.0, cpu=0.3, p50=80.0, lookup_us=1280.0,
           rates=(1, 1, 1, 1, 1, 1), load=None, workers=0, disk=None):  # fmt: skip
    wall = int(seconds * 1e9)
    counters = Counters(
        lookups=lookups, groups=lookups, reads=reads, bytes=reads * 4096, in_flight_ns=int(in_flight * wall),
        wall_ns=wall, gap_ns=0, cpu_ns=int(cpu * wall), enters=0, short_reads=0, retries=0, checked=0, bad=0,
        read=latency(p50), lookup=latency(lookup_us, lookups),
    )  # fmt: skip
    done = np.cumsum(rates) * reads // sum(rates)
    ticks = [Tick(wall * (at + 1) // len(rates), int(n) // 2, int(n)) for at, n in enumerate(done)]
    return Sample(counters, lookups, ticks, load, disk, workers, [])


def names(made, *, mode="stream", unit="reads", in_flight=64, engine="io_uring", rate=0.0, window_reads=10**9):
    flags = flags_of(
        made, mode=mode, unit=unit, in_flight=in_flight, engine=engine, rate=rate, window_reads=window_reads
    )
    assert all(any(letter.isdigit() for letter in flag.text) for flag in flags)
    return {flag.name: flag.value for flag in flags}


def test_good_figures_are_not_doubted():
    assert names(sample()) == {} == names(sample(in_flight=1, p50=40, lookup_us=80), in_flight=1)
    assert names(sample(load=Load(4, 0.9, 0.1, 0.6), disk=4096 * 101_000), rate=25_000) == {}
    assert names(sample(disk=0)) == {}  # the page cache had it all


@pytest.mark.parametrize(
    ("made", "asked", "flag", "value"),
    [
        (sample(in_flight=50), {}, "in-flight", 50),
        (sample(lookup_us=1000), {"unit": "lookups", "in_flight": 64}, "in-flight", 25),
        (sample(in_flight=0.99, p50=8), {"in_flight": 1}, "fast", 8),
        (sample(), {"window_reads": 40_000}, "again", 2.5),
        (sample(cpu=0.95), {}, "cpu-bound", 0.95),
        (sample(workers=3), {}, "workers", 3),
        (sample(), {"rate": 27_000}, "rate", 25_000),
        (sample(rates=(5, 5, 5, 5, 4, 4)), {}, "drift", -0.2),
        (sample(rates=(1, 1, 1, 1, 1, 2)), {}, "drift", 0.5),
        (sample(load=Load(4, 2.0, 0, 0.8)), {}, "foreign-cpu", 0.3),
        (sample(load=Load(4, 0, 0.5, 0)), {}, "steal", 0.125),
        (sample(disk=4096 * 200_000), {}, "foreign-io", 0.5),
    ],
)  # fmt: skip
def test_each_flag_has_its_number(made, asked, flag, value):
    assert list(names(made, **asked)) == [flag]
    assert names(made, **asked)[flag] == pytest.approx(value, rel=0.02)


def test_flags_that_do_not_apply():
    shallow = sample(in_flight=2.0)
    assert names(shallow, mode="decode") == {} == names(shallow, rate=20_000)  # a token has 2 reads; nothing is due
    assert "in-flight" in names(sample(in_flight=2.0, lookups=50), mode="prefill")  # a chunk has 2,000
    assert names(sample(cpu=1.5), engine="threads", in_flight=64).keys() <= {"cpu-bound"}
    assert names(sample(cpu=0.99, in_flight=0, p50=0.1), engine="null", window_reads=10) == {}
    assert names(sample(rates=(1, 2, 3))) == {}  # too few slices to tell a drift


def test_timeline_has_a_row_a_second():
    made = sample(seconds=2.5, rates=[1] * 25)
    rows = made.timeline()
    assert [row["at_s"] for row in rows] == pytest.approx([1.0, 2.0, 2.5])
    assert [row["reads_per_s"] for row in rows] == pytest.approx([40_000] * 3)


def test_repeats_that_lie_apart_are_flagged_and_taken_back():
    def ended(rate, repeat, **more):
        row = {"trace": "t", "cache_bytes": 0, "mode": "stream", "in_flight": 4, "source": "measured", "flags": []}
        return Ended(row | {"reads_per_s": rate, "repeat": repeat} | more, {})

    every = [ended(100, 1), ended(101, 2), ended(10, 1, in_flight=8), ended(50, 1, source="model")]
    flag_spread(every)
    assert not any(each.row["flags"] for each in every)
    every.append(ended(120, 3))
    for _ in range(2):
        flag_spread(every)
        flags = [each.row["flags"] for each in every]
        assert flags[0] == flags[1] == flags[4] and not flags[2] and not flags[3]
        assert flags[0] == [Flag("repeats", pytest.approx(1 / 6), "3 repeats gave 100 to 120 reads/s")]
    assert str(flags[0][0]) == "repeats=0.1667" and str(Flag("virtual", None, "")) == "virtual"
