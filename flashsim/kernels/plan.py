"""``MixPlan``: what the address kernels of hash family "mix64" need to know of a layout, as numbers.

The formulas are in ``csim/csim.h``. A plan is data only; :mod:`flashsim.layouts` makes it.
"""

from dataclasses import dataclass

import numpy as np

WHOLE, HEADS, BUCKET = 0, 1, 2  # FS_WHOLE, FS_HEADS, FS_BUCKET of csim.h

# One step of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), from which seeds and multipliers are drawn.
_GOLDEN, _MIX_A, _MIX_B, _MASK = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 2**64 - 1


def draw(seed: int, *labels: int) -> int:
    """A 64-bit number for ``labels`` under ``seed``: SplitMix64 steps over them in turn."""
    state = seed & _MASK
    for label in (0, *labels):
        state = (state + (label + 1) * _GOLDEN) & _MASK
        state = ((state ^ (state >> 30)) * _MIX_A) & _MASK
        state = ((state ^ (state >> 27)) * _MIX_B) & _MASK
        state ^= state >> 31
    return state


@dataclass(frozen=True)
class Division:
    """x // divisor as (x * multiplier + addend) >> shift, exact for every x below 2^32."""

    multiplier: int
    addend: int
    shift: int


def division(divisor: int) -> Division:
    """The :class:`Division` of ``divisor``, 1 to 2^32 - 1.

    With s = 32 + floor(log2 divisor), either the reciprocal rounded up or, where that overshoots, the one rounded
    down with its own value added is exact (A. Robison, "N-bit unsigned division via n-bit multiply-add", ARITH 2005).
    """
    log = divisor.bit_length() - 1
    if divisor == 1 << log:
        return Division(1, 0, log)
    shift = 32 + log
    up = -(-(1 << shift) // divisor)
    if up * divisor - (1 << shift) <= 1 << log:
        return Division(up, 0, shift)
    return Division(up - 1, up - 1, shift)


@dataclass(frozen=True)
class MixPlan:
    """Parameters of ``fs_mix_address`` (csim.h), arrays as uint64 unless said otherwise.

    kind: WHOLE, HEADS or BUCKET.
    orders: uint32, shape (orders,), increasing, each 1 to 16.
    seeds: shape (largest order + 1,).
    modulus, base: shape (orders,).
    scale: factor of the bucket number (BUCKET).
    heads: ids an order (1 with WHOLE).
    head_multiplier, head_modulus, head_base: shape (orders, stride), stride a multiple of 8 and >= heads.
    divide: what rows are divided by.
    """

    kind: int
    orders: np.ndarray
    seeds: np.ndarray
    modulus: np.ndarray
    base: np.ndarray
    scale: int
    heads: int
    head_multiplier: np.ndarray
    head_modulus: np.ndarray
    head_base: np.ndarray
    divide: Division

    @property
    def ids_per_order(self) -> int:
        return 1 if self.kind == WHOLE else self.heads

    @property
    def ids_per_token(self) -> int:
        """Ids that a token with every order in reach emits."""
        return len(self.orders) * self.ids_per_order

    @property
    def context(self) -> int:
        """How many tokens before a token its n-grams reach back."""
        return int(self.orders[-1]) - 1
