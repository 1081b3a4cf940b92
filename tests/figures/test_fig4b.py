"""Fig. 4b: drawn from a replay's CSV alone, labelled as what it is, and a clear line where the CSV is no such table."""

import re

import pytest

from flashsim.errors import DataError
from flashsim.figures.fig4b import draw
from flashsim.files import write_text
from flashsim.studies.ledger import to_csv
from flashsim.studies.replay import COLUMNS


def rows(**more):
    """Two layouts at 4 depths, 3 repeats, and a model of the first."""
    for label, per_token in (("engram-20B", 16), ("pagegram-S4-20B", 2)):
        for depth in (1, 4, 16, 64):
            for repeat in (1, 2, 3):
                rate = min(depth / 60e-6, 270e3) / per_token * (0.9 + repeat / 20)
                named = {
                    "trace": f"{label}.npy", "corpus": "mine", "synthetic": False, "label": label, "cache_bytes": 0,
                    "mode": "stream", "source": "measured", "drive": "/mnt/t.bin", "engine": "io_uring",
                    "in_flight": depth, "in_flight_unit": "reads", "repeat": repeat, "lookups_per_s": rate, "flags": "",
                }  # fmt: skip
                yield dict.fromkeys(COLUMNS) | named | more
                if repeat == 1:
                    yield (
                        dict.fromkeys(COLUMNS) | named | {"source": "model", "drive": "p3700", "engine": "model"} | more
                    )


def write(path, *several):
    write_text(path, to_csv([row for made in several for row in made], COLUMNS))
    return path


def texts(svg):
    return " | ".join(re.findall(r"<text[^>]*>([^<]*)</text>", svg.read_text()))


def test_draws_from_the_csv_alone(tmp_path):
    csv = write(tmp_path / "r.csv", rows())
    svg, _ = draw(csv)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.csv", "r.png", "r.svg"]
    shown = texts(svg)
    for text in ("engram-20B", "pagegram-S4-20B", "stream, no cache", "reads in flight", "lookups / s", "model: p3700",
                 "slowest to fastest of 3", "/mnt/t.bin, io_uring; mine", "1 | 4 | 16 | 64 |", "10k"):  # fmt: skip
        assert text in shown, shown
    assert "BUFFERED" not in shown and "virtual" not in shown and "SYNTHETIC" not in shown
    assert draw(csv, tmp_path / "again")[0].read_bytes() == svg.read_bytes()


def test_what_it_is_stands_in_it(tmp_path):
    flags = "virtual;buffered;folded=3.1;drift=0.2"
    svg, _ = draw(write(tmp_path / "r.csv", rows(flags=flags, synthetic=True)))
    shown = texts(svg)
    for text in ("BUFFERED: the page cache", "virtual machine: its host may cache", "page numbers folded",
                 "mine (SYNTHETIC)"):  # fmt: skip
        assert text in shown


def test_a_panel_for_each_mode_and_cache(tmp_path):
    kinds = [{}, {"cache_bytes": 1 << 30}, {"mode": "decode"}, {"mode": "prefill"}, {"in_flight_unit": "lookups"}]
    shown = texts(draw(write(tmp_path / "r.csv", *(rows(**kind) for kind in kinds)))[0])
    for text in (
        "stream, no cache",
        "stream, 1 GiB cache",
        "decode, no cache",
        "prefill, no cache",
        "lookups in flight",
    ):
        assert text in shown
    many = write(tmp_path / "m.csv", *(rows(cache_bytes=4096 << size) for size in range(10)))
    with pytest.raises(DataError, match="10 modes and caches, 9 fit"):
        draw(many)


def test_a_line_is_the_median_and_the_band_goes_from_slowest_to_fastest(tmp_path):
    made = list(rows())
    before = draw(write(tmp_path / "r.csv", made))[0].read_bytes()
    at = next(at for at, row in enumerate(made) if row["repeat"] == 2 and row["source"] == "measured")
    middle = made[at]["lookups_per_s"]
    for rate, same in ((middle, True), (middle * 1.01, False)):
        made[at]["lookups_per_s"] = rate
        assert (draw(write(tmp_path / "r.csv", made))[0].read_bytes() == before) == same
    made[at]["lookups_per_s"], made[at]["flags"], made[at]["read_p50_us"] = middle, "again=2", 7  # not in the picture
    assert draw(write(tmp_path / "r.csv", made))[0].read_bytes() == before


@pytest.mark.parametrize(("column", "value"), [
    ("lookups_per_s", -1), ("lookups_per_s", ""), ("in_flight", 0), ("mode", ""), ("cache_bytes", -1),
    ("synthetic", "maybe"), ("source", None), ("repeat", "one"),
])  # fmt: skip
def test_a_cell_that_cannot_be_drawn(tmp_path, column, value):
    made = list(rows())
    made[3][column] = value
    with pytest.raises(DataError, match=rf"row \d+ has {column} "):
        draw(write(tmp_path / "r.csv", made))


def test_a_drive_that_stalled(tmp_path):
    made = list(rows())
    for row in made:
        row["lookups_per_s"] *= row["in_flight"] != 16
    assert "10k" in texts(draw(write(tmp_path / "r.csv", made))[0])
    draw(write(tmp_path / "none.csv", rows(lookups_per_s=0.0)))


def test_another_csv(tmp_path):
    (tmp_path / "r.csv").write_text("corpus,label\na,b\n")
    with pytest.raises(DataError, match="give the CSV of a replay"):
        draw(tmp_path / "r.csv")
