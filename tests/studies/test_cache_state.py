"""States on disk: what was saved comes back, and what is not this layout's state is refused."""

import json
import shutil

import numpy as np
import pytest

from flashsim.errors import DataError, UsageError
from flashsim.files import sha256_of
from flashsim.layouts import layout
from flashsim.layouts.spec import _PRESETS
from flashsim.studies.cache_state import check_state_path, load_state, save_state
from flashsim.studies.cells import cells_of
from flashsim.tokens.stream import TokenStream
from flashsim.trace import Trace, write_trace

LAYOUT = layout("pagegram", params="2M")
STREAM = TokenStream((np.arange(5000) * 7 % 311).astype(np.uint16))
PAGES = np.array([5, 0, 17, LAYOUT.pages - 1], np.uint32)


def cell_of(source=STREAM, layout=LAYOUT, skip=0, tokens=None):
    return cells_of([source], [layout], skip, tokens)[0]


@pytest.fixture
def saved(tmp_path):
    save_state(tmp_path / "s.npy", cell_of(tokens=2000), PAGES)
    return tmp_path / "s.npy"


def test_what_was_saved_comes_back(saved):
    state = load_state(saved, cell_of())
    assert state.pages.dtype == np.uint32 and state.pages.tolist() == PAGES.tolist()
    wanted = {"kind": "cache state", "label": "pagegram-S4-2M", "ids_below": LAYOUT.pages, "pages": 4, "tokens": 2000}
    assert wanted.items() <= state.facts.items() and state.facts["source"]["name"] == "tokens"
    assert np.load(saved).tolist() == PAGES.tolist()
    before = sha256_of(saved)
    save_state(saved, cell_of(skip=2000, tokens=500), PAGES[:2], state)
    again = load_state(saved, cell_of())
    assert again.facts["tokens"] == 2500 and len(again.pages) == 2
    past = again.facts["warm_from"]
    assert (past["tokens"], past["pages"], past["sha256"]) == (2000, 4, before) and before != again.sha256


def test_it_knows_the_tokens_that_it_has_read(saved):
    state = load_state(saved, cell_of())
    for skip, tokens, seen in ((0, None, 2000), (500, 100, 100), (1999, None, 1), (2000, None, 0)):
        assert state.seen(cell_of(skip=skip, tokens=tokens)) == seen
    assert state.seen(cell_of(TokenStream(STREAM.ids[:4000]))) == 0


def test_a_trace_takes_the_state_of_its_stream(saved, tmp_path):
    write_trace(tmp_path / "t.npy", STREAM, LAYOUT, skip=1000)
    cell = cell_of(Trace.open(tmp_path / "t.npy"), None, 100)
    state = load_state(saved, cell)
    assert state.seen(cell) == 900
    save_state(tmp_path / "u.npy", cell, PAGES, state)
    assert load_state(tmp_path / "u.npy", cell_of()).facts["begin"] == 1100
    write_trace(tmp_path / "rows.npy", STREAM, LAYOUT, unit="row")
    with pytest.raises(UsageError, match=r"pagegram-S4-2M, ids below .*; this run is of pagegram-S4-2M-row, ids below"):
        load_state(saved, cell_of(Trace.open(tmp_path / "rows.npy"), None))


def test_another_layout(saved, tmp_path):
    other = layout("pagegram", params="3M")
    with pytest.raises(UsageError) as caught:
        load_state(saved, cell_of(layout=other))
    for value in ("pagegram-S4-2M", "pagegram-S4-3M", str(LAYOUT.pages), str(other.pages)):
        assert value in str(caught.value)
    with pytest.raises(UsageError, match="this run is of pagegram-S4-3M"):
        load_state(saved, cell_of(), cell_of(layout=other))


