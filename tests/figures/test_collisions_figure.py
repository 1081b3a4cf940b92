"""The picture of collisions: from its CSV alone, the same bytes each time, refused where the CSV is no such table."""

import re

import pandas as pd
import pytest

from flashsim.errors import DataError
from flashsim.figures.collisions import draw
from flashsim.layouts import layout
from flashsim.studies.cells import cells_of
from flashsim.studies.collisions import collisions
from flashsim.tokens.ngrams import distinct_ngrams

LAYOUTS = [layout(name, params="1M") for name in ("flat", "engram")] + [
    layout("pagegram", params="1M", S=S) for S in (1, 4, 15, 16)
]


@pytest.fixture(scope="module")
def rows(stream):
    ngrams = distinct_ngrams(stream, (2, 3), 0, 20_000)
    made = [one for cell in cells_of([stream], LAYOUTS, 0, 20_000) for one in collisions(cell, ngrams)]
    return pd.DataFrame([one.row() for one in made])


@pytest.fixture
def csv(rows, tmp_path):
    rows.to_csv(tmp_path / "a.csv", index=False)
    return tmp_path / "a.csv"


def texts(svg):
    return " | ".join(re.findall(r"<text[^>]*>([^<]*)</text>", svg.read_text()))


def test_what_it_says(csv, rows):
    svg, png = draw(csv)
    assert (svg.name, png.name) == ("a.svg", "a.png") and png.read_bytes().startswith(b"\x89PNG")
    shown = texts(svg)
    for text in (
        "closed form", "2-grams", "3-grams", "engram", "tokens (SYNTHETIC)", "20,000 tokens", "1M parameters",
        "S: slots a head in a bucket", "neighbours, relative to engram's",
    ):  # fmt: skip
        assert text in shown
    assert shown.count("| 15 |") == 3 and "| 16 |" not in shown and "flat" not in shown  # labels that would touch
    rows.assign(synthetic=False).to_csv(csv, index=False)
    assert "SYNTHETIC" not in texts(draw(csv)[0])


def test_one_S_lies_on_a_whole_line(csv, rows):
    """The axis and the closed form reach from 1 to 64, whatever was measured."""
    rows[rows["S"] == 4].to_csv(csv, index=False)
    shown = texts(draw(csv)[0])
    assert all(shown.count(f"| {S} |") == 3 for S in (4, 16, 64))


def test_the_picture_is_the_csv(csv, rows, tmp_path):
    before = draw(csv)[0].read_bytes()
    assert draw(csv, tmp_path / "b")[0].read_bytes() == before
    for column, at, same in (("extra_heads", 5, False), ("p_another_error", 5, False), ("p_another_closed", 3, False),
                             ("neighbours_relative", 2, False), ("foreign_share", 5, True)):  # fmt: skip
        changed = rows.copy()
        changed.loc[at, column] = changed.loc[at, column] / 2 + 0.1
        changed.to_csv(csv, index=False)
        assert (draw(csv)[0].read_bytes() == before) == same, column


def test_what_cannot_be_drawn(csv, rows):
    for table, message in (
        (rows[rows["layout"] == "flat"], "2 rows, in none of which"),
        (rows[rows["layout"] == "engram"], "2 rows, in none of which"),
        (rows.drop(columns="extra_heads_closed"), "without extra_heads_closed: give the CSV of a `collisions` run"),
        (rows.assign(p_another=-1.0), "row 1 has p_another -1.0"),
        (rows.assign(heads=float("nan")), "row 1 has heads nan"),
        (rows.assign(params=float("nan")), "row 1 has params nan"),
    ):
        table.to_csv(csv, index=False)
        with pytest.raises(DataError, match=message):
            draw(csv)
