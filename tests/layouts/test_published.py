"""Published tables: golden rows, published constants and totals, and any spec of the families against plain Python."""

import msgspec
import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from flashsim.errors import DataError, UsageError
from flashsim.layouts import layout, load_spec, preset_names, tables
from flashsim.layouts.derive import engram_multipliers, primes_above
from flashsim.layouts.spec import _PRESETS, Hash, LayoutSpec, Ngrams, Placement, Rows, Vocabulary
from flashsim.tokens.stream import TokenStream
from flashsim.trace import pieces, trace_ids

BACKENDS = ("c", "numba", "python")
PUBLISHED = [name for name in preset_names() if load_spec(name).hash.family not in ("mix64", "longest-match")]


def rows_by(made, stream, backend):
    """int, shape (tokens, tables): table-local rows."""
    if backend == "python":
        starts = np.flatnonzero(stream.ids[:-1] == stream.eot) + 1 if stream.eot is not None else []
        rows = list(
            reference.published_rows(made.spec, made.sizes, stream.ids.tolist(), list(starts), made.multipliers)
        )
    else:
        rows = trace_ids(stream, made, unit="row", backend=backend).reshape(len(stream), -1).astype(np.int64)
    return np.array(rows) - np.array(made.firsts)


@pytest.mark.parametrize("backend", BACKENDS)
def test_golden_rows_of_deepseek_v4_1(backend):
    made = layout("deepseek-v4.1", raw_ids=True)  # the ids are compressed ones already
    rows = rows_by(made, TokenStream(np.array([5, 17, 99091, 0])), backend)
    rows[:, 24:] += np.array(made.firsts[24:]) - made.firsts[24]  # golden rows count from their layer's first
    rows[:, :24] += np.array(made.firsts[:24])
    assert rows[0, [0, 8, 16]].tolist() == [5412672, 143494632, 256353435]
    assert rows[3, [0, 8, 23]].tolist() == [11738160, 135599064, 378717148]
    assert rows[3, [24, 32, 47]].tolist() == [13474695, 132806965, 371800352]


@pytest.mark.parametrize("backend", BACKENDS)
def test_golden_rows_of_qwen(backend):
    made = layout("qwen3.8-flash-next")
    rows = rows_by(made, TokenStream(np.array([248044, 1000, 99999, 42]), eot=248044), backend) + np.array(made.firsts)
    assert rows[:, [0, 7, 8, 15]].tolist() == [
        [9663979, 151022725, 170054832, 300986548],
        [1876085, 142751402, 178377549, 304819575],
        [4504090, 141591318, 172823072, 317510549],
        [5787553, 144507991, 169574801, 316674223],
    ]


@pytest.mark.parametrize("backend", BACKENDS)
def test_golden_rows_of_longcat(backend):
    rows = rows_by(layout("longcat-flash-lite"), TokenStream(np.array([7, 100, 2, 55, 131071, 9]), eot=2), backend)
    assert rows[1].tolist() == [917604] * 12 and rows[3].tolist() == [55] * 12
    assert rows[5].tolist() == [
        4061561, 4058201, 4054841, 4051481, 8983491, 8795287, 8607083, 8418879, 8230675, 8042471, 7854267, 7666063,
    ]  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
def test_golden_rows_of_modded_nanogpt(backend):
    made = layout("modded-nanogpt")
    rows = rows_by(made, TokenStream(np.array([11, 22, 33])), backend) + np.array(made.firsts)
    assert rows[:, 0].tolist() == [42301439, 12438875, 1796163]
    assert rows[:, 1].tolist() == [84602879, 84602879, 44092104]


def test_published_constants():
    v41 = layout("deepseek-v4.1", raw_ids=True)
    assert v41.multipliers == [
        [76632096046245, 4839876093313, 35959672319349, 73987337458391],
        [67716810739261, 51510806800915, 30921347202721, 82619226485591],
    ]
    for first, last, total, part in [
        (16_000_057, 16_000_463, 384_006_168, v41.sizes[:24]),
        (16_000_477, 16_000_889, 384_016_682, v41.sizes[24:]),
        (646_403, 646_619, 10_344_164, layout("engram-demo", raw_ids=True).sizes[:16]),
        (646_631, 646_879, 10_348_242, layout("engram-demo", raw_ids=True).sizes[16:]),
        (20_000_003, 20_000_171, 320_001_446, layout("qwen3.8-flash-next").sizes),
        (10_223_617, 10_223_639, 122_683_536, layout("longcat-flash-lite").sizes),
    ]:
        assert (part[0], part[-1], sum(part)) == (first, last, total)
    assert layout("longcat-flash-lite").sizes == tuple(78 * 131_072 + 2 * table + 1 for table in range(12))


