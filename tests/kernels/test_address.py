"""Addresses: plain Python, numba and C agree; laws of the formulas; quality of the hash."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from flashsim.kernels import backend
from flashsim.kernels.plan import division
from flashsim.layouts import layout
from flashsim.tokens.stream import TokenStream
from flashsim.trace import pieces

LAYOUTS = {
    "flat": layout("flat", params=200_000),
    "flat-1-2-5": layout("flat", params=500_000, orders=(1, 2, 5)),
    "engram": layout("engram", params=200_000),
    "engram-K3": layout("engram", params=200_000, heads=3, orders=(1, 3)),
    "engram-K19": layout("engram", params=1_000_000, heads=19, width=8, orders=(2, 3, 4)),
    "pagegram-S4": layout("pagegram", params=200_000),
    "pagegram-S1": layout("pagegram", params=200_000, S=1),
    "pagegram-S60": layout("pagegram", params=2_000_000, S=60),
    "pagegram-S200": layout("pagegram", params=4_000_000, S=200),
    "pagegram-K5": layout("pagegram", params=200_000, S=7, heads=5, orders=(1, 2, 3, 4), page="512B"),
    "pagegram-3 pages": layout("pagegram", params=200_000, S=15, heads=5, page="1KiB"),
}


def trace_of(made, ids, starts, unit, name, first=0):
    """(ids, orders in reach) of one kernel call."""
    plan = made.plan(unit)
    out = np.full((len(ids) - first) * plan.ids_per_token, 0xDEADBEEF, np.uint32)
    orders = np.zeros(len(ids) - first, np.uint8)
    written = backend(name).mix_address(plan, np.array(ids, np.uint32), first, np.array(starts, np.int64), out, orders)
    return out[:written].tolist(), orders.tolist()


token_lists = st.one_of(
    st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=60),
    st.lists(st.integers(0, 3), min_size=1, max_size=700),
    st.integers(0, 2**32 - 1).map(lambda seed: np.random.default_rng(seed).integers(0, 65536, 2000).tolist()),
)


@settings(max_examples=40)
@given(st.sampled_from(sorted(LAYOUTS)), token_lists, st.data())
def test_python_numba_and_c_agree(name, ids, data):
    made = LAYOUTS[name]
    starts = sorted(data.draw(st.sets(st.integers(0, len(ids) + 3), max_size=12)))
    for unit, expect in (("row", reference.rows_of), ("page", reference.pages_of)):
        wanted = list(expect(made, ids, starts))
        flat = [value for values in wanted for value in values]
        for kernel in ("c", "numba"):
            got, orders = trace_of(made, ids, starts, unit, kernel)
            assert got == flat, (kernel, unit)
            assert [count * made.plan(unit).ids_per_order for count in orders] == [len(values) for values in wanted]
        assert max(flat, default=0) < made.ids(unit)


@pytest.mark.parametrize("name", sorted(LAYOUTS))
def test_pieces_do_not_depend_on_where_they_are_cut(name, stream):
    made, short = LAYOUTS[name], TokenStream(stream.ids[:5000], starts=stream.starts[stream.starts < 5000])
    whole = np.concatenate([piece.ids.copy() for piece in pieces(short, made)])
    plan = made.plan()
    for size in (1, 7, 1000):
        parts = []
        for ids, context, starts in short.chunks(plan.context, size=size):
            out = np.empty((len(ids) - context) * plan.ids_per_token, np.uint32)
            parts.append(out[: backend("c").mix_address(plan, ids, context, starts, out)])
        assert np.array_equal(np.concatenate(parts), whole)
    tail = np.concatenate([piece.ids.copy() for piece in pieces(short, made, begin=1234)])
    assert np.array_equal(tail, whole[len(whole) - len(tail) :])


def test_no_ngram_crosses_a_boundary():
    made = LAYOUTS["engram"]
    document = [7, 8, 9, 10, 11]
    alone, _ = trace_of(made, document, [], "page", "c")
    after_another, _ = trace_of(made, [1, 2, 3, *document], [3], "page", "c")
    assert after_another[-len(alone) :] == alone
    joined, _ = trace_of(made, [1, 2, 3, *document], [], "page", "c")
    assert joined[-len(alone) :] != alone and len(joined) > len(after_another)


def test_an_ngram_has_the_same_pages_wherever_it_stands():
    made = LAYOUTS["pagegram-S4"]
    ids = np.random.default_rng(3).integers(0, 5, 4000).tolist()
    pages, _ = trace_of(made, ids, [], "page", "c")
    seen = {}
    for position in range(2, len(ids)):
        trigram = tuple(ids[position - 2 : position + 1])
        pair = tuple(pages[2 * position - 3 : 2 * position - 1])  # token 0 reads nothing, token 1 one page
        assert seen.setdefault(trigram, pair) == pair
    assert len(seen) == 125


@pytest.mark.parametrize("slots", [1, 4, 8, 15, 60])
def test_all_rows_of_an_ngram_lie_in_one_bucket(slots):
    made = layout("pagegram", params=2_000_000, S=slots)
    ids = np.random.default_rng(4).integers(0, 65536, 3000).tolist()
    rows, _ = trace_of(made, ids, [], "row", "c")
    buckets = (np.array(rows).reshape(-1, made.heads) // made.rows_per_bucket).T
    assert (buckets == buckets[0]).all()
    heads = np.array(rows).reshape(-1, made.heads) % made.rows_per_bucket // slots
    assert (heads == np.arange(made.heads)).all()


@settings(max_examples=300)
@given(st.integers(1, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_division_is_exact(divisor, x):
    d = division(divisor)
    assert d.multiplier < 2**32
    for value in (x, x // divisor * divisor, max(0, x // divisor * divisor - 1), 2**32 - 1):
        assert (value * d.multiplier + d.addend) >> d.shift == value // divisor


@pytest.mark.parametrize("modulus", [1, 2, 3, 4, 5, 7, 2**16, 2**20 - 3, 19_531_261, 2**31 - 1])
def test_remainders_are_exact_at_every_modulus(modulus):
    """One head with this modulus: the vector path against Python's %."""
    from dataclasses import replace

    made = layout("engram", params=200_000, heads=1, orders=(2,))
    table = np.array([[modulus] + [1] * 7], np.uint64)
    plan = replace(made.plan("row"), head_modulus=table, modulus=table[:, 0].copy())
    ids = np.random.default_rng(modulus).integers(0, 2**32, 3000, dtype=np.uint32)
    out = np.empty(3000, np.uint32)
    for name in ("c", "numba"):
        written = backend(name).mix_address(plan, ids, 0, np.zeros(0, np.int64), out)
        for position in (1, 2, 3, 500, 2998, 2999):
            state = reference.states(plan, (int(ids[position]), int(ids[position - 1])))
            assert out[:written][position - 1] == reference.remainder(reference.head_state(plan, 0, 0, state), modulus)


