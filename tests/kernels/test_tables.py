"""Rows of published tables: golden rows, plain Python, numba and C agree, laws, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from flashsim.kernels import BACKENDS, backend
from flashsim.kernels.plan import FILLER, RESERVED, SUM, XOR, TablePlan

NOWHERE = np.zeros(0, np.int64)


def rows_of(plan, ids, starts=(), first=0, name="c"):
    """Shape (tokens, tables), as lists."""
    out = np.full((len(ids) - first) * plan.tables, 0xDEADBEEF, np.uint32)
    written = backend(name).table_rows(plan, np.array(ids, np.uint32), first, np.array(starts, np.int64), out)
    assert written == len(out)
    return out.reshape(-1, plan.tables).tolist()


def plan_of(coefficients, modulus, base=None, **others):
    """A plan of tables whose coefficients are given one list a table, newest token first."""
    depth, tables = max(map(len, coefficients)), len(coefficients)
    table = np.zeros((depth, tables), np.uint64)
    for at, column in enumerate(coefficients):
        table[: len(column), at] = column
    others = {"op": XOR, "word": 64, "missing": FILLER, "filler": 0} | others
    return TablePlan(
        coefficients=table,
        modulus=np.array(modulus, np.uint64),
        base=np.array(base or np.concatenate(([0], np.cumsum(modulus)[:-1])), np.uint64),
        order=np.array([len(column) for column in coefficients], np.uint32),
        reserved=np.array(others.pop("reserved", np.zeros(tables)), np.uint32),
        **others,
    )


def primes_from(first, count):
    found = []
    while len(found) < count:
        if all(first % d for d in range(2, int(first**0.5) + 1)):
            found.append(first)
        first += 1
    return found


V41_LAYER_1 = 76632096046245, 4839876093313, 35959672319349, 73987337458391
V41_LAYER_14 = 67716810739261, 51510806800915, 30921347202721, 82619226485591
QWEN = 23703573157769, 20109073645365, 8052911324071
QWEN_PRIMES = [
    20_000_000 + above for above in (3, 23, 33, 47, 59, 63, 69, 77, 81, 93, 107, 147, 153, 159, 161, 171)
]  # fmt: skip


def deepseek_v41(multipliers, primes):
    return plan_of([multipliers[:order] for order in (2, 3, 4) for _ in range(8)], primes, filler=2)


def qwen_flash_next():
    return plan_of([QWEN[:order] for order in (2, 3) for _ in range(8)], QWEN_PRIMES, filler=248044)


def longcat_flash_lite():
    vocabulary = 131_072
    sizes = [78 * vocabulary + 2 * table + 1 for table in range(12)]
    powers = [
        [pow(vocabulary, k, size) for k in range(order)]
        for order, size in zip(np.repeat((2, 3, 4), 4), sizes, strict=True)
    ]
    return plan_of(powers, sizes, base=[0] * 12, op=SUM, filler=0)


def modded_nanogpt():
    half = 42_301_440
    return plan_of(
        [(36313, 27191), (17351, 60961, 45259)], [half - 1] * 2, base=[0, half], word=32, missing=RESERVED,
        reserved=[half - 1, 2 * half - 1],
    )  # fmt: skip


@pytest.mark.parametrize("name", BACKENDS)
def test_golden_rows_of_deepseek_v41(name):
    primes = primes_from(16_000_000, 48)
    first, second = primes[:24], primes[24:]
    assert (first[0], first[-1], sum(first)) == (16_000_057, 16_000_463, 384_006_168)
    assert (second[0], second[-1], sum(second)) == (16_000_477, 16_000_889, 384_016_682)
    ids = [5, 17, 99091, 0]
    rows = rows_of(deepseek_v41(V41_LAYER_1, first), ids, name=name)
    assert [rows[0][head] for head in (0, 8, 16)] == [5412672, 143494632, 256353435]
    assert [rows[3][head] for head in (0, 8, 23)] == [11738160, 135599064, 378717148]
    rows = rows_of(deepseek_v41(V41_LAYER_14, second), ids, name=name)
    assert [rows[3][head] for head in (0, 8, 23)] == [13474695, 132806965, 371800352]


@pytest.mark.parametrize("name", BACKENDS)
def test_golden_rows_of_qwen_flash_next(name):
    """Two signed mixes are negative here; the first id ends a segment."""
    rows = rows_of(qwen_flash_next(), [248044, 1000, 99999, 42], [1], name=name)
    assert [[token[head] for head in (0, 7, 8, 15)] for token in rows] == [
        [9663979, 151022725, 170054832, 300986548],
        [1876085, 142751402, 178377549, 304819575],
        [4504090, 141591318, 172823072, 317510549],
        [5787553, 144507991, 169574801, 316674223],
    ]


@pytest.mark.parametrize("name", BACKENDS)
def test_golden_rows_of_longcat_flash_lite(name):
    """Token 2 ends a segment, so position 3 begins one."""
    rows = rows_of(longcat_flash_lite(), [7, 100, 2, 55, 131071, 9], [3], name=name)
    assert rows[1] == [917604] * 12 and rows[3] == [55] * 12
    assert rows[5] == [
        4061561, 4058201, 4054841, 4051481, 8983491, 8795287, 8607083, 8418879, 8230675, 8042471, 7854267, 7666063,
    ]  # fmt: skip


@pytest.mark.parametrize("name", BACKENDS)
def test_golden_rows_of_modded_nanogpt(name):
    """To bigrams, the first token of a sequence is the reserved id."""
    plan, ids = modded_nanogpt(), [11, 22, 33]
    assert [bigram for bigram, _ in rows_of(plan, [42301439, *ids[1:]], name=name)] == [42301439, 12438875, 1796163]
    assert [trigram for _, trigram in rows_of(plan, ids, name=name)] == [84602879, 84602879, 44092104]


@st.composite
def plans(draw):
    tables, depth = draw(st.integers(1, 27)), draw(st.sampled_from([1, 2, 3, 4, 5, 16]))
    alike = draw(st.sampled_from([1, 4, 8]))  # tables with the same coefficients side by side
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    extremes = draw(st.sampled_from([[1, 2, 3, 7], [2**31 - 1, 2**31 - 2, 2**30], [20_000_003, 84_602_880, 9, 640]]))
    modulus = rng.choice(extremes, tables).astype(np.uint64)
    order = np.repeat(rng.integers(1, depth + 1, tables), alike)[:tables].astype(np.uint32)
    multipliers = np.repeat(rng.integers(0, 2**64, (depth, tables), np.uint64), alike, axis=1)[:, :tables]
    multipliers >>= np.uint64(draw(st.sampled_from([0, 1, 17, 33])))
    return TablePlan(
        op=draw(st.sampled_from([XOR, SUM])),
        word=draw(st.sampled_from([32, 64])),
        missing=draw(st.sampled_from([FILLER, RESERVED])),
        filler=draw(st.sampled_from([0, 2, 248044, 2**32 - 1])),
        coefficients=np.where(np.arange(depth)[:, None] < order, multipliers, np.uint64(0)),
        modulus=modulus,
        base=np.uint64(2**32) - modulus - rng.integers(0, 2**31, tables, np.uint64),
        order=order,
        reserved=rng.integers(0, 2**32, tables, np.uint32),
    )


token_lists = st.one_of(
    st.lists(st.integers(0, 2**32 - 1), max_size=40),
    st.integers(0, 2**32 - 1).map(lambda seed: np.random.default_rng(seed).integers(0, 2**32, 300).tolist()),
)


@settings(max_examples=80)
@given(plans(), token_lists, st.data())
def test_python_numba_and_c_agree(plan, ids, data):
    starts = sorted(data.draw(st.sets(st.integers(0, len(ids) + 3), max_size=8)))
    first = data.draw(st.integers(0, len(ids)))
    wanted = list(reference.table_rows(plan, ids, first, starts))
    for name in BACKENDS:
        assert rows_of(plan, ids, starts, first, name) == wanted, name


@pytest.mark.parametrize("tables", [1, 2, 3, 8, 12, 48])
def test_pieces_do_not_depend_on_where_they_are_cut(tables):
    plan = plan_of([V41_LAYER_1[: 2 + table % 3] for table in range(tables)], [16_000_057 + t for t in range(tables)])
    ids = np.random.default_rng(tables).integers(0, 99_092, 3000, dtype=np.uint32)
    starts = np.arange(0, 3000, 37)
    whole = rows_of(plan, ids, starts)
    for size in (1, 300, 1000):
        parts = []
        for begin in range(0, 3000, size):
            from_ = max(0, begin - plan.context)
            inside = starts[starts > from_] - from_
            parts += rows_of(plan, ids[from_ : begin + size], inside, begin - from_)[: 3000 - begin]
        assert parts == whole


def test_a_token_reads_what_stands_before_it_in_its_document_and_nothing_else():
    plan, document = qwen_flash_next(), [7, 8, 9, 10]
    alone = rows_of(plan, document)
    assert rows_of(plan, [1, 2, 3, *document], [3])[3:] == alone
    assert rows_of(plan, [1, 2, 3, *document])[3:5] != alone[:2]
    assert rows_of(plan, [1, 2, 3, *document])[5:] == alone[2:]  # order 3 reaches no further


@pytest.mark.parametrize("name", BACKENDS)
def test_nothing_is_written_behind_the_rows(name):
    plan, out = modded_nanogpt(), np.full(40, 7, np.uint32)
    assert backend(name).table_rows(plan, np.arange(5, dtype=np.uint32), 0, NOWHERE, out) == 10
    assert (out[10:] == 7).all()


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize("first, room", [(0, 47), (-1, 100), (4, 100)])
def test_too_little_room_is_refused(name, first, room):
    with pytest.raises(ValueError, match=f"room for {room} rows of tokens {first} to 3, 16 each"):
        backend(name).table_rows(qwen_flash_next(), np.zeros(3, np.uint32), first, NOWHERE, np.zeros(room, np.uint32))


def test_plans_that_fit_nothing_are_refused():
    plan = qwen_flash_next()
    for error, match, changes in (
        (ValueError, "op 2", {"op": 2}),
        (ValueError, "word 16", {"word": 16}),
        (ValueError, "missing 2", {"missing": 2}),
        (ValueError, "filler -1", {"filler": -1}),
        (ValueError, "moduli 0", {"modulus": plan.modulus * np.uint64(0)}),
        (ValueError, "to 2147483648", {"modulus": plan.modulus * np.uint64(0) + np.uint64(2**31)}),
        (ValueError, "row ids up to", {"base": plan.base + np.uint64(2**32 - 310_000_000)}),
        (ValueError, "orders 0", {"order": plan.order * 0}),
        (ValueError, "orders 4", {"order": plan.order * 0 + 4}),
        (ValueError, "beyond its table's order", {"order": plan.order * 0 + 2}),
        (ValueError, "coefficients", {"coefficients": np.zeros((17, 16), np.uint64)}),
        (TypeError, "modulus: uint64", {"modulus": plan.modulus.astype(np.int64)}),
        (TypeError, "reserved: uint32 of shape \\(16,\\)", {"reserved": plan.reserved[:-1]}),
    ):
        with pytest.raises(error, match=match):
            replace(plan, **changes)
