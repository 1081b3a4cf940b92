"""Pages of rows: by hand, plain Python, numba and C agree, closed forms, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from flashsim.kernels import BACKENDS, backend
from flashsim.kernels.plan import PlacePlan


def plan_of(base, stride, size=None, **others):
    """Packed rows of 4 KiB pages; base: one list a region."""
    others = {"shard_rows": 0, "shard_gap": 0, "page_bytes": 4096, "rows_per_page": 0, "row_pages": 1} | others
    return PlacePlan(
        np.array(base, np.int64),
        np.array(stride, np.uint64),
        np.array(stride if size is None else size, np.uint64),
        **others,
    )


def pages_of(plan, tokens, name="c", varies=False):
    """One list of page ids a token, from one list of rows each."""
    rows = np.array([row for token in tokens for row in token], np.uint32)
    out = np.full(len(rows) * plan.pages_per_row_most, 0xDEADBEEF, np.uint32)
    counts = np.zeros(len(tokens), np.uint16)
    row_counts = np.array([len(token) for token in tokens], np.uint16) if varies else None
    written = backend(name).place(plan, rows, len(tokens), out, counts, row_counts)
    assert backend(name).place(plan, rows, len(tokens), out, row_counts=row_counts) == written == counts.sum()
    return [part.tolist() for part in np.split(out[:written], np.cumsum(counts)[:-1])]


@pytest.mark.parametrize("name", BACKENDS)
def test_by_hand(name):
    packed = plan_of([[0]], [264])
    assert pages_of(packed, [[0], [14], [15], [16]], name) == [[0], [0], [0, 1], [1]]  # row 15: bytes 3960 .. 4223
    assert packed.pages_per_row_most == 2
    planar = plan_of([[0], [1 << 20]], [256, 8])
    assert pages_of(planar, [[0], [16], [512]], name) == [[0, 256], [1, 256], [32, 257]]
    assert planar.pages_per_row_most == 2
    shards = plan_of([[0]], [1024], shard_rows=3, shard_gap=4096)
    assert pages_of(shards, [[2], [3], [5], [6]], name) == [[0], [1], [2], [3]]  # 2048, 3072 + 4096, 9216, 14336
    two_tables = plan_of([[0, 40_960 - 100 * 512]], [512])  # the second one's first row has the id 100
    assert pages_of(two_tables, [[0, 100], [99, 107], [8, 108]], name) == [[0, 10], [12, 10], [1, 11]]
    records = plan_of([[8192]], [17_920], rows_per_page=1, row_pages=5)
    assert pages_of(records, [[0], [2]], name) == [[2, 3, 4, 5, 6], [12, 13, 14, 15, 16]]
    aligned = plan_of([[0]], [264], rows_per_page=15)
    assert pages_of(aligned, [[14], [15], [30]], name) == [[0], [1], [2]]
    later_table = plan_of([[100 - 3 * 4096]], [264], rows_per_page=15)  # base in page -3
    assert pages_of(later_table, [[45], [60]], name) == [[0], [1]]
    several = plan_of([[0, 0, 0]], [264])
    assert pages_of(several, [[0], [], [15, 16, 31], []], name, varies=True) == [[0], [], [0, 1, 1, 1, 2], []]


@pytest.mark.parametrize(
    "row_bytes, base, pages",
    [
        (8, 0, 1.0), (84, 0, 1 + 80 / 4096), (90, 0, 1 + 88 / 4096), (160, 0, 1 + 128 / 4096), (170, 0, 1 + 168 / 4096),
        (256, 0, 1.0), (256, 8, 1.0625), (264, 0, 1.0625), (320, 0, 1.0625), (512, 0, 1.0), (512, 32, 1.125),
        (1536, 0, 1.25), (1536, 8, 1.375), (4096, 8, 2.0), (17920, 0, 5.25),
    ],
)  # fmt: skip
def test_mean_pages_of_packed_rows(row_bytes, base, pages):
    """Over one period, (row_bytes - gcd(row_bytes, 4096)) / 4096 of the rows straddle when the base is aligned."""
    plan = plan_of([[base]], [row_bytes])
    period = pages_of(plan, np.arange(4096)[:, None].tolist())
    assert sum(map(len, period)) / 4096 == pages
    assert max(map(len, period)) == plan.pages_per_row_most


@st.composite
def plans(draw):
    regions, columns = draw(st.integers(1, 4)), draw(st.sampled_from([1, 2, 3, 16, 17, 200]))
    unit = draw(st.sampled_from([1, 32, 256]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    most = draw(st.sampled_from([8, 40, 600 if columns < 20 else 60]))
    stride = rng.integers(1, most, regions) * unit
    others = {"page_bytes": draw(st.sampled_from([512, 1536, 4096, 12_288, 16_384]))}
    if regions == 1 and draw(st.booleans()):
        others |= {"rows_per_page": draw(st.integers(1, 99)), "row_pages": draw(st.integers(1, 4))}
    elif draw(st.booleans()):
        others |= {"shard_rows": draw(st.sampled_from([1, 7, 1024, 2_500_012, 2**32 + 7])), "shard_gap": 3 * unit}
    base = rng.integers(-4, 100_000, (regions, columns)) * unit
    return plan_of(base, stride, rng.integers(1, 1 + stride), **others)


@settings(max_examples=80)
@given(plans(), st.integers(0, 20), st.booleans(), st.integers(0, 2**32))
def test_python_numba_and_c_agree(plan, count, varies, seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, plan.columns + 1, count) if varies else [plan.columns] * count
    tokens = [rng.integers(5 * 256, 3_000_000, rows).tolist() for rows in counts]
    wanted = list(reference.pages_of_rows(plan, tokens))
    for name in BACKENDS:
        assert pages_of(plan, tokens, name, varies) == wanted or not tokens, name


@pytest.mark.parametrize("page_bytes", [512, 4096, 12_288, 2**20 - 512, 2**20])
@pytest.mark.parametrize("name", BACKENDS)
def test_the_last_page_id_and_the_one_after(name, page_bytes):
    last = page_bytes * (2**32 - 1)
    inside = plan_of([[last - 512]], [512], page_bytes=page_bytes)
    for tokens in ([[0]] * 9 + [[1]], [[1]] * 16):  # what is left of a vector, and whole ones
        assert pages_of(inside, tokens, name)[-1] == [2**32 - 1]
    for base, size, good, bad in (
        (last - 512, page_bytes + 1, 0, 1),
        (last, 512, 0, page_bytes // 512),
        (-1024, 1024, 2, 1),
    ):
        outside = plan_of([[base]], [512], [size], page_bytes=page_bytes)
        assert pages_of(outside, [[good]] * 9, name)
        for tokens in ([[good]] * 9 + [[bad]], [[bad]] * 16):
            with pytest.raises(ValueError, match="a page id does not lie in 0 to 4294967295"):
                pages_of(outside, tokens, name)


@pytest.mark.parametrize("page_bytes", [4096, 1536])
@pytest.mark.parametrize(
    "stride, base", [(2**30 - 1, 2**62 - 1), (2**30 - 1, 1 - 2**62), (1, 2**62 - 1), (1, 2**52), (1, -(2**32))]
)
@pytest.mark.parametrize("name", BACKENDS)
def test_sums_do_not_wrap_into_page_ids(name, stride, base, page_bytes):
    plan = plan_of([[base]], [stride], [1], shard_rows=1, shard_gap=2**30 - 1, page_bytes=page_bytes)
    for row in (0, 1) if base < 0 else (0, 2**31, 2**32 - 1):
        with pytest.raises(ValueError, match="a page id"):
            pages_of(plan, [[row]] * 16, name)


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize("rows", [1, 512, 700])
def test_nothing_is_written_behind_the_room(name, rows):
    """Every row has two pages in the first region and one in the second, so that the room is used up."""
    plan = plan_of([[8], [0]], [4096, 4096], [4096, 8])
    out = np.full(3 * rows + 8, 7, np.uint32)
    assert backend(name).place(plan, np.zeros(rows, np.uint32), rows, out[: 3 * rows]) == 3 * rows
    assert out[: 3 * rows].tolist() == [0, 1, 0] * rows and (out[3 * rows :] == 7).all()


@pytest.mark.parametrize("name", BACKENDS)
def test_arrays_that_do_not_fit_are_refused(name):
    plan, place = plan_of([[0, 0]], [264]), backend(name).place
    rows, out = np.zeros(6, np.uint32), np.zeros(12, np.uint32)
    with pytest.raises(ValueError, match="6 rows, 2 tokens have 4"):
        place(plan, rows, 2, out)
    with pytest.raises(ValueError, match="room for 11 pages, 12 may come"):
        place(plan, rows, 3, out[:11])
    with pytest.raises(ValueError, match="a token of 3 rows, 2 columns"):
        place(plan, rows, 2, out, row_counts=np.array([3, 3], np.uint16))
    with pytest.raises(TypeError, match="counts: uint16 of shape \\(3,\\)"):
        place(plan, rows, 3, out, np.zeros(2, np.uint16))
    with pytest.raises(TypeError, match="rows: uint32"):
        place(plan, rows.astype(np.int64), 3, out)


def test_plans_that_fit_nothing_are_refused():
    plan = plan_of([[0], [0]], [264, 8])
    for error, match, changes in (
        (ValueError, "page_bytes 1000", {"page_bytes": 1000}),
        (ValueError, "page_bytes 0", {"page_bytes": 0}),
        (ValueError, "page_bytes 2097152", {"page_bytes": 2**21}),
        (ValueError, "rows of \\[0 8\\] bytes", {"bytes": np.array([0, 8], np.uint64)}),
        (ValueError, "every \\[1073741824", {"stride": np.array([2**30, 8], np.uint64)}),
        (ValueError, "within", {"base": np.array([[0], [2**62]])}),
        (ValueError, "gap 1073741824", {"shard_rows": 1, "shard_gap": 2**30}),
        (ValueError, "-1 rows in 1 pages", {"rows_per_page": -1}),
        (ValueError, "1 rows in 0 pages", {"rows_per_page": 1, "row_pages": 0}),
        (ValueError, "1 region and no shards: 2", {"rows_per_page": 1}),
        (ValueError, "base: ", {"base": np.zeros((2, 513), np.int64)}),
        (TypeError, "stride: uint64 of shape \\(2,\\)", {"stride": plan.stride[:1]}),
        (TypeError, "base: int64", {"base": plan.base.astype(np.int32)}),
    ):
        with pytest.raises(error, match=match):
            replace(plan, **changes)
    with pytest.raises(ValueError, match="512 rows of 129 pages: at most 65535 a token"):
        plan_of([[0] * 512], [128 * 4096 + 4])