def chi_square_ok(counts: np.ndarray) -> bool:
    """Whether ``counts`` could come from equally likely cells: chi-square within 5 standard deviations of its mean."""
    expected = counts.sum() / len(counts)
    statistic = ((counts - expected) ** 2 / expected).sum()
    freedom = len(counts) - 1
    return abs(statistic - freedom) < 5 * np.sqrt(2 * freedom)


def test_rows_slots_and_heads_are_spread_like_independent_draws():
    """Hash quality on structured input: consecutive integers as tokens."""
    made = layout("pagegram", params=4_000_000, S=4)
    first = np.repeat(np.arange(500, dtype=np.uint32), 2 * 500)
    ids = np.empty(2 * len(first), np.uint32)
    ids[0::2], ids[1::2] = first, np.tile(np.arange(1000, dtype=np.uint32), 500)
    starts = np.arange(0, len(ids), 2)  # documents of two tokens: each pair (a, b) is one bigram, all different
    rows, _ = trace_of(made, ids, starts, "row", "c")
    rows = np.array(rows).reshape(-1, made.heads)
    assert len(rows) == 500_000
    buckets = rows[:, 0] // made.rows_per_bucket
    counts = np.bincount(buckets, minlength=made.sizes[0])
    assert chi_square_ok(counts)
    assert abs(counts.var() / counts.mean() - 1) < 5 * np.sqrt(2 / len(counts))  # Poisson occupancy
    slots = rows % 4
    for head in range(made.heads):
        assert chi_square_ok(np.bincount(slots[:, head], minlength=4))
        for other in range(head):
            assert chi_square_ok(np.bincount(slots[:, head] * 4 + slots[:, other], minlength=16))


def test_engram_rows_are_poisson_and_heads_independent():
    made = layout("engram", params=40_000_000)
    ids = np.random.default_rng(6).integers(0, 65536, 400_000, dtype=np.uint32)
    rows, _ = trace_of(made, ids, [], "row", "c")
    rows = np.array(rows[8:], np.int64).reshape(-1, 16)
    bases = np.concatenate(([0], np.cumsum(made.sizes)[:-1]))
    distinct = np.unique(ids[1:-1].astype(np.uint64) << np.uint64(16) | ids[2:], return_index=True)[1]
    for head in range(8):  # each distinct bigram once
        counts = np.bincount(rows[distinct, head] - bases[head], minlength=made.sizes[head])
        assert abs(counts.var() / counts.mean() - 1) < 0.02
    a, b = (rows[distinct, 0] - bases[0]) % 64, (rows[distinct, 1] - bases[1]) % 64
    assert chi_square_ok(np.bincount(a * 64 + b, minlength=4096))