@pytest.mark.parametrize(("name", "rows"), [
    ("deepseek-v4.1", 768_022_850), ("engram-demo", 20_692_406), ("qwen3.8-flash-next", 320_001_536),
    ("longcat-flash-lite", 122_683_536), ("modded-nanogpt", 84_602_880), ("gemma-3n", 262_144),
])  # fmt: skip
def test_rows_are_the_published_total(name, rows):
    made = layout(name, raw_ids=True if load_spec(name).vocabulary.mapped else None)
    assert made.rows == rows
    assert all(made.ids("row") >= first + size for first, size in zip(made.firsts, made.sizes, strict=True))


@pytest.mark.parametrize(("name", "bytes_a_row"), [
    ("engram-demo", 128), ("engram-27b", 320), ("deepseek-v4.1", 264), ("qwen3.8-flash-next", 160),
    ("longcat-flash-lite", 512), ("modded-nanogpt", 1536), ("gemma-3n", 15_360),
])  # fmt: skip
def test_row_bytes_are_the_published_ones(name, bytes_a_row):
    assert layout(name, raw_ids=True if load_spec(name).vocabulary.mapped else None).row_bytes == bytes_a_row


def test_engrams_multipliers_never_wrap():
    for vocabulary in (2, 1000, 99_092, 2**31):
        for layer in range(4):
            assert all(0 < m * (vocabulary - 1) < 2**63 and m % 2 for m in engram_multipliers(0, layer, vocabulary, 4))


def test_primes_start_anew_for_each_group_and_are_never_shared():
    assert primes_above(10, 2, 3) == [11, 13, 17, 19, 23, 29]
    assert primes_above(11, 1, 1) == [11]


SMALL_PRIMES = (7, 11, 101, 997, 65537, 2**31 - 1)


@st.composite
def specs(draw):
    """A small spec of any published family, and the multipliers that it uses."""
    orders = tuple(sorted(draw(st.sets(st.integers(1, 5), min_size=1, max_size=3))))
    family = draw(st.sampled_from(["xor-multiply", "polynomial", "identity"]))
    orders = (1,) if family == "identity" else orders
    layers = draw(st.integers(0, 2)) if family != "identity" else 0
    heads = draw(st.integers(1, 9)) if family != "identity" else 1
    count = max(1, layers) * len(orders) * heads
    sizes = tuple(draw(st.lists(st.sampled_from(SMALL_PRIMES[:-1]), min_size=count, max_size=count)))
    missing = draw(st.sampled_from(["filler", "reserved"]))
    factors, first_as, word = (), {}, 64
    if family == "xor-multiply":
        by_order = layers == 0 and draw(st.booleans())
        word = draw(st.sampled_from([32, 64]))
        lengths = orders if by_order else (max(orders),) * max(1, layers)
        factors = tuple(tuple(draw(st.integers(k == 0, 2 ** (word - 1) - 1)) for k in range(each)) for each in lengths)
    if missing == "reserved" and len(orders) > 1 and draw(st.booleans()):
        first_as = {orders[0]: draw(st.integers(0, 2**31 - 1))} if orders[0] > 1 else {}
    return LayoutSpec(
        name="any",
        ngrams=Ngrams(
            orders, draw(st.sampled_from(["document", "sequence"])), missing, draw(st.integers(0, 2**31 - 1)), first_as
        ),
        hash=Hash(
            family, layers=tuple(range(layers)), multipliers=factors,
            word=word,
            radix=draw(st.integers(1, 2**31 - 1)) if family == "polynomial" else 0,
        ),
        rows=Rows("heads" if heads > 1 else "whole", 8, "fp8", sizes=sizes, heads=heads),
        placement=Placement(rule="packed"),
    )  # fmt: skip


