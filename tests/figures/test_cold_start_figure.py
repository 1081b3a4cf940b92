"""The picture of a cold start: from its CSV alone, the same bytes each time, refused where the CSV is no such table."""

import re

import numpy as np
import pandas as pd
import pytest

from flashsim.errors import DataError
from flashsim.figures.cold_start import draw
from flashsim.layouts import layout
from flashsim.studies.cells import cells_of
from flashsim.studies.cold_start import cold_start
from flashsim.tokens.stream import TokenStream


def csv_of(path, names=("flat", "pagegram"), synthetic=False):
    ids = np.random.default_rng(0).integers(0, 300, 4100).astype(np.uint16)
    cells = cells_of([TokenStream(ids, synthetic=synthetic)], [layout(name, params="1M") for name in names])
    tables = [cold_start(cell, [65_536, 1 << 20], 1000).table() for cell in cells]
    pd.concat(tables).to_csv(path, index=False)
    return path


def texts(svg):
    return " | ".join(re.findall(r"<text[^>]*>([^<]*)</text>", svg.read_text()))


def test_a_panel_a_layout_and_a_line_a_cache(tmp_path):
    csv = csv_of(tmp_path / "a.csv")
    svg, png = draw(csv)
    assert (svg.name, png.name) == ("a.svg", "a.png") and png.read_bytes().startswith(b"\x89PNG")
    shown = texts(svg)
    for text in ("tokens, flat-1M", "tokens, pagegram-S4-1M", "windows of 1k tokens", "64 KiB", "1 MiB",
                 "first touches", "tokens read", "flash reads / token"):  # fmt: skip
        assert text in shown
    assert shown.count("first touches") == 1 and "SYNTHETIC" not in shown
    assert "tokens (SYNTHETIC), flat-1M" in texts(draw(csv_of(tmp_path / "b.csv", synthetic=True))[0])


def test_the_picture_is_the_whole_windows(tmp_path):
    csv = csv_of(tmp_path / "a.csv")
    before = draw(csv)[0].read_bytes()
    assert draw(csv, tmp_path / "b")[0].read_bytes() == before
    table = pd.read_csv(csv)
    for window, same in ((4, True), (2, False)):  # 4 is the one of 100 tokens
        changed = table.copy()
        changed.loc[changed["window"] == window, "reads_per_token"] /= 2
        changed.to_csv(csv, index=False)
        assert (draw(csv)[0].read_bytes() == before) == same


def test_what_cannot_be_drawn(tmp_path):
    csv = csv_of(tmp_path / "a.csv")
    table = pd.read_csv(csv)
    many = pd.concat([table.assign(label=f"{number}") for number in range(10)])
    many.to_csv(csv, index=False)
    with pytest.raises(DataError, match="10 corpora and layouts, 9 fit"):
        draw(csv)
    table.drop(columns="cold_misses").to_csv(csv, index=False)
    with pytest.raises(DataError, match="without cold_misses: give the CSV of a cold start"):
        draw(csv)
