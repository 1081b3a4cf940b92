"""Fig. 4a: drawn from its CSV alone, the same bytes each time, and a clear line where the CSV is no such table."""

import html
import re
import shutil

import numpy as np
import pandas as pd
import pytest

from flashsim.errors import DataError
from flashsim.figures.fig4a import draw
from flashsim.files import write_text
from flashsim.layouts import layout
from flashsim.studies.cache_sweep import sweep_cache
from flashsim.tokens.stream import TokenStream


@pytest.fixture(scope="module")
def sweeps(tmp_path_factory):
    """CSVs of a sweep of a synthetic stream and of one that is not, made once."""
    folder = tmp_path_factory.mktemp("sweeps")
    layouts = [layout(name, params=size) for size in ("1M", "2.5M") for name in ("flat", "engram", "pagegram")]
    ids = np.random.default_rng(0).integers(0, 300, 3000).astype(np.uint16)
    for name, synthetic in (("synthetic", True), ("real", False)):
        table = sweep_cache(TokenStream(ids, synthetic=synthetic), layouts, ["16KiB", "64KiB", "1MiB"])
        write_text(folder / f"{name}.csv", table.to_csv(index=False))
    return folder


@pytest.fixture
def csv(sweeps, tmp_path):
    return shutil.copy(sweeps / "real.csv", tmp_path / "sweep.v2.csv")


def texts(svg):
    return " | ".join(re.findall(r"<text[^>]*>([^<]*)</text>", svg.read_text()))


def test_draws_from_the_csv_alone_beside_it(csv, tmp_path):
    svg, png = draw(csv)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sweep.v2.csv", "sweep.v2.png", "sweep.v2.svg"]
    assert svg.suffix == ".svg" and png.read_bytes().startswith(b"\x89PNG\r\n")
    shown = texts(svg)
    for text in ("flat", "engram", "pagegram S=4", "1M parameters", "2.5M parameters", "16 KiB", "64 KiB", "1 MiB",
                 "tokens, 3,000 tokens; LRU page cache", "cache in RAM", "flash reads / token",
                 "no cache: 2.0 (flat, pagegram S=4)", "no cache: 16.0 (engram)"):  # fmt: skip
        assert text in shown
    assert "SYNTHETIC" not in shown


def test_more_layouts_than_colours_say_size_and_reads_in_the_legend(tmp_path):
    ids = np.random.default_rng(0).integers(0, 300, 500).astype(np.uint16)
    names = ("qwen3.8-flash-next", "longcat-flash-lite", "longcat-2.0", "over-encoding", "modded-nanogpt", "gemma-3n")
    layouts = [layout(name) for name in names] + [layout(name, params="1M") for name in ("flat", "engram")]
    table = sweep_cache(TokenStream(ids), layouts, ["16KiB", "1MiB"])
    write_text(tmp_path / "many.csv", table.to_csv(index=False))
    shown = texts(draw(tmp_path / "many.csv")[0])
    assert "qwen3.8-flash-next: 51.2B, no cache 16.5" in shown and "engram: 0.001B, no cache 16" in shown
    assert "parameters" not in shown and "no cache:" not in shown


def test_what_is_synthetic_says_so(sweeps, tmp_path):
    svg, _ = draw(sweeps / "synthetic.csv", tmp_path / "new" / "figure")
    assert svg == tmp_path / "new" / "figure.svg" and "(SYNTHETIC)" in texts(svg)


def test_the_same_bytes_each_time(csv, tmp_path):
    first, second = (draw(csv, tmp_path / name)[0].read_bytes() for name in ("a", "b"))
    assert first == second and b"<dc:date>" not in first


