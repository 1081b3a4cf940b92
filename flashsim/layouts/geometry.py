"""``Layout``: a spec with its numbers worked out - rows, primes, bytes, pages - and the kernel plans that follow.

Formulas: PageGram report, sections 2 and 3.1. *bucket* is the K * S rows that one n-gram's heads choose from, *page*
the unit of a read; the report calls both "page".
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flashsim.errors import UsageError
from flashsim.kernels.plan import BUCKET, HEADS, WHOLE, MixPlan, division, draw
from flashsim.layouts.formats import row_bytes
from flashsim.layouts.primes import primes_near
from flashsim.layouts.spec import LayoutSpec
from flashsim.units import format_count, parse_bytes, parse_count

MODULUS_MAX = 2**31 - 1  # of the kernels' remainders
IDS_MAX = 2**32  # row and page ids are uint32, and so is what the kernels divide to get them
UNITS = ("page", "row")


@dataclass(frozen=True)
class Layout:
    """A layout with every size worked out. Made by :func:`flashsim.layouts.layout`.

    sizes: rows of each table in order-major order ("whole": one an order, "heads": one a head), or buckets an order
        ("bucket").
    """

    spec: LayoutSpec
    label: str  # names it in files: pagegram-S4-20B
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
    def heads(self) -> int:
        """K: rows that one n-gram reads."""
        return self.spec.rows.heads

    @property
    def slots(self) -> int | None:
        """S: rows of each head in a bucket; None where there are no buckets."""
        return self.spec.rows.slots if self.spec.rows.addressing == "bucket" else None

    @property
    def rows_per_bucket(self) -> int:
        return self.heads * self.slots if self.slots else 1

    @property
    def rows(self) -> int:
        """Rows of all tables."""
        return sum(self.sizes) * self.rows_per_bucket

    @property
    def params(self) -> int:
        """Parameters of all tables."""
        return self.rows * self.spec.rows.width

    @property
    def rows_per_page(self) -> int:
        return self.page_bytes // self.row_bytes

    @property
    def bucket_bytes(self) -> int:
        return self.rows_per_bucket * self.row_bytes

    @property
    def buckets_per_page(self) -> int:
        """0 where a bucket spans pages."""
        return self.page_bytes // self.bucket_bytes

    @cached_property
    def pages_per_bucket(self) -> int:
        """Pages of a bucket that does not fit one: heads side by side while a page holds all slots of one or more of
        them, else whole pages for each head."""
        if self.buckets_per_page:
            return 1
        heads_per_page = self.page_bytes // (self.slots * self.row_bytes)
        if heads_per_page:
            return -(-self.heads // heads_per_page)
        return self.heads * self._pages_per_head

    @property
    def _pages_per_head(self) -> int:
        return -(-self.slots // self.rows_per_page)

    @property
    def pages(self) -> int:
        """Pages of the table on the drive."""
        if self.slots is None:
            return -(-self.rows // self.rows_per_page)
        if self.buckets_per_page:
            return -(-sum(self.sizes) // self.buckets_per_page)
        return sum(self.sizes) * self.pages_per_bucket

    @property
    def table_bytes(self) -> int:
        """Bytes on the drive, padding included."""
        return self.pages * self.page_bytes

    @property
    def padding(self) -> float:
        """Share of the table's bytes that hold no row."""
        return 1 - self.rows * self.row_bytes / self.table_bytes

    def ids(self, unit: str = "page") -> int:
        """Every id of a trace in ``unit`` is below this."""
        return self.pages if unit == "page" else self.rows

    def unit_bytes(self, unit: str = "page") -> int:
        """Bytes of one ``unit``."""
        return self.page_bytes if unit == "page" else self.row_bytes

    @property
    def rows_per_read(self) -> int:
        """Heads of one n-gram whose rows come with the same page, whatever their slots: one read serves them all."""
        if self.slots is None or self.slots > self.rows_per_page:
            return 1
        return self.heads if self.buckets_per_page else self.page_bytes // (self.slots * self.row_bytes)

    def table_starts(self, by: str, unit: str = "page") -> list[int]:
        """The first id of each order's part of the table, or of each head's: increasing, the first 0. A page that two
        parts share belongs to the one that ends in it. Raises UsageError where heads have no part of their own."""
        if by == "head" and self.spec.rows.addressing != "heads":
            raise UsageError(f"{self.name}: {self.heads} heads share one table an order: split it by order")
        parts = len(self.sizes) if by == "head" else len(self.orders)
        firsts = np.concatenate(([0], np.cumsum(np.array(self.sizes).reshape(parts, -1).sum(axis=1))[:-1]))
        if unit == "row":
            return (firsts * self.rows_per_bucket).tolist()
        if self.slots is None:
            return (-(-firsts // self.rows_per_page)).tolist()
        if self.buckets_per_page:
            return (-(-firsts // self.buckets_per_page)).tolist()
        return (firsts * self.pages_per_bucket).tolist()

    def plan(self, unit: str = "page") -> MixPlan:
        """The kernel plan whose ids are pages (one an n-gram and page touched) or rows (one an n-gram and head)."""
        if unit not in UNITS:
            raise UsageError(f"{unit!r} is none of the {len(UNITS)} units: {', '.join(UNITS)}")
        counted, most = unit, self.ids(unit)
        if self.slots is None:  # rows // rows_per_page
            counted, most = "row", self.rows
        elif unit == "page" and self.buckets_per_page:
            counted, most = "bucket", sum(self.sizes)
        if most > IDS_MAX:
            way_out = "take --unit page or a smaller --params" if unit == "row" else "take a smaller --params"
            raise UsageError(f"{self.label}: {most} {counted}s do not fit 32 bits ({IDS_MAX}): {way_out}")
        divisor = self.rows_per_page if unit == "page" else 1
        orders, heads, slots = len(self.orders), self.heads, self.slots
        if self.slots is None:
            tables = np.array(self.sizes, np.uint64).reshape(orders, -1)
            bases = np.concatenate(([0], np.cumsum(tables)[:-1])).astype(np.uint64).reshape(tables.shape)
            kind = WHOLE if self.spec.rows.addressing == "whole" else HEADS
            return self._plan(kind, tables[:, 0], bases[:, 0], tables, bases, 1, divisor)
        buckets = np.array(self.sizes, np.uint64)
        bases = np.concatenate(([0], np.cumsum(buckets)[:-1])).astype(np.uint64)
        if unit == "row":
            choice, lead, scale = np.full(heads, slots), np.arange(heads) * slots, self.rows_per_bucket
        elif self.buckets_per_page:
            none = np.zeros((orders, 1))
            return self._plan(WHOLE, buckets, bases, none + 1, none, 1, self.buckets_per_page)
        elif slots <= self.rows_per_page:  # every page of the bucket is read, whatever the slots
            pages, divisor = self.pages_per_bucket, 1
            choice, lead, scale = np.ones(pages), np.arange(pages), pages
        else:
            rows_apart = self._pages_per_head * self.rows_per_page
            choice, lead, scale = np.full(heads, slots), np.arange(heads) * rows_apart, self.pages_per_bucket
        choice, lead = np.tile(choice, (orders, 1)), np.tile(lead, (orders, 1))
        return self._plan(BUCKET, buckets, bases, choice, lead, scale, divisor)

    def _plan(self, kind, modulus, base, head_modulus, head_base, scale, divisor) -> MixPlan:
        """Complete the tables: seeds, multipliers, and spare heads up to a multiple of 8."""
        seed, orders, heads = self.spec.hash.seed, self.orders, head_modulus.shape[1]
        spare = -heads % 8
        multiplier = [[draw(seed, 2, n, k) | 1 for k in range(heads + spare)] for n in orders]

        def padded(table: np.ndarray, value: int) -> np.ndarray:
            return np.pad(table.astype(np.uint64), ((0, 0), (0, spare)), constant_values=value)

        return MixPlan(
            kind=kind,
            orders=np.array(orders, np.uint32),
            seeds=np.array([draw(seed, 1, n) for n in range(orders[-1] + 1)], np.uint64),
            modulus=np.ascontiguousarray(modulus, np.uint64),
            base=np.ascontiguousarray(base, np.uint64),
            scale=int(scale),
            heads=heads,
            head_multiplier=np.array(multiplier, np.uint64),
            head_modulus=padded(head_modulus, 1),
            head_base=padded(head_base, 0),
            divide=division(int(divisor)),
        )

    @property
    def reads_per_token(self) -> int:
        """Pages read a token with no cache, where every order is in reach."""
        return self.plan("page").ids_per_token


def work_out(spec: LayoutSpec, label: str) -> Layout:
    """The :class:`Layout` of ``spec``. Raises UsageError where the numbers do not work out."""
    rows, orders = spec.rows, spec.ngrams.orders
    _check(spec)
    params, page_bytes = parse_count(rows.params), parse_bytes(spec.placement.page)
    size = row_bytes(rows.format, rows.width)
    if size > page_bytes or page_bytes % 512 or page_bytes > 1 << 30:
        raise UsageError(
            f"{spec.name}: a row of {size} B in a page of {page_bytes} B: take a page that is a multiple of 512 B, "
            f"at most 1 GiB, and holds a row"
        )
    tables, unit = len(orders), "rows"
    if rows.addressing == "heads":
        tables *= rows.heads
    total = params // rows.width
    if rows.addressing == "bucket":
        total, unit = params // (rows.heads * rows.slots * rows.width), "buckets"
    share, sizes = total // tables, None
    if 2 <= share <= MODULUS_MAX:
        sizes = [share] * tables if rows.addressing == "whole" else primes_near(total, tables)
    if sizes is None or max(sizes) > MODULUS_MAX:
        each = "a number" if rows.addressing == "whole" else "a prime of its own"
        other = "a larger" if sizes is None and share <= MODULUS_MAX else "a smaller"
        raise UsageError(
            f"{spec.name}: {format_count(params)} parameters are {total} {unit} for {tables} tables, and each must get "
            f"{each} from 2 to {MODULUS_MAX}: take {other} --params"
        )
    return Layout(spec, label, params, page_bytes, size, tuple(sizes))


def _check(spec: LayoutSpec) -> None:
    rows, orders = spec.rows, spec.ngrams.orders
    if not orders or list(orders) != sorted(set(orders)) or orders[0] < 1 or orders[-1] > 16:
        raise UsageError(f"{spec.name}: orders {list(orders)}: give distinct ones from 1 to 16, increasing, like 2,3")
    limits = (("heads", rows.heads, 1024), ("width", rows.width, 1 << 20), ("slots", rows.slots, 1 << 20))
    for what, value, most in limits:
        if value is not None and not 1 <= value <= most:
            raise UsageError(f"{spec.name}: {what} = {value}: give 1 to {most}")
    if not 0 <= spec.hash.seed < 1 << 64:
        raise UsageError(f"{spec.name}: seed {spec.hash.seed}: give 0 to {(1 << 64) - 1}")
    if (rows.addressing == "bucket") != (rows.slots is not None):
        raise UsageError(
            f"{spec.name}: slots (S) = {rows.slots} with addressing {rows.addressing!r}: "
            "S (1 or more) is for layouts with buckets, and they need it"
        )
    if rows.addressing == "whole" and rows.heads != 1:
        raise UsageError(f"{spec.name}: {rows.heads} heads, but it reads one row an order: leave --heads out")
