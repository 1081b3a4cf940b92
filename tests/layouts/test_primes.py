"""Primes near a total: distinct, prime, and adding up."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashsim.layouts.primes import is_prime, primes_near


def test_primes_are_those_of_a_sieve():
    sieve = [True] * 20_000
    sieve[:2] = [False, False]
    for number in range(2, 142):
        sieve[number * number :: number] = [False] * len(sieve[number * number :: number])
    assert [is_prime(number) for number in range(20_000)] == sieve
    assert is_prime(2**31 - 1) and not is_prime(46_337 * 46_337) and not is_prime(-7)


@settings(max_examples=60)
@given(st.integers(1, 40), st.integers(60, 200_000_000))
def test_distinct_primes_whose_sum_is_near(tables, share):
    """No gap between primes below 2^31 is over 292, and primes lie 21 apart on average: those taken are in the way."""
    total = tables * share + 17 % tables
    sizes = primes_near(total, tables)
    if sizes is None:  # small shares and many tables: the primes run out below
        assert share < 10 * tables
        return
    assert len(set(sizes)) == tables and all(map(is_prime, sizes))
    assert abs(sum(sizes) - total) <= min(total / 10, 292 + 30 * tables)
    assert max(sizes) - min(sizes) <= 300 * (tables + 1)


def test_those_of_the_report():
    """200 M parameters, K = 8, S = 4, width 64, two orders."""
    assert primes_near(200_000_000 // (8 * 4 * 64), 2) == [48_823, 48_821]
    assert primes_near(97_656, 1) == [97_651] and is_prime(97_651)


@pytest.mark.parametrize(("total", "tables", "sizes"), [
    (2, 1, [2]), (5, 2, [2, 3]), (10, 3, [3, 2, 5]), (13, 1, [13]), (8, 1, None), (9, 1, None), (20, 1, [19]),
])  # fmt: skip
def test_small_totals(total, tables, sizes):
    assert primes_near(total, tables) == sizes


@pytest.mark.parametrize(("total", "tables"), [(0, 1), (1, 1), (3, 2), (10, 16), (300, 16)])
def test_totals_that_no_primes_come_near(total, tables):
    assert primes_near(total, tables) is None