def test_the_lines_are_the_numbers(csv, tmp_path):
    """Half the reads of one layout, and the picture changes; another column that it does not show, and it does not."""
    before = draw(csv, tmp_path / "a")[0].read_bytes()
    text = csv.read_text()
    csv.write_text(text.replace(",c\n", ",numba\n"))
    assert draw(csv, tmp_path / "a")[0].read_bytes() == before
    header, *lines = text.splitlines()
    at = header.split(",").index("reads_per_token")
    cells = lines[1].split(",")
    cells[at] = str(float(cells[at]) / 2)
    csv.write_text("\n".join([header, lines[0], ",".join(cells), *lines[2:]]))
    assert draw(csv, tmp_path / "a")[0].read_bytes() != before


def test_a_table_from_before_warm_starts_is_of_cold_ones(csv, tmp_path):
    before = draw(csv, tmp_path / "a")[0].read_bytes()
    table = pd.read_csv(csv)
    table.drop(columns="warm_pages").to_csv(csv, index=False)
    assert draw(csv, tmp_path / "a")[0].read_bytes() == before
    table.assign(warm_pages=12_345).to_csv(csv, index=False)
    assert "LRU page cache; 12,345 pages cached at the start" in texts(draw(csv, tmp_path / "a")[0])
    table.assign(warm_pages=-1).to_csv(csv, index=False)
    with pytest.raises(DataError, match="row 1 has warm_pages -1"):
        draw(csv)


@pytest.mark.parametrize("name", ["$\\frac{$", "<&>", "007", "nan", "Öl"])
def test_names_are_never_read_as_formulas_or_numbers(csv, name):
    csv.write_text(csv.read_text().replace("\ntokens,", f"\n{name},"))
    assert f"{name}, 3,000 tokens" in html.unescape(texts(draw(csv)[0]))


def edit(csv, column, value):
    header, first, *rest = csv.read_text().splitlines()
    cells = first.split(",")
    cells[header.split(",").index(column)] = value
    csv.write_text("\n".join([header, ",".join(cells), *rest]))


@pytest.mark.parametrize(("column", "value"), [
    ("corpus", ""), ("layout", ""), ("label", ""), ("synthetic", ""), ("synthetic", "maybe"), ("synthetic", "2"),
    ("S", "four"), ("S", "inf"), ("S", "-1"), ("params", ""), ("params", "1M"), ("params", "0"), ("cache_bytes", "0"),
    ("cache_bytes", "-4096"), ("cache_bytes", "64KiB"), ("tokens", "0"), ("tokens", "inf"), ("reads", ""),
    ("reads", "-1"), ("reads_per_token", ""), ("reads_per_token", "inf"), ("reads_per_token", "True"),
])  # fmt: skip
def test_a_cell_that_cannot_be_drawn(csv, tmp_path, column, value):
    edit(csv, column, value)
    with pytest.raises(DataError, match=rf"row \d+ has {column} ") as caught:
        draw(csv)
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == [csv.name]


@pytest.mark.parametrize(("content", "message"), [
    (b"", "0 rows read"),
    (b"\n\n", "0 rows read"),
    (b"corpus,layout\n", "0 rows, without synthetic, S, params"),
    (b"a,b\n1,2\n", "1 row, without corpus"),
    (bytes(range(256)), "0 rows read|rows, without"),
    (b"\x89PNG\r\n\x1a\n" + bytes(100), "rows"),
    (b'corpus,"layout\n1,2\n', "rows"),
    (b"a,b\n1,2\n1,2,3,4\n", "0 rows read"),
    ("{\"kind\": \"cache sweep\"}".encode("utf-16"), "rows"),
])  # fmt: skip
def test_what_is_no_table_of_a_sweep(csv, content, message):
    csv.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        draw(csv)
    assert "\n" not in str(caught.value) and any(letter.isdigit() for letter in str(caught.value))


def test_a_header_alone_a_cut_line_and_no_file(csv, tmp_path):
    text = csv.read_text()
    csv.write_text(text.splitlines()[0] + "\n")
    with pytest.raises(DataError, match="0 rows, without data"):
        draw(csv)
    csv.write_text(text[: text.rstrip().rfind("pagegram") + 10])
    with pytest.raises(DataError, match="row 18 has"):
        draw(csv)
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(DataError, match="0 rows read"):
            draw(path)
