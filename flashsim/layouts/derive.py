"""Numbers that published tables derive by a rule: primes above a base, and Engram's multipliers."""

from itertools import count

import numpy as np

from flashsim.layouts.primes import is_prime


def primes_above(base: int, groups: int, each: int) -> list[int]:
    """``each`` primes for each of ``groups``: every group starts anew at ``base`` and takes the primes at or above it
    that no group before has. Engram's head sizes (deepseek-ai/Engram, demo code): a group is an order of a layer."""
    taken: dict[int, None] = {}  # in the order of choice
    for _ in range(groups):
        free = (number for number in count(base) if number not in taken and is_prime(number))
        taken |= dict.fromkeys([next(free) for _ in range(each)])
    return list(taken)


def engram_multipliers(seed: int, layer: int, vocabulary: int, largest_order: int) -> list[int]:
    """The odd multipliers of ``layer``, one for each token of an n-gram, for ``vocabulary`` compressed ids
    (deepseek-ai/Engram, demo code): small enough that no product passes 2^63."""
    below = max(1, (2**63 - 1) // vocabulary // 2)
    drawn = np.random.default_rng(seed + 10007 * layer).integers(0, below, largest_order, np.int64)
    return [2 * int(number) + 1 for number in drawn]