def test_two_files_of_one_label_are_two_layouts(tmp_path):
    preset, made = (_PRESETS / "pagegram.toml").read_text().replace('name = "pagegram"', 'name = "mine"'), []
    for seed in (0, 9):
        (tmp_path / f"{seed}.toml").write_text(preset.replace("seed = 0", f"seed = {seed}"))
        made.append(layout(str(tmp_path / f"{seed}.toml"), params="2M"))
    assert made[0].label == made[1].label and made[0].pages == made[1].pages
    save_state(tmp_path / "s.npy", cell_of(layout=made[0]), PAGES)
    with pytest.raises(UsageError, match=r"another mine-S4-2M, of 1 other value \(hash\)"):
        load_state(tmp_path / "s.npy", cell_of(layout=made[1]))


@pytest.mark.parametrize(("pages", "message"), [
    (np.array([1, 2, 3], np.uint32), "4 uint32 pages"), (np.array([1, 2, 3, 4], np.int64), "4 uint32 pages"),
    (np.array([[1, 2], [3, 4]], np.uint32), "4 uint32 pages"), (np.array([1, 2, 2, 3], np.uint32), "not all different"),
    (np.array([1, 2, 3, LAYOUT.pages], np.uint32), "not all different and below"),
])  # fmt: skip
def test_pages_that_are_no_state(saved, pages, message):
    np.save(saved, pages)
    with pytest.raises(DataError, match=message):
        load_state(saved, cell_of())


@pytest.mark.parametrize("content", [
    b"", b"{", b"[1]", b"null", b'{"kind": "trace"}', b'{"kind": "cache state"}', b"\xff\xfe", b"[" * 100_000,
])  # fmt: skip
def test_json_that_is_of_no_state(saved, content):
    saved.with_suffix(".json").write_bytes(content)
    with pytest.raises(DataError, match="0 pages of a cache state read") as caught:
        load_state(saved, cell_of())
    assert "\n" not in str(caught.value)


def test_files_that_are_no_state(saved, tmp_path):
    for path in ("", "none.npy", tmp_path / "s.json", tmp_path):
        with pytest.raises(DataError, match="0 pages"):
            load_state(path, cell_of())
    saved.write_bytes(saved.read_bytes()[:-5])
    with pytest.raises(DataError, match="0 pages read"):
        load_state(saved, cell_of())


@pytest.mark.parametrize(("key", "value", "place"), [
    ("pages", -1, "$.pages"), ("tokens", "2k", "$.tokens"), ("source", None, "$.source"), ("layout", [], "$.layout"),
    ("layout", {}, "`spec`"), ("layout", {"spec": []}, "$.layout.spec"), ("layout", {"spec": {}}, "`rows`"),
    ("layout", {"spec": {"rows": [1]}}, "$.layout.spec.rows"),
])  # fmt: skip
def test_json_of_another_form(saved, key, value, place):
    facts = json.loads(saved.with_suffix(".json").read_text())
    saved.with_suffix(".json").write_text(json.dumps(facts | {key: value}))
    with pytest.raises(DataError) as caught:
        load_state(saved, cell_of())
    assert place in str(caught.value)


def test_where_a_state_cannot_go(tmp_path):
    np.save(tmp_path / "tokens.npy", STREAM.ids)
    stream = TokenStream(STREAM.ids, path=tmp_path / "tokens.npy")
    cell = cell_of(stream)
    with pytest.raises(UsageError, match="the source itself"):
        check_state_path(tmp_path / "tokens.npy", [cell], tmp_path / "x.csv")
    with pytest.raises(UsageError, match=r"end in \.npy"):
        check_state_path(tmp_path / "s.bin", [cell], tmp_path / "x.csv")
    with pytest.raises(UsageError, match="2 states for 1 file"):
        check_state_path(tmp_path / "s.npy", [cell, cell], tmp_path / "x.csv")
    shutil.copy(tmp_path / "tokens.npy", tmp_path / "s.npy")
    (tmp_path / "s.json").write_text('{"eot": 0}')
    with pytest.raises(UsageError, match="there already"):
        check_state_path(tmp_path / "s.npy", [cell], tmp_path / "x.csv")