@settings(max_examples=60)
@given(specs(), st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=40), st.data())
def test_any_spec_three_ways(spec, ids, data):
    made = tables.work_out(spec, "any", None, False)
    starts = sorted({0, *data.draw(st.lists(st.integers(0, len(ids) - 1), max_size=5))})
    stream = TokenStream(np.array(ids), starts=np.array(starts))
    expected = list(reference.published_rows(spec, made.sizes, ids, starts, spec.hash.multipliers))
    for backend in ("c", "numba"):
        assert trace_ids(stream, made, unit="row", backend=backend).reshape(len(ids), -1).tolist() == expected
        begin = data.draw(st.integers(0, len(ids) - 1))
        part = trace_ids(stream, made, unit="row", begin=begin, backend=backend)
        assert part.reshape(len(ids) - begin, -1).tolist() == expected[begin:]


def test_how_the_stream_is_cut_does_not_matter(stream, monkeypatch):
    import flashsim.tokens.stream as module

    made = layout("modded-nanogpt")
    short = TokenStream(stream.ids[:5000], starts=stream.starts[stream.starts < 5000])
    whole = trace_ids(short, made)
    monkeypatch.setattr(module.TokenStream.chunks, "__defaults__", (0, None, 7))
    assert (trace_ids(short, made) == whole).all()


