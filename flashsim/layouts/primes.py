"""Distinct primes whose sum is near a given total: the sizes of hashed tables."""

from collections.abc import Container, Iterable
from functools import cache
from itertools import count


@cache
def is_prime(number: int) -> bool:
    """Trial division; sizes here are below 2^31, so at most 23,170 odd divisors are tried."""
    if number < 4:
        return number > 1
    if number % 2 == 0:
        return False
    divisor = 3
    while divisor * divisor <= number:
        if number % divisor == 0:
            return False
        divisor += 2
    return True


def primes_near(total: int, tables: int) -> list[int] | None:
    """``tables`` distinct primes that add up to about ``total``, or None where they would be over a tenth off it.

    Each is the unused prime nearest to an equal share of what is left (the smaller one on a tie), so an error is made
    good by the next. For 200,000,000 / (8 * 4 * 64) over two orders this gives the 48,823 and 48,821 of the report.
    """
    taken: dict[int, None] = {}  # in the order of choice
    left = total
    for without in range(tables, 0, -1):
        prime = _nearest(left, without, taken)
        taken[prime] = None
        left -= prime
    return None if abs(left) * 10 > total else list(taken)


def _nearest(numerator: int, denominator: int, taken: Container[int]) -> int:
    """The prime outside ``taken`` nearest to numerator / denominator."""

    def first(candidates: Iterable[int]) -> int | None:
        return next((number for number in candidates if number not in taken and is_prime(number)), None)

    floor = max(numerator // denominator, 1)
    below, above = first(range(floor, 1, -1)), first(count(floor + 1))
    if below is None:
        return above
    return below if numerator - below * denominator <= above * denominator - numerator else above
