"""What the address kernels need to know of a layout, as numbers: ``MixPlan`` for the hash family "mix64", ``TablePlan``
for published tables, and ``PlacePlan`` for where their rows lie.

The formulas are in ``csim/csim.h``. A plan is data only; :mod:`flashsim.layouts` makes it.
"""

import math
from dataclasses import dataclass

import numpy as np

WHOLE, HEADS, BUCKET = 0, 1, 2  # FS_WHOLE, FS_HEADS, FS_BUCKET of csim.h
XOR, SUM = 0, 1  # FS_XOR, FS_SUM
FILLER, RESERVED = 0, 1  # FS_FILLER, FS_RESERVED
PLACE_COLUMNS, PLACE_REGIONS = 512, 4  # FS_PLACE_COLUMNS, FS_PLACE_REGIONS

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


def _typed(name: str, array: np.ndarray, dtype: type, shape: tuple[int, ...]) -> None:
    if array.dtype != dtype or array.shape != shape:
        raise TypeError(f"{name}: {np.dtype(dtype)} of shape {shape} expected, got {array.dtype} of {array.shape}")


@dataclass(frozen=True)
class TablePlan:
    """Parameters of ``fs_table_rows`` (csim.h): tables side by side, of each of which every token reads one row.

    op: XOR or SUM, which combines the products of a table's tokens and coefficients.
    word: 64 or 32, the bits of the signed integer that is reduced.
    missing: what a slot before the document's start does: FILLER or RESERVED.
    filler: token id that stands for such a slot (FILLER).
    coefficients: uint64, shape (depth, tables), [k] for the token k before; 0 at and beyond a table's order.
    modulus, base: uint64, shape (tables,): 1 to 2^31 - 1, and base + modulus at most 2^32.
    order, reserved: uint32, shape (tables,): 1 to depth, and the row read where a slot is missing (RESERVED).

    Raises TypeError or ValueError where the arrays do not fit that.
    """

    op: int
    word: int
    missing: int
    filler: int
    coefficients: np.ndarray
    modulus: np.ndarray
    base: np.ndarray
    order: np.ndarray
    reserved: np.ndarray

    def __post_init__(self) -> None:
        if self.coefficients.ndim != 2 or not (1 <= len(self.coefficients) <= 16 and self.tables):
            raise ValueError(f"coefficients: (1 to 16, tables) expected, got shape {self.coefficients.shape}")
        _typed("coefficients", self.coefficients, np.uint64, self.coefficients.shape)
        for name, dtype in (("modulus", np.uint64), ("base", np.uint64), ("order", np.uint32), ("reserved", np.uint32)):
            _typed(name, getattr(self, name), dtype, (self.tables,))
        if self.op not in (XOR, SUM) or self.word not in (32, 64) or self.missing not in (FILLER, RESERVED):
            raise ValueError(f"op {self.op}, word {self.word}, missing {self.missing}: one of them is unknown")
        if not 0 <= self.filler < 2**32:
            raise ValueError(f"filler {self.filler}: a token id below {2**32} expected")
        if self.modulus.min() < 1 or self.modulus.max() >= 2**31:
            raise ValueError(f"moduli {self.modulus.min()} to {self.modulus.max()}: 1 to {2**31 - 1} expected")
        if self.base.max() >= 2**32 or (self.base + self.modulus).max() > 2**32:
            raise ValueError(f"row ids up to {int((self.base + self.modulus).max()) - 1}: below {2**32} expected")
        if self.order.min() < 1 or self.order.max() > len(self.coefficients):
            raise ValueError(f"orders {self.order.min()} to {self.order.max()}: 1 to {len(self.coefficients)} expected")
        if self.coefficients[np.arange(len(self.coefficients))[:, None] >= self.order].any():
            raise ValueError("a coefficient at or beyond its table's order is not 0")

    @property
    def tables(self) -> int:
        """Rows that a token reads."""
        return self.coefficients.shape[1]

    @property
    def context(self) -> int:
        """How many tokens before a token its tables reach back."""
        return len(self.coefficients) - 1


