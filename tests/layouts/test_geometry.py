"""Geometry: the report's sizes, equal budgets, bytes and pages of every layout; what cannot be is refused."""

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashsim.errors import UsageError
from flashsim.layouts import layout
from flashsim.layouts.formats import FORMATS, part_bytes, row_bytes
from flashsim.layouts.primes import is_prime
from flashsim.trace import layout_facts

SLOTS = (1, 4, 8, 15, 60)
MIXED = ("engram", "flat", "pagegram")


def test_sizes_of_the_report_at_200_million_parameters():
    flat, engram, pagegram = (layout(name, params="200M") for name in ("flat", "engram", "pagegram"))
    assert flat.rows == 520_832 and flat.sizes == (260_416, 260_416)
    assert len(set(engram.sizes)) == 16 and all(abs(size - 195_300) < 300 for size in engram.sizes)
    assert all(map(is_prime, engram.sizes))
    assert pagegram.sizes == (48_823, 48_821)


@pytest.mark.parametrize("params", ["200M", "3.2B", "10B", "20B"])
def test_budgets_agree_within_a_thousandth(params):
    made = [layout("flat", params=params), layout("engram", params=params)]
    made += [layout("pagegram", params=params, S=slots) for slots in SLOTS]
    totals = [each.params for each in made]
    assert max(totals) - min(totals) <= 0.001 * min(totals)
    assert all(abs(total / each.params_asked - 1) <= 0.001 for total, each in zip(totals, made, strict=True))
    for each in made[1:]:
        assert len(set(each.sizes)) == len(each.sizes) and all(map(is_prime, each.sizes))


