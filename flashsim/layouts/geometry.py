"""``Layout``: a spec with its numbers worked out - rows, bytes, pages - and the addressing that follows.

What all layouts share. ``mixed.py`` has those of hash family "mix64" (the report's three and their kin), ``tables.py``
the published families.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np

from flashsim.errors import UsageError
from flashsim.layouts.addressing import Hashing, Placing
from flashsim.layouts.placement import IDS_MAX, Placed
from flashsim.layouts.spec import LayoutSpec
from flashsim.units import parse_bytes

MODULUS_MAX = 2**31 - 1  # of the kernels' remainders
PAGE_MAX = 1 << 30  # bytes
UNITS = ("page", "row")


@dataclass(frozen=True)
class Layout(ABC):
    """A layout with every size worked out. Made by :func:`flashsim.layouts.layout`.

    label: names it in files, like pagegram-S4-20B. params_asked: parameters that the tables were made for. row_bytes:
    all parts of a row. sizes: rows of each table, order-major ("whole": one an order, "heads": one a head), or buckets
    an order ("bucket").
    """

    spec: LayoutSpec
    label: str
    params_asked: int
    page_bytes: int
    row_bytes: int
    sizes: tuple[int, ...]

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def orders(self) -> tuple[int, ...]:
        return self.spec.ngrams.orders

    @property
    def across_documents(self) -> bool:
        """Whether n-grams reach past their document's start."""
        return self.spec.ngrams.boundary == "sequence"

    @property
    def heads(self) -> int:
        """K: rows that one n-gram reads in one layer."""
        return self.spec.rows.heads

    @property
    def slots(self) -> int | None:
        """S: rows of each head in a bucket; None where there are no buckets."""
        return self.spec.rows.slots if self.spec.rows.addressing == "bucket" else None

    @property
    def params(self) -> int:
        """Parameters of all tables."""
        return self.rows * self.spec.rows.width

    @property
    def padding(self) -> float:
        """Share of the table's bytes that hold no row that is read."""
        return 1 - self.rows * self.drive_row_bytes / self.table_bytes

    @property
    def drive_row_bytes(self) -> int:
        """Bytes of a row that are on the drive."""
        if self.placed is None:
            return self.row_bytes
        return sum(region.row_bytes for region in self.placed.read)

    def ids(self, unit: str = "page") -> int:
        """Every id of a trace in ``unit`` is below this."""
        return self.pages if unit == "page" else self.rows

    def unit_bytes(self, unit: str = "page") -> int:
        """Bytes of one ``unit`` on the drive."""
        return self.page_bytes if unit == "page" else self.drive_row_bytes

    @property
    def rows_per_token(self) -> int:
        """Rows that a token reads where every order is in reach."""
        return self.addressing("row").ids_per_token

    @property
    def pages_per_row(self) -> float:
        """Pages that a row touches on average."""
        return 1.0 if self.placed is None else self.placed.pages_per_row

    @property
    def straddle_share(self) -> float:
        """Share of rows that touch more pages than their bytes fill."""
        return 0.0 if self.placed is None else self.placed.straddle_share

    @property
    def placed(self) -> Placed | None:
        """Where rows lie, if not as the kernels of "mix64" have it: page-aligned from byte 0 on."""
        return None

    @property
    def data_sha256(self) -> str | None:
        """Of the file that it was made with, a vocabulary map or a set of n-grams; None where there is none."""
        return None

    @property
    def layers(self) -> int:
        """Sets of tables of their own, of each of which a token reads."""
        return 1

    @property
    def layer_rows(self) -> list[int]:
        """Rows of each layer that has tables of its own."""
        return [self.rows]

    @property
    def rows_per_read(self) -> int:
        """Heads of one n-gram whose rows come with the same page, whatever their slots: one read serves them all."""
        return 1

    def pages_of(self, rows: np.ndarray) -> np.ndarray | None:
        """int64, shape (rows,): pages that each of ``rows`` (row ids) touches; None where that is one for every row."""
        return None if self.placed is None else self.placed.pages_of(rows)

    @property
    @abstractmethod
    def rows(self) -> int:
        """Rows of all tables."""

    @property
    def pages(self) -> int:
        """Every page id is below this."""
        return self.placed.pages

    @property
    def table_bytes(self) -> int:
        """Bytes on the drive, padding included."""
        return self.placed.table_bytes

    @property
    def reads_per_token(self) -> float:
        """Pages read a token with no cache, where every order is in reach; a mean where rows straddle pages."""
        return self.rows_per_token * self.placed.pages_per_row

    def addressing(self, unit: str = "page", backend: str = "c") -> Hashing:
        """A fresh hashing whose ids are pages (one an n-gram and page touched) or rows (one an n-gram and head). Raises
        UsageError where the ids do not fit 32 bits."""
        if unit not in UNITS:
            raise UsageError(f"{unit!r} is none of the {len(UNITS)} units: {', '.join(UNITS)}")
        check_ids(self.label, self.rows, "row", unit)
        rows = self._row_hashing(backend)
        return rows if unit == "row" else Placing(rows, self.placed.plan(self.firsts), backend)

    @abstractmethod
    def _row_hashing(self, backend: str) -> Hashing:
        """A fresh hashing whose ids are rows."""

    @cached_property
    def firsts(self) -> list[int]:
        """The first row of each table, where there are no buckets."""
        return [0, *accumulate(self.sizes)][:-1]

    @abstractmethod
    def table_starts(self, by: str, unit: str = "page") -> list[int]:
        """The first id of each order's part of the table, or of each head's: increasing, the first 0. A page that two
        parts share belongs to the one that ends in it. Raises UsageError, which says only why, where they have none."""