@dataclass(frozen=True)
class PlacePlan:
    """Parameters of ``fs_place`` (csim.h): from row ids to the pages that hold the rows' bytes.

    base: int64, shape (regions, columns): byte at which row id 0 would lie, for the table of each column of a token's
        rows; may be negative (a table's own base less its first row id times the stride).
    stride, bytes: uint64, shape (regions,): bytes from row to row, and bytes read of a row; below 2^30.
    shard_rows, shard_gap: rows a shard (0 = no shards), and the bytes, below 2^30, that every whole shard before a row
        adds.
    page_bytes: a multiple of 512, at most 2^20.
    rows_per_page, row_pages: 0 and 1 = packed. Else page-aligned, which takes one region and no shards: rows_per_page
        rows lie in row_pages pages, all of which are read.

    Raises TypeError or ValueError where these do not fit together.
    """

    base: np.ndarray
    stride: np.ndarray
    bytes: np.ndarray
    shard_rows: int
    shard_gap: int
    page_bytes: int
    rows_per_page: int
    row_pages: int

    def __post_init__(self) -> None:
        if self.base.ndim != 2 or not (1 <= self.regions <= PLACE_REGIONS and 1 <= self.columns <= PLACE_COLUMNS):
            limits = f"(1 to {PLACE_REGIONS}, 1 to {PLACE_COLUMNS})"
            raise ValueError(f"base: {limits} expected, got shape {self.base.shape}")
        _typed("base", self.base, np.int64, self.base.shape)
        for name in ("stride", "bytes"):
            _typed(name, getattr(self, name), np.uint64, (self.regions,))
        if self.page_bytes % 512 or not 512 <= self.page_bytes <= 2**20:
            raise ValueError(f"page_bytes {self.page_bytes}: a multiple of 512 up to {2**20} expected")
        if self.bytes.min() < 1 or max(self.bytes.max(), self.stride.max()) >= 2**30:
            raise ValueError(f"rows of {self.bytes} bytes every {self.stride}: 1 to {2**30 - 1} expected")
        if self.base.min() <= -(2**62) or self.base.max() >= 2**62:
            raise ValueError(f"bases {self.base.min()} to {self.base.max()}: within {2**62} of 0 expected")
        if not (0 <= self.shard_rows < 2**63 and 0 <= self.shard_gap < 2**30):
            raise ValueError(f"shards of {self.shard_rows} rows, gap {self.shard_gap}: 0 to {2**30 - 1} expected")
        if not (0 <= self.rows_per_page < 2**32 and 1 <= self.row_pages < 2**16):
            raise ValueError(f"{self.rows_per_page} rows in {self.row_pages} pages: below {2**32} in 1 to {2**16 - 1}")
        if self.rows_per_page and (self.regions > 1 or self.shard_rows):
            raise ValueError(f"page-aligned rows take 1 region and no shards: {self.regions}, {self.shard_rows} rows")
        if self.pages_per_row_most * self.columns > 2**16 - 1:
            raise ValueError(f"{self.columns} rows of {self.pages_per_row_most} pages: at most {2**16 - 1} a token")

    @property
    def regions(self) -> int:
        return self.base.shape[0]

    @property
    def columns(self) -> int:
        """Rows that a token reads at most."""
        return self.base.shape[1]

    @property
    def pages_per_row_most(self) -> int:
        """Pages that a row emits at most, over all regions."""
        if self.rows_per_page:
            return self.row_pages
        most = 0
        for base, stride, size in zip(self.base.tolist(), self.stride.tolist(), self.bytes.tolist(), strict=True):
            unit = math.gcd(self.page_bytes, stride, self.shard_gap if self.shard_rows else 0, *base)
            most += (self.page_bytes - unit + size - 1) // self.page_bytes + 1  # every start is a multiple of unit
        return most

    def check(
        self,
        rows: np.ndarray,
        tokens: int,
        out: np.ndarray,
        counts: np.ndarray | None,
        row_counts: np.ndarray | None,
    ) -> None:
        """Raise TypeError or ValueError where the arrays of a call do not fit each other."""
        for name, array in (("rows", rows), ("out", out)):
            _typed(name, array, np.uint32, (len(array),))
        for name, array in (("counts", counts), ("row_counts", row_counts)):
            if array is not None:
                _typed(name, array, np.uint16, (tokens,))
        expected = tokens * self.columns if row_counts is None else int(row_counts.sum(dtype=np.int64))
        if tokens < 0 or len(rows) != expected:
            raise ValueError(f"{len(rows)} rows, {tokens} tokens have {expected}")
        if row_counts is not None and tokens and row_counts.max() > self.columns:
            raise ValueError(f"a token of {row_counts.max()} rows, {self.columns} columns")
        if len(out) < expected * self.pages_per_row_most:
            raise ValueError(f"out has room for {len(out)} pages, {expected * self.pages_per_row_most} may come")