@pytest.mark.parametrize("name", PUBLISHED)
def test_pages_are_those_of_the_rows(name, stream):
    made = layout(name, raw_ids=True if load_spec(name).vocabulary.mapped else None)
    short = TokenStream(stream.ids[:300], starts=stream.starts[stream.starts < 300])
    rows = trace_ids(short, made, unit="row").tolist()
    placed, expected = made.placed, []
    for row in rows:
        group = max(at for at, first in enumerate(placed.firsts) if first <= row)
        for region in placed.read:
            start = region.starts[group] + (row - placed.firsts[group]) * region.row_bytes
            expected += range(start // 4096, (start + region.row_bytes - 1) // 4096 + 1)
    for backend in ("c", "numba"):
        parts = [(piece.ids.copy(), piece.counts.copy()) for piece in pieces(short, made, backend=backend)]
        assert np.concatenate([ids for ids, _ in parts]).tolist() == expected
        assert sum(int(counts.sum()) for _, counts in parts) == len(expected)
    assert max(expected) < made.pages


def test_a_vocabulary_map_renames_the_ids_and_the_filler():
    spec = load_spec("deepseek-v4.1")
    to = np.random.default_rng(1).permutation(np.arange(99_092)).astype(np.uint32)
    mapped = tables.work_out(spec, "mapped", to, False)
    ids = np.random.default_rng(2).integers(0, 99_092, 50)
    filler = msgspec.structs.replace(spec.ngrams, filler=int(to[2]))
    plain = tables.work_out(msgspec.structs.replace(spec, ngrams=filler), "plain", None, True)
    for backend in ("c", "numba"):
        rows = trace_ids(TokenStream(ids), mapped, unit="row", backend=backend)
        assert (rows == trace_ids(TokenStream(to[ids].astype(np.int64)), plain, unit="row", backend=backend)).all()
    with pytest.raises(DataError, match="token id 99092 is outside the vocabulary map of 99092"):
        trace_ids(TokenStream(np.array([99_092])), mapped)


def test_multipliers_follow_the_size_of_the_map(tmp_path):
    np.save(tmp_path / "map.npy", np.arange(1000) // 2)
    made = layout("engram-demo", vocab_map=tmp_path / "map.npy")
    assert made.vocabulary_size == 500 and made.multipliers[1] == engram_multipliers(0, 15, 500, 3)
    assert made.data_sha256 != layout("engram-demo", raw_ids=True).data_sha256 is None


@pytest.mark.parametrize(("name", "values", "message"), [
    ("deepseek-v4.1", {}, "hashes 99,092 compressed ids.*--vocab-map"),
    ("engram-demo", {}, "hashes compressed ids"),
    ("deepseek-v4.1", {"params": "20B"}, "--params 20B: deepseek-v4.1 has the rows"),
    ("deepseek-v4.1", {"raw_ids": True, "resident": ("scale",)}, "no part 'scale' in fp8-e8m0, it has 2: weights, sc"),
    ("deepseek-v4.1", {"raw_ids": True, "resident": ("scales", "weights")}, "leaves 1 part"),
    ("qwen3.8-flash-next", {"resident": ("weights",)}, "that takes placement planar"),
    ("qwen3.8-flash-next", {"raw_ids": True}, "--raw-ids: qwen3.8-flash-next hashes the tokenizer's own ids"),
    ("qwen3.8-flash-next", {"vocab_map": "x.npy"}, "--vocab-map: qwen3.8-flash-next hashes the tokenizer's own ids"),
    ("scone", {"raw_ids": True}, "--raw-ids: scone hashes the tokenizer's own ids"),
    ("qwen3.8-flash-next", {"row_format": "q4_k"}, "160 numbers is not whole blocks of 256"),
    ("qwen3.8-flash-next", {"S": 4}, "slots"),
    ("longcat-flash-lite", {"heads": 3}, "12 sizes for 9 tables"),
    ("longcat-flash-lite", {"orders": (2, 3)}, "12 sizes for 8 tables"),
    ("qwen3.8-flash-next", {"orders": (2, 3, 4)}, "multipliers"),
    ("modded-nanogpt", {"orders": (1, 2)}, "first_as for order 2"),
    ("engram", {"raw_ids": True}, "the tokenizer's own ids"),
    ("qwen3.8-flash-next", {"base": -1}, "base"),
    ("qwen3.8-flash-next", {"base": (0, 4096)}, "2 bases for 1 layer:"),
    ("qwen3.8-flash-next", {"base": 100, "placement": "page-aligned"}, "no multiple of the page"),
    ("pagegram", {"placement": "packed"}, "buckets lie page-aligned from byte 0 on; leave these out"),
    ("qwen3.8-flash-next", {"page": "100B"}, "multiple of 512"),
])  # fmt: skip
def test_what_cannot_be_is_refused(name, values, message):
    with pytest.raises(UsageError, match=message) as caught:
        layout(name, **values)
    assert any(letter.isdigit() for letter in str(caught.value)) and "\n" not in str(caught.value)


@pytest.mark.parametrize(("old", "new", "message"), [
    ("primes_from = 20_000_000", "primes_from = 2305843009213693952", "primes_from 2305843009213693952: give 2"),
    ("primes_from = 20_000_000", "primes_from = -5", "primes_from -5"),
    ("filler = 248_044", "filler = 1\nfirst_as = { 2 = -1 }", "first_as"),
    ("23_703_573_157_769, 20_109_073_645_365, 8_052_911_324_071", "0, 0, 0", "multipliers that are all 0"),
    ("[hash]", "[hash]\nword = 32", "a multiplier outside 0 to 2147483647"),
])  # fmt: skip
def test_numbers_of_a_file_that_cannot_be(tmp_path, old, new, message):
    text = (_PRESETS / "qwen3.8-flash-next.toml").read_text().replace("qwen3.8-flash-next", "own")
    assert old in text
    (tmp_path / "own.toml").write_text(text.replace(old, new))
    with pytest.raises(UsageError, match=message):
        layout(str(tmp_path / "own.toml"))


@pytest.mark.parametrize(("array", "message"), [
    (np.arange(500), "500 compressed ids, deepseek-v4.1 was made for 99,092"),
    (np.zeros((2, 2), int), "shape"),
    (np.zeros(3), "shape"),
    (np.zeros(0, int), "shape"),
    (np.array([-1, 2]), "ids from -1"),
])  # fmt: skip
def test_maps_that_are_none(tmp_path, array, message):
    np.save(tmp_path / "map.npy", array)
    with pytest.raises((UsageError, DataError), match=message):
        layout("deepseek-v4.1", vocab_map=tmp_path / "map.npy")


def test_a_map_that_is_no_file(tmp_path):
    with pytest.raises(UsageError, match="0 files"):
        layout("deepseek-v4.1", vocab_map=tmp_path / "none.npy")
    (tmp_path / "text.npy").write_text("1 2 3")
    with pytest.raises(DataError, match=r"no \.npy"):
        layout("deepseek-v4.1", vocab_map=tmp_path / "text.npy")


def test_uncertain_parts_are_said():
    for name in PUBLISHED:
        assert load_spec(name).source
    assert Vocabulary().size == 0 and load_spec("longcat-2.0").uncertain and load_spec("engram-27b").uncertain
