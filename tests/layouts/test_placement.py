"""Placement: the pages of every row by counting bytes, the published straddle shares, and what cannot be."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from flashsim.errors import UsageError
from flashsim.kernels import backend as kernels_of
from flashsim.layouts import layout
from flashsim.layouts.placement import place
from flashsim.layouts.spec import Placement


@pytest.mark.parametrize(("row_format", "width", "base", "straddle", "pages"), [
    ("bf16", 64, 0, 0.0, 1.0), ("q2_k", 256, 0, 0.020, 1.020), ("iq4_nl", 160, 0, 0.021, 1.021),
    ("mlx-4bit-g32", 160, 0, 0.023, 1.023), ("iq4_xs", 256, 0, 0.031, 1.031), ("q4_k", 256, 0, 0.031, 1.031),
    ("fp8", 160, 0, 0.031, 1.031), ("q8_0", 160, 0, 0.041, 1.041), ("fp8", 256, 0, 0.0, 1.0),
    ("fp8", 256, 96, 0.0625, 1.0625), ("fp8-e8m0", 256, 0, 0.0625, 1.0625), ("q8_0", 256, 0, 0.0625, 1.0625),
    ("bf16", 160, 0, 0.0625, 1.0625), ("bf16", 256, 0, 0.0, 1.0), ("bf16", 256, 32, 0.125, 1.125),
    ("bf16", 768, 0, 0.25, 1.25), ("bf16", 768, 32, 0.375, 1.375),
])  # fmt: skip
def test_published_straddle_shares(row_format, width, base, straddle, pages):
    placed = place("any", Placement("packed", base=base), 4096, row_format, width, 10**6, [0])
    assert placed.straddle_share == pytest.approx(straddle, abs=0.001)
    assert placed.pages_per_row == pytest.approx(pages, abs=0.001)


@st.composite
def placements(draw):
    """(placement, page bytes, format, width, rows, first row of each layer) that place() takes."""
    rule = draw(st.sampled_from(["packed", "planar", "page-aligned"]))
    page = draw(st.sampled_from([512, 1024, 4096, 5120]))
    row_format = draw(st.sampled_from(["bf16", "fp8-e8m0", "mlx-4bit-g32", "nf4", "q8_0"]))
    rows = draw(st.integers(2, 60))
    firsts = [0, *sorted(draw(st.sets(st.integers(1, rows - 1), max_size=2)))]
    many = len(firsts) > 1 and rule != "page-aligned" and draw(st.booleans())
    bases = [draw(st.integers(0, 20_000)) for _ in firsts] if many else [draw(st.integers(0, 20_000))]
    if rule == "page-aligned":
        bases = [base // page * page for base in bases]
    parts = {"fp8-e8m0": 2, "mlx-4bit-g32": 3, "nf4": 2}.get(row_format, 1)
    resident = ("scales",) if rule == "planar" and parts > 1 and draw(st.booleans()) else ()
    shards = draw(st.integers(1, min(5, rows))) if rule == "packed" and not many else 1
    base = tuple(bases) if many else bases[0]
    width = 32 * draw(st.integers(1, 40))
    return Placement(rule, base=base, shards=shards, resident=resident), page, row_format, width, rows, firsts


@settings(max_examples=100)
@given(placements())
def test_pages_hold_the_bytes_of_the_rows(case):
    placement, page, row_format, width, rows, firsts = case
    placed = place("any", placement, page, row_format, width, rows, firsts)
    taken, expected = set(), []
    for row in range(rows):
        pages = []
        for region in placed.read:
            group = max(at for at, first in enumerate(placed.firsts) if first <= row)
            size, within = region.row_bytes, row - placed.firsts[group]
            if placement.rule == "page-aligned":
                per_page = max(1, page // size)
                start = region.starts[0] + within // per_page * -(-size // page) * page + within % per_page * size
                whole = range(start // page, start // page + -(-size // page))
            else:
                shard_rows = -(-rows // placement.shards)
                shard_bytes = -(-shard_rows * size // page) * page
                inside = divmod(row, shard_rows) if placement.shards > 1 else (0, within)
                start = region.starts[group] + inside[0] * shard_bytes + inside[1] * size
                whole = reference.pages_of_bytes(start, size, page)
            if len(placed.firsts) == 1:  # layers with bases of their own may overlap if the caller says so
                assert not taken & set(range(start, start + size)), "two rows share a byte"
                taken |= set(range(start, start + size))
            pages += whole
        expected.append(pages)
    flat = [number for pages in expected for number in pages]
    assert max(flat) < placed.pages or len(placed.firsts) > 1
    counts = placed.pages_of(np.arange(rows, dtype=np.uint32))
    assert [1] * rows == [len(pages) for pages in expected] if counts is None else counts.tolist() == list(
        map(len, expected)
    )  # fmt: skip
    columns = list(placed.firsts)
    plan = placed.plan(columns)
    ends = [*columns[1:], rows]
    tokens = np.array(
        [[min(first + at, end - 1) for first, end in zip(columns, ends, strict=True)] for at in range(rows)]
    )
    wanted = [number for row in tokens.ravel().tolist() for number in expected[row]]
    for backend in ("c", "numba"):
        out = np.empty(tokens.size * plan.pages_per_row_most, np.uint32)
        pages_a_token = np.empty(rows, np.uint16)
        written = kernels_of(backend).place(plan, tokens.astype(np.uint32).ravel(), rows, out, pages_a_token)
        assert out[:written].tolist() == wanted and int(pages_a_token.sum()) == written


def test_scales_in_ram_halve_the_reads_of_v4_1():
    whole, resident = (layout("deepseek-v4.1", raw_ids=True, resident=parts) for parts in (None, ("scales",)))
    assert (whole.reads_per_token, resident.reads_per_token) == (96, 48)
    assert resident.placed.resident_bytes == 768_022_850 * 8 and resident.label == "deepseek-v4.1-ram-scales-raw-ids"
    assert resident.drive_row_bytes == 256 and whole.row_bytes == resident.row_bytes == 264
    packed = layout("deepseek-v4.1", raw_ids=True, placement="packed")
    assert packed.reads_per_token == pytest.approx(48 * 1.0625)


def test_a_base_moves_the_pages():
    plain, moved = (layout("qwen3.8-flash-next", base=base) for base in (0, 4096 * 10))
    assert moved.pages == plain.pages + 10 and moved.table_bytes == plain.table_bytes
    assert moved.label == "qwen3.8-flash-next-base40960"


def test_parts_of_a_split_table_begin_where_the_one_before_ends():
    made = layout("qwen3.8-flash-next")
    starts = made.table_starts("order")
    assert starts == [0, -(-sum(made.sizes[:8]) * 160 // 4096)]
    assert len(made.table_starts("head")) == 16 and made.table_starts("head", "row") == made.firsts
    with pytest.raises(UsageError, match="2 layers"):
        layout("engram-demo", raw_ids=True).table_starts("order")
    with pytest.raises(UsageError, match="2 regions"):
        layout("deepseek-v4.1", raw_ids=True).table_starts("head")


def test_what_the_kernel_cannot_place_is_refused():
    with pytest.raises(UsageError, match="pages of 2097152 B"):
        layout("qwen3.8-flash-next", page="2MiB").addressing()
    assert layout("qwen3.8-flash-next", page="1MiB").addressing().ids_per_token == 32


def test_the_reports_layouts_can_be_packed_too():
    aligned, packed = layout("engram", params="100M"), layout("engram", params="100M", placement="packed")
    assert packed.pages == -(-packed.rows * 34 // 4096) < aligned.pages
    assert packed.reads_per_token == pytest.approx(16 * packed.pages_per_row) and packed.straddle_share > 0
    assert packed.label == "engram-100M-packed"


@pytest.mark.parametrize(("placement", "firsts", "message"), [
    (Placement("packed", base=()), [0], "base"),
    (Placement("packed", base=2**62), [0], "0 to 2.62"),
    (Placement("packed", shards=0), [0], "0 shards"),
    (Placement("packed", shards=101), [0], "101 shards of 100 rows"),
    (Placement("planar", shards=2), [0], "2 shards"),
    (Placement("page-aligned", base=(0, 4096)), [0, 50], "2 bases with rows a page that cross layers"),
    (Placement("packed", base=2**61), [0], "do not fit 32 bits"),
])  # fmt: skip
def test_what_cannot_be_is_refused(placement, firsts, message):
    with pytest.raises(UsageError, match=message) as caught:
        place("any", placement, 4096, "bf16", 64, 100, firsts)
    assert any(letter.isdigit() for letter in str(caught.value))
