"""The lines that a replay prints: a flag says which point it is of, unless all points say the same."""

from flashsim.cli.replay_print import tables
from flashsim.studies.replay import COLUMNS
from flashsim.studies.replay_sample import Flag


def row(in_flight, *flags):
    told = {"source": "measured", "drive": "file.bin", "engine": "threads", "trace": "t.npy", "label": "flat-1M"}
    numbers = dict.fromkeys(("lookups_per_s", "reads_per_s", "lookup_p50_us", "read_p50_us"), 10.0)
    told |= {"mode": "stream", "in_flight": in_flight, "in_flight_unit": "reads", "cache_bytes": 0, "repeat": 1}
    return dict.fromkeys(COLUMNS) | told | numbers | {"flags": flags}


def doubts(*rows):
    return [line for line in tables(rows) if line.startswith("flag ")]


def test_a_flag_says_of_which_point_it_is():
    folded, apart = Flag("folded", 0.5, "folded to a half"), Flag("repeats", 0.2, "3 repeats gave 80 to 100 reads/s")
    assert doubts(row(4, folded), row(8, folded)) == ["flag folded: folded to a half"]
    assert doubts(row(4), row(8, folded)) == ["flag folded, 1 of 2 points: folded to a half (flat-1M stream at 8)"]
    alone = "flag repeats: 3 repeats gave 80 to 100 reads/s (flat-1M stream at 4)"
    assert doubts(row(4, apart)) == [alone] == doubts(row(4, apart), row(8, Flag("repeats", 0.1, "3 repeats gave 9")))
    busy = [Flag("busy", share, f"{share:.0%} of the CPU was others'") for share in (0.2, 0.3)]
    assert doubts(row(4, busy[0]), row(8, busy[1])) == ["flag busy: 30% of the CPU was others' (flat-1M stream at 8)"]
