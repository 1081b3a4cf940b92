"""The picture of a hot set: from its CSV alone, the same bytes each time, refused where the CSV is no such table."""

import re

import numpy as np
import pandas as pd
import pytest

from flashsim.errors import DataError
from flashsim.figures.hot_set import draw
from flashsim.layouts import layout
from flashsim.studies.cells import cells_of
from flashsim.studies.hot_set import hot_set
from flashsim.tokens.stream import TokenStream


def csv_of(path, names=("flat", "pagegram"), synthetic=False, **values):
    ids = np.random.default_rng(0).integers(0, 300, 20_000).astype(np.uint16)
    layouts = [layout(name, params="20M", **values) for name in names]
    tables = [hot_set(cell).table() for cell in cells_of([TokenStream(ids, synthetic=synthetic)], layouts)]
    pd.concat(tables).to_csv(path, index=False)
    return path


def texts(svg):
    return " | ".join(re.findall(r"<text[^>]*>([^<]*)</text>", svg.read_text()))


def test_a_panel_for_each_order_and_a_line_a_layout(tmp_path):
    svg, png = draw(csv_of(tmp_path / "a.csv"))
    assert (svg.name, png.name) == ("a.svg", "a.png") and png.read_bytes().startswith(b"\x89PNG")
    shown = texts(svg)
    for text in ("all reads, orders 2+3", "reads of order 2 |", "reads of order 3 |", "tokens flat-20M",
                 "tokens pagegram-S4-20M", "most read in the 1st half", "share of the reads", "the most read pages",
                 "4 MiB", "100%"):  # fmt: skip
        assert text in shown, shown
    assert "SYNTHETIC" not in shown
    shown = texts(draw(csv_of(tmp_path / "b.csv", ("flat",), synthetic=True, orders=(2,)))[0])
    assert "tokens flat-20M-n2 (SYNTHETIC)" in shown and "all reads, orders 2 |" in shown


def test_the_picture_is_of_the_csv_alone(tmp_path):
    csv = csv_of(tmp_path / "a.csv")
    before = draw(csv)[0].read_bytes()
    assert draw(csv, tmp_path / "b")[0].read_bytes() == before
    table = pd.read_csv(csv)
    for column in ("read_share", "later_read_share"):
        changed = table.copy()
        changed[column] *= 0.9
        changed.to_csv(csv, index=False)
        assert draw(csv)[0].read_bytes() != before


def test_what_cannot_be_drawn(tmp_path):
    csv = csv_of(tmp_path / "a.csv")
    table = pd.read_csv(csv)
    pd.concat([table.assign(orders=f"{number}") for number in range(10)]).to_csv(csv, index=False)
    with pytest.raises(DataError, match="10 sets of orders, 9 fit"):
        draw(csv)
    table.drop(columns="later_read_share").to_csv(csv, index=False)
    with pytest.raises(DataError, match="without later_read_share: give the CSV of a hot set"):
        draw(csv)