def check_ids(label: str, most: int, counted: str, unit: str) -> None:
    """Raise UsageError where ``most`` ids do not fit 32 bits."""
    if most > IDS_MAX:
        way_out = "take --unit page or a smaller --params" if unit == "row" else "take a smaller --params"
        raise UsageError(f"{label}: {most} {counted}s do not fit 32 bits ({IDS_MAX}): {way_out}")


def page_of(spec: LayoutSpec) -> int:
    """Bytes of a page. Raises UsageError where there is no such page."""
    size = parse_bytes(spec.placement.page)
    if size % 512 or not 512 <= size <= PAGE_MAX:
        raise UsageError(f"{spec.name}: a page of {size} B: take a multiple of 512 B, at most 1 GiB")
    return size


def check_spec(spec: LayoutSpec) -> None:
    """Raise UsageError where the numbers of a spec make no sense, whatever its family."""
    rows, orders, name = spec.rows, spec.ngrams.orders, spec.name
    if not orders or list(orders) != sorted(set(orders)) or orders[0] < 1 or orders[-1] > 16:
        raise UsageError(f"{name}: orders {list(orders)}: give distinct ones from 1 to 16, increasing, like 2,3")
    limits = (("heads", rows.heads, 1024), ("width", rows.width, 1 << 20), ("slots", rows.slots, 1 << 20))
    for what, value, most in limits:
        if value is not None and not 1 <= value <= most:
            raise UsageError(f"{name}: {what} = {value}: give 1 to {most}")
    if not 0 <= spec.hash.seed < 1 << 64:
        raise UsageError(f"{name}: seed {spec.hash.seed}: give 0 to {(1 << 64) - 1}")
    if (rows.addressing == "bucket") != (rows.slots is not None):
        raise UsageError(
            f"{name}: slots (S) = {rows.slots} with addressing {rows.addressing!r}: "
            "S (1 or more) is for layouts with buckets, and they need it"
        )
    if rows.addressing == "whole" and rows.heads != 1:
        raise UsageError(f"{name}: {rows.heads} heads, but it reads one row an order: leave --heads out")
    given = [rows.params is not None, bool(rows.sizes), bool(rows.primes_from)]
    if sum(given) != (spec.hash.family != "longest-match"):
        raise UsageError(f"{name}: {sum(given)} of params, sizes and primes_from are given: give 1 of them")
