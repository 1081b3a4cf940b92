"""Layouts of hash family "mix64": rows, buckets, primes, pages, and the kernel plans that follow.

Formulas: PageGram report, sections 2 and 3.1. *bucket* is the K * S rows that one n-gram's heads choose from, *page*
the unit of a read; the report calls both "page".
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flashsim.errors import UsageError
from flashsim.kernels.plan import BUCKET, HEADS, WHOLE, MixPlan, division, draw
from flashsim.layouts.addressing import Hashing, MixHashing
from flashsim.layouts.formats import row_bytes
from flashsim.layouts.geometry import MODULUS_MAX, Layout, check_ids, page_of
from flashsim.layouts.placement import Placed, place
from flashsim.layouts.primes import primes_near
from flashsim.layouts.spec import LayoutSpec, Placement
from flashsim.units import format_count, number_of, parse_count


@dataclass(frozen=True)
class MixLayout(Layout):
    """A layout whose rows the report's mixer picks."""

    @cached_property
    def placed(self) -> Placed | None:
        """None where rows, or buckets, are page-aligned from byte 0 on: then the hashing divides them itself."""
        placement = self.spec.placement
        if placement == Placement(page=placement.page):
            return None
        if self.slots is not None:
            raise UsageError(
                f"{self.name}: placement {placement.rule!r}, base {placement.base}, "
                f"{number_of(placement.shards, 'shard')}: buckets lie page-aligned from byte 0 on; leave these out"
            )
        rows = self.spec.rows
        return place(self.name, placement, self.page_bytes, rows.format, rows.width, self.rows, [0])

    @property
    def rows_per_bucket(self) -> int:
        return self.heads * self.slots if self.slots else 1

    @property
    def rows(self) -> int:
        return sum(self.sizes) * self.rows_per_bucket

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
        if self.placed:
            return self.placed.pages
        if self.slots is None:
            return -(-self.rows // self.rows_per_page)
        if self.buckets_per_page:
            return -(-sum(self.sizes) // self.buckets_per_page)
        return sum(self.sizes) * self.pages_per_bucket

    @property
    def table_bytes(self) -> int:
        return self.placed.table_bytes if self.placed else self.pages * self.page_bytes

    @property
    def rows_per_read(self) -> int:
        if self.slots is None or self.slots > self.rows_per_page:
            return 1
        return self.heads if self.buckets_per_page else self.page_bytes // (self.slots * self.row_bytes)

    def table_starts(self, by: str, unit: str = "page") -> list[int]:
        if by == "head" and self.spec.rows.addressing != "heads":
            share = "head has" if self.heads == 1 else "heads share"
            raise UsageError(f"{self.name}: {self.heads} {share} one table an order")
        parts = len(self.sizes) if by == "head" else len(self.orders)
        firsts = np.concatenate(([0], np.cumsum(np.array(self.sizes).reshape(parts, -1).sum(axis=1))[:-1]))
        if unit == "row":
            return (firsts * self.rows_per_bucket).tolist()
        if self.placed:
            return self.placed.first_pages(firsts.tolist())
        if self.slots is None:
            return (-(-firsts // self.rows_per_page)).tolist()
        if self.buckets_per_page:
            return (-(-firsts // self.buckets_per_page)).tolist()
        return (firsts * self.pages_per_bucket).tolist()

    def addressing(self, unit: str = "page", backend: str = "c") -> Hashing:
        if unit == "page" and self.placed is None:
            return MixHashing(self.plan("page"), backend)
        return super().addressing(unit, backend)

    def _row_hashing(self, backend: str) -> MixHashing:
        return MixHashing(self.plan("row"), backend)

    def plan(self, unit: str = "page") -> MixPlan:
        """The kernel plan whose ids are ``unit``s: pages only where they are the hashing's own (see ``placed``)."""
        counted, most = unit, self.ids(unit)
        if self.slots is None:  # rows // rows_per_page
            counted, most = "row", self.rows
        elif unit == "page" and self.buckets_per_page:
            counted, most = "bucket", sum(self.sizes)
        check_ids(self.label, most, counted, unit)
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
    def reads_per_token(self) -> float:
        return super().reads_per_token if self.placed else self.plan("page").ids_per_token


def work_out(spec: LayoutSpec, label: str) -> MixLayout:
    """The :class:`MixLayout` of ``spec``. Raises UsageError where the numbers do not work out."""
    rows, orders = spec.rows, spec.ngrams.orders
    if spec.ngrams.missing != "skip" or spec.fixed or spec.vocabulary.mapped or spec.hash.layers:
        raise UsageError(
            f"{spec.name}: family mix64 skips orders out of reach, and takes its rows from params: 1 set of tables, "
            "the tokenizer's own ids"
        )
    params, page_bytes = parse_count(rows.params), page_of(spec)
    size = row_bytes(rows.format, rows.width)
    if size > page_bytes and spec.placement.rule == "page-aligned":
        raise UsageError(f"{spec.name}: a row of {size} B in a page of {page_bytes} B: take one that holds a row")
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
    made = MixLayout(spec, label, params, page_bytes, size, tuple(sizes))
    _ = made.placed  # raises where it cannot be
    return made
