"""Traces: what is on disk is what streams, counts are exact, and files that do not fit together are refused."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

import flashsim
from flashsim.errors import DataError, UsageError
from flashsim.files import sha256_of
from flashsim.kernels import BACKENDS
from flashsim.layouts import layout
from flashsim.tokens.stream import CHUNK_TOKENS, TokenStream
from flashsim.trace import Tally, Trace, pieces, window, write_trace
from flashsim.workloads import Workload

PAGEGRAM, ENGRAM, FLAT = (layout(name, params=1_000_000) for name in ("pagegram", "engram", "flat"))
WIDE = layout("engram", params=30_000_000, heads=130)  # 260 reads a token: counts need uint16


def whole(stream, made, **values):
    parts = [piece.ids.copy() for piece in pieces(stream, made, **values)]
    return np.concatenate([np.empty(0, np.uint32), *parts])


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("made", [PAGEGRAM, ENGRAM, FLAT], ids=lambda made: made.name)
@pytest.mark.parametrize("unit", ["page", "row"])
def test_a_trace_on_disk_is_what_streams(tmp_path, stream, made, unit):
    steps = []
    facts = write_trace(tmp_path / "a.npy", stream, made, unit=unit, progress=steps.append)
    trace = Trace.open(tmp_path / "a.npy")
    assert names_in(tmp_path) == ["a.counts.npy", "a.json", "a.npy"]
    assert trace.ids.dtype == np.uint32 and np.array_equal(trace.ids, whole(stream, made, unit=unit))
    assert isinstance(trace.ids, np.memmap)
    reach = np.concatenate([piece.orders.copy() for piece in pieces(stream, made)])
    assert np.array_equal(trace.counts, reach * np.uint8(made.plan(unit).ids_per_order))
    assert int(trace.counts.sum()) == len(trace.ids) == facts["ids"]
    assert len(trace) == facts["tokens"] == len(stream) == sum(steps) and len(steps) == 2
    assert trace.reads_before(0) == 0 and trace.reads_before(len(stream)) == len(trace.ids)
    assert trace.ids.max() < facts["ids_below"] == made.ids(unit)


def test_ids_stand_behind_those_of_earlier_tokens(tmp_path, stream):
    write_trace(tmp_path / "a.npy", stream, ENGRAM, tokens=5000)
    trace = Trace.open(tmp_path / "a.npy")
    wanted = list(reference.pages_of(ENGRAM, stream.ids[:5000].tolist(), stream.starts.tolist()))
    for token in (0, 1, 2, 800, 4999):
        first, last = trace.reads_before(token), trace.reads_before(token + 1)
        assert trace.ids[first:last].tolist() == wanted[token]


@pytest.mark.parametrize("made", [ENGRAM, FLAT], ids=lambda made: made.name)
def test_pages_are_rows_divided(stream, made):
    rows, pages = (whole(stream, made, unit=unit, end=20_000) for unit in ("row", "page"))
    assert np.array_equal(rows // made.rows_per_page, pages)


def test_pages_are_buckets_divided(stream):
    rows, pages = (whole(stream, PAGEGRAM, unit=unit, end=20_000) for unit in ("row", "page"))
    buckets = rows.reshape(-1, 8)[:, 0] // PAGEGRAM.rows_per_bucket
    assert np.array_equal(buckets // 3, pages)


@pytest.mark.parametrize("made", [PAGEGRAM, ENGRAM, FLAT], ids=lambda made: made.name)
def test_both_back_ends_write_the_same_bytes(tmp_path, stream, made):
    for backend in BACKENDS:
        facts = write_trace(tmp_path / f"{backend}.npy", stream, made, tokens=30_000, backend=backend)
        assert facts["backend"] == backend
    assert (tmp_path / "c.npy").read_bytes() == (tmp_path / "numba.npy").read_bytes()
    assert (tmp_path / "c.counts.npy").read_bytes() == (tmp_path / "numba.counts.npy").read_bytes()


@settings(max_examples=40)
@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=80),
    st.sets(st.integers(0, 79), max_size=12),
    st.sets(st.integers(1, 6), min_size=1, max_size=3).map(sorted).map(tuple),
)
def test_lookups_left_out_are_counted_exactly(ids, starts, orders):
    made = layout("engram", params=1_000_000, orders=orders, heads=2)
    starts = sorted({0, *(start for start in starts if start < len(ids))})
    stream = TokenStream(np.array(ids, np.uint16), starts=np.array(starts, np.int64))
    tally = Tally(made)
    for piece in pieces(stream, made):
        tally.add(piece.orders)
    lengths = [len(document) for document in reference.documents(ids, starts)]
    missing = {order: sum(min(order - 1, length) for length in lengths) for order in orders}
    assert tally.missing == missing
    assert tally.tokens == len(ids) and tally.lookups == len(ids) - missing[orders[0]]


def test_counts_only_where_reads_vary(tmp_path):
    made = layout("flat", params=1_000_000, orders=(1,))
    stream = TokenStream(np.arange(1000, dtype=np.uint16), starts=np.array([0, 10, 500]))
    write_trace(tmp_path / "a.npy", stream, FLAT)
    assert names_in(tmp_path) == ["a.counts.npy", "a.json", "a.npy"]
    facts = write_trace(tmp_path / "a.npy", stream, made)
    assert names_in(tmp_path) == ["a.json", "a.npy"]  # the old counts are gone
    assert (facts["reads_per_token"], facts["counts"]) == (1, None)
    assert facts["missing_lookups"] == {1: 0} and facts["lookups"] == 1000
    trace = Trace.open(tmp_path / "a.npy")
    assert trace.counts is None and trace.reads_before(123) == 123


def test_a_skipped_start_has_its_context(tmp_path):
    """Behind the start of its document, a window reads as much as the whole does, so nothing varies."""
    stream = TokenStream(np.arange(1000, dtype=np.uint16))
    facts = write_trace(tmp_path / "a.npy", stream, FLAT, skip=2, tokens=500)
    assert names_in(tmp_path) == ["a.json", "a.npy"] and facts["reads_per_token"] == 2
    assert (facts["skip"], facts["tokens"], facts["ids"]) == (2, 500, 1000)
    assert np.array_equal(Trace.open(tmp_path / "a.npy").ids, whole(stream, FLAT)[1:1001])


def test_many_reads_a_token_need_wider_counts(tmp_path, stream):
    write_trace(tmp_path / "a.npy", stream, WIDE, tokens=3000)
    trace = Trace.open(tmp_path / "a.npy")
    assert trace.counts.dtype == np.uint16 and trace.counts.max() == 260
    assert trace.counts.sum() == len(trace.ids)


@settings(max_examples=15)
@given(st.lists(st.integers(1, 2999), max_size=5), st.sampled_from([PAGEGRAM, ENGRAM, FLAT]))
def test_windows_add_up_to_the_whole(cuts, made):
    rng = np.random.default_rng(len(cuts))
    stream = TokenStream(rng.integers(0, 50, 3000).astype(np.uint16), eot=0)
    edges = sorted({0, *cuts, 3000})
    parts = []
    for first, last in pairwise(edges):
        begin, end = window(stream, first, last - first)
        parts.append(whole(stream, made, begin=begin, end=end))
    assert np.array_equal(np.concatenate(parts), whole(stream, made))


def test_windows():
    stream = TokenStream(np.zeros(10, np.uint16))
    assert window(stream, 0, None) == (0, 10)
    assert window(stream, 9, None) == (9, 10)
    assert window(stream, 3, 4) == (3, 7)
    assert window(stream, 3, 400) == (3, 10)


@pytest.mark.parametrize(("skip", "tokens"), [(10, None), (11, 1), (-1, 1), (0, 0), (0, -1)])
def test_windows_with_nothing_in_them(tmp_path, skip, tokens):
    stream = TokenStream(np.zeros(10, np.uint16))
    with pytest.raises(UsageError, match=r"--(skip|tokens) -?\d+"):
        write_trace(tmp_path / "a.npy", stream, FLAT, skip=skip, tokens=tokens)
    assert names_in(tmp_path) == []


def test_a_trace_of_no_reads(tmp_path):
    stream = TokenStream(np.arange(5, dtype=np.uint16), starts=np.arange(5))
    facts = write_trace(tmp_path / "a.npy", stream, FLAT)
    assert (facts["ids"], facts["lookups"], facts["missing_lookups"]) == (0, 0, {2: 5, 3: 5})
    trace = Trace.open(tmp_path / "a.npy")
    assert len(trace.ids) == 0 and len(trace) == 5 and trace.counts.tolist() == [0] * 5


def test_facts(tmp_path, corpus_file):
    stream = flashsim.open_tokens(corpus_file, eot=0)
    returned = write_trace(tmp_path / "a.npy", stream, PAGEGRAM, skip=100, tokens=2000)
    facts = json.loads((tmp_path / "a.json").read_text())
    assert facts.keys() == returned.keys() | {"run"}
    assert facts["kind"] == "trace" and facts["unit"] == "page" and facts["unit_bytes"] == facts["page_bytes"] == 4096
    assert (facts["skip"], facts["tokens"], facts["ids_below"]) == (100, 2000, PAGEGRAM.pages)
    assert facts["layout"]["label"] == "pagegram-S4-1M" and facts["layout"]["table_sizes"] == list(PAGEGRAM.sizes)
    assert facts["layout"]["spec"]["rows"]["slots"] == 4 and facts["layout"]["table_bytes"] == PAGEGRAM.table_bytes
    assert facts["source"] == {
        "name": "corpus", "path": str(corpus_file), "sha256": sha256_of(corpus_file), "format": "raw",
        "tokens": 60_000, "boundary": "--eot 0", "starts_sha256": None, "synthetic": False,
        "vocabulary": None, "uncertain": [],
    }  # fmt: skip
    rows = write_trace(tmp_path / "b.npy", stream, PAGEGRAM, unit="row", tokens=2000)
    assert (rows["unit"], rows["unit_bytes"], rows["ids_below"]) == ("row", 34, PAGEGRAM.rows)


@pytest.mark.parametrize("name", ["a", "a.bin", "a.csv", "a.npy.zst"])
def test_a_trace_is_a_npy(tmp_path, stream, name):
    with pytest.raises(UsageError, match=r"1 \.npy file"):
        write_trace(tmp_path / name, stream, FLAT)
    assert names_in(tmp_path) == []


def test_the_token_file_and_the_json_beside_it_are_never_replaced(tmp_path):
    np.save(tmp_path / "tokens.npy", np.arange(100, dtype=np.uint16))
    before = (tmp_path / "tokens.npy").read_bytes()
    with pytest.raises(UsageError, match="is 1 of the files that are read"):
        write_trace(tmp_path / "tokens.npy", flashsim.open_tokens(tmp_path / "tokens.npy"), FLAT)
    (tmp_path / "tokens.json").write_text('{"eot": 0}')
    (tmp_path / "tokens.bin").write_bytes(np.arange(100, dtype=np.uint16).tobytes())
    (tmp_path / "tokens.npy").rename(tmp_path / "other.npy")
    with pytest.raises(UsageError, match=r"tokens\.json .*belongs to another file"):
        write_trace(tmp_path / "tokens.npy", flashsim.open_tokens(tmp_path / "tokens.bin", dtype="uint16"), FLAT)
    assert names_in(tmp_path) == ["other.npy", "tokens.bin", "tokens.json"]
    assert (tmp_path / "other.npy").read_bytes() == before
    assert (tmp_path / "tokens.json").read_text() == '{"eot": 0}'


@pytest.mark.parametrize("first", [True, False])
def test_a_bad_id_in_mid_stream_leaves_what_was_there(tmp_path, stream, first):
    assert CHUNK_TOKENS < 290_000 < len(stream)
    bad = stream.ids.astype(np.uint32)
    bad[290_000] = 65_536
    bad = replace(stream, ids=bad, vocab_size=65_536)
    if not first:
        write_trace(tmp_path / "a.npy", stream, FLAT)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    steps = []
    with pytest.raises(DataError, match="token 290000 is 65536"):
        write_trace(tmp_path / "a.npy", bad, ENGRAM, progress=steps.append)
    assert steps == [CHUNK_TOKENS]  # it was under way
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_an_interrupt_leaves_what_was_there(tmp_path, stream):
    def interrupt(tokens):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_trace(tmp_path / "new" / "a.npy", stream, FLAT, progress=interrupt)
    assert names_in(tmp_path) == []


@pytest.fixture
def trace(tmp_path, stream):
    write_trace(tmp_path / "a.npy", stream, FLAT, tokens=2000)
    Trace.open(tmp_path / "a.npy")
    return tmp_path / "a.npy"


def edited(path, change):
    facts = json.loads(path.with_suffix(".json").read_text())
    change(facts)
    path.with_suffix(".json").write_text(json.dumps(facts))


def cut(path, size):
    path.write_bytes(path.read_bytes()[:size])


def counts_of(path):
    return path.with_suffix(".counts.npy")


@pytest.mark.parametrize(("harm", "message"), [
    (lambda path: cut(path, -4), r"a\.npy: cannot be read"),
    (lambda path: cut(path, 100), r"a\.npy: cannot be read"),
    (lambda path: cut(path, 0), r"a\.npy: cannot be read"),
    (lambda path: path.unlink(), r"a\.npy: cannot be read"),
    (lambda path: path.write_bytes(b"PK\3\4" + bytes(100)), r"a\.npy: cannot be read"),
    (lambda path: path.write_bytes(b"\x93NUMPY\1\0\x76\0{'descr': (" + bytes(200)), r"a\.npy: cannot be read"),
    (lambda path: np.save(path, np.array([{}], object)), r"a\.npy: cannot be read"),
    (lambda path: np.save(path, np.zeros(7, np.uint32)), r"7 uint32 ids, its JSON says \d+"),
    (lambda path: np.save(path, np.load(path).astype(np.int64)), r"\d+ int64 ids, its JSON says \d+ uint32"),
    (lambda path: np.save(path, np.zeros((2, 2), np.uint32)), "2-D"),
    (lambda path: counts_of(path).unlink(), r"a\.counts\.npy: cannot be read"),
    (lambda path: cut(counts_of(path), -1), r"a\.counts\.npy: cannot be read"),
    (lambda path: np.save(counts_of(path), np.zeros(1999, np.uint8)), "1999 uint8 counts for 2000 tokens"),
    (lambda path: np.save(counts_of(path), np.zeros(2000, np.float32)), "2000 float32 counts"),
    (lambda path: np.save(counts_of(path), np.zeros(2000, np.uint8)), r"\d+ ids for the 0 reads of 2000 tokens"),
    (lambda path: path.with_suffix(".json").unlink(), r"no trace: a\.json \(1 file\) must stand beside it"),
    (lambda path: cut(path.with_suffix(".json"), -30), r"a\.json: broken JSON"),
    (lambda path: path.with_suffix(".json").write_bytes(b"\xff\xfe\0"), r"a\.json: broken JSON"),
    (lambda path: path.with_suffix(".json").write_text("[" * 100_000), r"a\.json: broken JSON"),
    (lambda path: path.with_suffix(".json").write_text("[1, 2]"), "no trace"),
    (lambda path: edited(path, lambda facts: facts.pop("kind")), "no trace"),
    (lambda path: edited(path, lambda facts: facts.pop("ids_below")), "missing required field `ids_below`"),
    (lambda path: edited(path, lambda facts: facts.pop("layout")), "missing required field `layout`"),
    (lambda path: edited(path, lambda facts: facts["layout"].pop("spec")), "missing required field `spec`"),
    (
        lambda path: edited(path, lambda facts: facts["layout"]["spec"]["ngrams"].update(orders=[])),
        r"length >= 1 - at `\$\.layout\.spec\.ngrams\.orders`",
    ),
    (lambda path: edited(path, lambda facts: facts["source"].pop("name")), "missing required field `name`"),
    (lambda path: edited(path, lambda facts: facts["source"].update(boundary=[0])), r"\$.source.boundary"),
    (lambda path: edited(path, lambda facts: facts.update(skip="0")), r"\$.skip"),
    (lambda path: edited(path, lambda facts: facts.update(ids=5)), r"\d+ uint32 ids, its JSON says 5"),
    (lambda path: edited(path, lambda facts: facts.update(tokens=1999)), "counts for 1999 tokens"),
    (lambda path: edited(path, lambda facts: facts.update(tokens=0)), r"tokens"),
    (lambda path: edited(path, lambda facts: facts.update(tokens="2000")), "tokens"),
    (lambda path: edited(path, lambda facts: facts.update(ids_below=2**33)), "ids_below"),
    (lambda path: edited(path, lambda facts: facts.update(unit_bytes=0)), "unit_bytes"),
    (lambda path: edited(path, lambda facts: facts.update(unit="bucket")), "unit"),
    (lambda path: edited(path, lambda facts: facts.update(reads_per_token=2)), "for the 4000 reads of 2000 tokens"),
])  # fmt: skip
def test_files_that_do_not_fit_together(trace, harm, message):
    harm(trace)
    with pytest.raises(DataError, match=message) as caught:
        Trace.open(trace)
    assert "\n" not in str(caught.value) and any(letter.isdigit() for letter in str(caught.value))


def test_a_trace_may_be_renamed_with_what_is_beside_it(trace):
    before = Trace.open(trace).ids.tolist()
    for end in (".npy", ".json", ".counts.npy"):
        trace.with_suffix(end).rename(trace.with_name(f"b{end}"))
    assert Trace.open(trace.with_name("b.npy")).ids.tolist() == before


def test_ids_of_another_trace_are_not_taken_for_those_of_the_json(tmp_path, stream):
    """What a kill between two renames leaves: new ids beside the old JSON."""
    for seed in (0, 1):
        write_trace(tmp_path / f"{seed}.npy", stream, layout("flat", params="2M", seed=seed), tokens=5000)
    (tmp_path / "0.npy").write_bytes((tmp_path / "1.npy").read_bytes())
    with pytest.raises(DataError, match="are not the ones that its JSON is of"):
        Trace.open(tmp_path / "0.npy")


@pytest.mark.parametrize(("end", "of"), [(".counts.npy", "counts"), (".steps.npy", "steps")])
def test_counts_and_steps_of_another_trace_are_not_taken(tmp_path, stream, end, of):
    """Of as many tokens and reads in all, so that only what they hold tells."""
    for streams in (4, 8):
        write_trace(tmp_path / f"{streams}.npy", stream, FLAT, tokens=20_000, workload=Workload(streams))
    path = tmp_path / f"4{end}"
    if of == "steps":
        path.write_bytes((tmp_path / f"8{end}").read_bytes())
    else:
        np.save(path, np.load(path)[::-1])
    with pytest.raises(DataError, match=rf"4\{end}: its \d+ {of} are not the ones that its JSON is of: trace it again"):
        Trace.open(tmp_path / "4.npy")
    edited(tmp_path / "4.npy", lambda facts: facts.pop(f"{of}_fingerprint"))  # as older traces are
    assert len(Trace.open(tmp_path / "4.npy")) == 20_000
