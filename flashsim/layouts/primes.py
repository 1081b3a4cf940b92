"""Distinct primes whose sum is near a given total: the sizes of hashed tables."""


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


def primes_near(total: int, count: int) -> list[int] | None:
    """``count`` distinct primes that add up to about ``total``, or None where there are not that many.

    Each is the unused prime nearest to an equal share of what is left (the smaller one on a tie), so an error is made
    good by the next. For 390,625,000 / (8 * 4 * 64) over two orders this gives the 48,823 and 48,821 of the report.
    """
    taken: list[int] = []
    for index in range(count):
        numerator, denominator = total - sum(taken), count - index
        prime = _nearest(numerator, denominator, taken)
        if prime is None:
            return None
        taken.append(prime)
    return taken


def _nearest(numerator: int, denominator: int, taken: list[int]) -> int | None:
    """The prime outside ``taken`` nearest to numerator / denominator."""

    def first(candidates) -> int | None:
        return next((number for number in candidates if number not in taken and is_prime(number)), None)

    floor = numerator // denominator
    below = first(range(floor, 1, -1))
    above = first(range(max(floor, 1) + 1, 2 * max(floor, 1) + 64 + len(taken) * 64))
    if below is None or above is None:
        return below or above
    return below if numerator - below * denominator <= above * denominator - numerator else above