@pytest.mark.parametrize(("slots", "buckets", "pages", "reads"), [
    (1, 15, 1, 2), (4, 3, 1, 2), (8, 1, 1, 2), (15, 1, 1, 2), (16, 0, 2, 4), (60, 0, 4, 8), (120, 0, 8, 16),
    (121, 0, 16, 16),
])  # fmt: skip
def test_buckets_a_page(slots, buckets, pages, reads):
    made = layout("pagegram", params="200M", S=slots)
    assert (made.buckets_per_page, made.pages_per_bucket, made.reads_per_token) == (buckets, pages, reads)
    assert made.bucket_bytes == 8 * slots * 34 and made.rows_per_bucket == 8 * slots
    assert made.pages == (-(-sum(made.sizes) // buckets) if buckets else sum(made.sizes) * pages)
    assert made.table_bytes == made.pages * 4096 >= made.rows * 34
    assert made.padding == pytest.approx(1 - made.rows * 34 / made.table_bytes)


def test_bytes_and_pages():
    flat, engram, pagegram = (layout(name, params="200M") for name in ("flat", "engram", "pagegram"))
    assert (flat.row_bytes, engram.row_bytes, pagegram.row_bytes) == (194, 34, 34)
    assert (flat.rows_per_page, engram.rows_per_page) == (21, 120)
    assert (flat.reads_per_token, engram.reads_per_token, pagegram.reads_per_token) == (2, 16, 2)
    assert pagegram.bucket_bytes == 1088 and pagegram.padding == pytest.approx(0.203, abs=0.001)
    assert flat.pages == -(-520_832 // 21) and engram.pages == -(-sum(engram.sizes) // 120)


@pytest.mark.parametrize(("name", "width", "size"), [
    ("nf4", 64, 34), ("nf4", 384, 194), ("int8", 64, 66), ("fp8", 256, 256), ("fp16", 64, 128), ("bf16", 160, 320),
    ("fp32", 3, 12),
])  # fmt: skip
def test_row_formats(name, width, size):
    assert row_bytes(name, width) == size
    made = layout("engram", params="1M", row_format=name, width=width)
    assert made.row_bytes == size and made.rows_per_page == 4096 // size


# Bytes of 256 numbers: GGUF's block sizes, the MX formats' one scale byte for 32 numbers, MLX's 4 B a group.
OF_256 = {
    "nf4": 130, "int8": 258, "fp8": 256, "fp8-e8m0": 264, "fp16": 512, "bf16": 512, "fp32": 1024, "mxfp4": 136,
    "q8_0": 272, "q4_0": 144, "iq4_nl": 144, "q4_k": 144, "iq4_xs": 136, "q2_k": 84, "mlx-4bit-g32": 160,
    "mlx-4bit-g64": 144, "mlx-8bit-g32": 288, "mlx-8bit-g64": 272,
}  # fmt: skip


def test_bytes_of_every_format():
    assert {name: row_bytes(name, 256) for name in FORMATS} == OF_256
    assert all(sum(part_bytes(name, 256).values()) == size for name, size in OF_256.items())


@pytest.mark.parametrize("name", MIXED)
@pytest.mark.parametrize("unit", ["page", "row"])
def test_ids_reach_to_the_end_of_the_table_and_no_further(name, unit):
    """The last id of the last table is ``ids(unit) - 1``: plans and sizes count the same rows and pages."""
    made = layout(name, params="1M")
    plan = made.plan(unit)
    divisor = 1 if unit == "row" else made.rows_per_page
    lead = int(plan.base[-1]) + int(plan.modulus[-1]) - 1
    if name == "engram":
        last = (int(plan.head_base[-1, 7]) + int(plan.head_modulus[-1, 7]) - 1) // divisor
    elif name == "flat" or unit == "page":
        last = lead // (made.buckets_per_page if name == "pagegram" else divisor)
    else:
        last = lead * plan.scale + int(plan.head_base[-1, 7]) + int(plan.head_modulus[-1, 7]) - 1
    assert last == made.ids(unit) - 1


def test_seeds_and_heads_differ():
    plans = [layout("engram", params="1M", seed=seed).plan() for seed in (0, 1, 2**64 - 1)]
    for plan in plans:
        assert len(set(plan.head_multiplier[:, :8].ravel().tolist())) == 16
        assert len(set(plan.seeds.tolist())) == 4 and (plan.head_multiplier % np.uint64(2) == 1).all()
    assert not set(plans[0].seeds.tolist()) & set(plans[1].seeds.tolist())
    assert not set(plans[0].seeds.tolist()) & set(plans[2].seeds.tolist())


@pytest.mark.parametrize(("name", "values", "message"), [
    ("flat", {"width": 3}, "multiple of 2"),
    ("flat", {"width": 0}, "width = 0"),
    ("flat", {"width": 1 << 21}, "give 1 to 1048576"),
    ("flat", {"width": 8192}, "row of 4098 B in a page of 4096 B"),
    ("flat", {"row_format": "nf5"}, "none of the 18 row formats"),
    ("flat", {"heads": 2}, "2 heads"),
    ("flat", {"S": 4}, "slots"),
    ("engram", {"S": 4}, "slots"),
    ("pagegram", {"S": 0}, "slots = 0"),
    ("pagegram", {"S": -1}, "slots = -1"),
    ("pagegram", {"heads": 0}, "heads = 0"),
    ("pagegram", {"heads": 1025}, "heads = 1025"),
    ("engram", {"page": "1000B"}, "multiple of 512"),
    ("engram", {"page": "0B"}, "multiple of 512"),
    ("engram", {"page": "2GiB"}, "at most 1 GiB"),
    ("engram", {"page": "4K"}, "not a size"),
    ("engram", {"orders": ()}, "give distinct ones from 1 to 16"),
    ("engram", {"orders": (3, 2)}, "increasing"),
    ("engram", {"orders": (2, 2)}, "distinct"),
    ("engram", {"orders": (0, 2)}, "from 1 to 16"),
    ("engram", {"orders": (2, 17)}, "from 1 to 16"),
    ("engram", {"params": 0}, "take a larger"),
    ("flat", {"params": "0"}, "take a larger"),
    ("pagegram", {"params": "0"}, "take a larger"),
    ("flat", {"params": 767}, "take a larger"),
    ("engram", {"params": "10k"}, "156 rows for 16 tables"),
    ("pagegram", {"params": "5k"}, "2 buckets for 2 tables"),
    ("flat", {"params": "9000000T"}, "take a smaller"),
    ("engram", {"params": "9000000T"}, "take a smaller"),
    ("pagegram", {"params": "9000000T"}, "take a smaller"),
    # primes near 2^31 - 1 lie on both sides of it
    ("engram", {"params": 4 * (2**31 - 1), "heads": 2, "orders": (2,), "width": 2}, "take a smaller"),
    ("engram", {"params": "20X"}, "not a count"),
    ("engram", {"params": -5}, "not a count"),
    ("engram", {"seed": -1}, "seed -1"),
    ("engram", {"seed": 2**64}, "give 0 to 18446744073709551615"),
])  # fmt: skip
def test_what_cannot_be_is_refused(name, values, message):
    with pytest.raises(UsageError, match=message) as caught:
        layout(name, **values)
    assert any(letter.isdigit() for letter in str(caught.value))


@pytest.mark.parametrize(("name", "values", "unit", "message"), [
    ("engram", {"params": "400B"}, "row", "6250000086 rows"),
    ("engram", {"params": "400B"}, "page", "6250000086 rows"),  # 52 M pages, but rows are divided to get them
    ("pagegram", {"params": "400B"}, "row", "rows do not fit 32 bits.*--unit page"),
    ("pagegram", {"params": "3T", "S": 1, "orders": (2, 3, 4)}, "page", "buckets do not fit"),
    ("pagegram", {"params": "60T", "S": 200}, "page", "pages do not fit"),
])  # fmt: skip
def test_ids_that_do_not_fit_are_refused(name, values, unit, message):
    with pytest.raises(UsageError, match=message):
        layout(name, **values).addressing(unit)
    assert layout("pagegram", params="400B").plan("page").ids_per_token == 2


def test_unknown_unit():
    with pytest.raises(UsageError, match="none of the 2 units"):
        layout("flat", params="1M").addressing("bucket")


MOST = {
    "S": st.integers(1, 300), "params": st.integers(10**9, 4 * 10**9), "heads": st.integers(1, 20),
    "width": st.integers(1, 100).map(lambda half: 2 * half),
    "orders": st.sets(st.integers(1, 16), min_size=1, max_size=4).map(lambda orders: tuple(sorted(orders))),
    "row_format": st.sampled_from(["bf16", "fp16", "fp32", "fp8", "int8", "nf4"]), "seed": st.integers(0, 20),
    "page": st.sampled_from(["4KiB", "4096B", "8KiB", "8192B", "1MiB", "1025KiB"]),
}  # fmt: skip
CHOICES = st.fixed_dictionaries({}, optional=MOST)


@settings(max_examples=80)
@given(CHOICES, CHOICES)
def test_different_layouts_never_share_a_label(some, other):
    first, second = identity_and_label(some), identity_and_label(other)
    assert (first[0] == second[0]) == (first[1] == second[1])


def identity_and_label(values):
    made = layout("pagegram", **({"params": 10**9} | values))
    rows = made.spec.rows
    return (
        made.params_asked, made.page_bytes, made.spec.hash, made.spec.ngrams, rows.heads, rows.slots, rows.width,
        rows.format,
    ), made.label  # fmt: skip


@settings(max_examples=60)
@given(CHOICES)
def test_any_choice_is_sound(values):
    made = layout("pagegram", **({"params": 10**9} | values))
    assert len(set(made.sizes)) == len(made.orders) and all(map(is_prime, made.sizes))
    assert abs(made.params / made.params_asked - 1) <= 0.1
    assert made.table_bytes >= made.rows * made.row_bytes and 0 <= made.padding < 1
    plan = made.plan()
    assert plan.orders.tolist() == list(made.orders) and plan.ids_per_token == made.reads_per_token
    assert not any(letter in made.label for letter in "/ \t")


@pytest.mark.parametrize(("values", "label"), [
    ({}, "pagegram-S4-20B"),
    ({"S": 4, "params": "20B", "heads": 8, "width": 64, "seed": 0, "page": "4096B"}, "pagegram-S4-20B"),
    ({"orders": (2, 3), "row_format": "nf4"}, "pagegram-S4-20B"),
    ({"S": 15, "params": 3_200_000_000}, "pagegram-S15-3.2B"),
    ({"orders": (1, 2)}, "pagegram-S4-20B-n1+2"),
    ({"orders": (12,)}, "pagegram-S4-20B-n12"),
    ({"heads": 4, "width": 128, "row_format": "fp8", "seed": 7, "page": "16KiB"},
     "pagegram-S4-20B-K4-w128-fp8-seed7-page16384"),
])  # fmt: skip
def test_labels(values, label):
    assert layout("pagegram", **values).label == label


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint16, np.uint8])
def test_numpys_integers_are_integers(kind):
    """The same layout, whose spec JSON can hold and whose seed the hash can take."""
    values = {"S": 4, "heads": 4, "width": 32, "seed": 3, "orders": (2, 3, 5)}
    made = layout("pagegram", **{name: kind(value) for name, value in values.items() if name != "orders"},
                  orders=np.array(values["orders"], kind), params=np.int64(10**9))  # fmt: skip
    wanted = layout("pagegram", **values, params="1B")
    assert made == wanted and made.label == "pagegram-S4-1B-K4-w32-n2+3+5-seed3"
    assert json.dumps(layout_facts(made)) == json.dumps(layout_facts(wanted))
    assert (made.plan().seeds == wanted.plan().seeds).all() and made.plan("row").ids_per_token == 12
    assert layout("pagegram", S=True).label == "pagegram-S1-20B"


@pytest.mark.parametrize(("values", "message"), [
    ({"S": 4.0}, r"S 4.0: give a whole number, like 4"), ({"S": "4"}, r"S '4': give a whole number"),
    ({"heads": 2.5}, r"heads 2.5: give"), ({"width": np.float64(64)}, r"width .*64.*: give a whole number"),
    ({"seed": "x"}, r"seed 'x': give a whole number"), ({"seed": np.array([1, 2])}, r"seed array.*: give"),
    ({"orders": 3}, r"orders 3: give whole numbers, like \(2, 3\)"), ({"orders": (2.0, 3)}, r"orders \(2.0, 3\): give"),
    ({"orders": "23"}, r"orders '23': give"), ({"page": 4096}, r"4096 is not a size in bytes: write it like"),
])  # fmt: skip
def test_what_is_no_integer_is_named(values, message):
    with pytest.raises(UsageError, match=message):
        layout("pagegram", **values)


def test_labels_differ_by_parameters_that_print_alike():
    labels = [layout("flat", params=12_345_678_900 + more).label for more in range(3)]
    assert all(first != second for first, second in pairwise(labels))
