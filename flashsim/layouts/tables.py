"""Published tables: hash families "xor-multiply", "polynomial" and "identity", one or several layers a lookup.

Each head of each order of each layer has a table of its own; a token reads one row of every one. Row ids count through
the tables in that order: layers, then orders, then heads. Formulas: csim/csim.h, ``fs_table_rows``.
"""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import numpy as np

from flashsim.errors import UsageError
from flashsim.kernels.plan import FILLER, RESERVED, SUM, XOR, TablePlan
from flashsim.layouts.addressing import TableHashing
from flashsim.layouts.derive import engram_multipliers, primes_above
from flashsim.layouts.formats import row_bytes
from flashsim.layouts.geometry import MODULUS_MAX, Layout, page_of
from flashsim.layouts.placement import Placed, place
from flashsim.layouts.primes import primes_near
from flashsim.layouts.spec import LayoutSpec
from flashsim.units import parse_count


@dataclass(frozen=True)
class TableLayout(Layout):
    """A layout of published tables.

    vocabulary: uint32, shape (token ids,): the id that is hashed for each token id; None where they are the same.
    vocabulary_size: ids that are hashed, from which Engram's multipliers follow; 0 = not known.
    """

    vocabulary: np.ndarray | None
    vocabulary_size: int

    @property
    def data_sha256(self) -> str | None:
        return None if self.vocabulary is None else sha256(self.vocabulary.tobytes()).hexdigest()

    @property
    def layers(self) -> int:
        return max(1, len(self.spec.hash.layers))

    @property
    def reserved_rows(self) -> int:
        """Rows at the end of each table that no n-gram hashes to."""
        return int(self.spec.ngrams.missing == "reserved")

    @property
    def rows(self) -> int:
        return self.spec.rows.padded or sum(self.sizes)

    @property
    def params(self) -> int:
        return sum(self.sizes) * self.spec.rows.width

    @property
    def layer_firsts(self) -> list[int]:
        """The first row of each layer."""
        return self.firsts[:: len(self.sizes) // self.layers]

    @property
    def layer_rows(self) -> list[int]:
        return np.diff([*self.layer_firsts, sum(self.sizes)]).tolist()

    @cached_property
    def placed(self) -> Placed:
        rows, placement = self.spec.rows, self.spec.placement
        return place(self.name, placement, self.page_bytes, rows.format, rows.width, self.rows, self.layer_firsts)

    def _row_hashing(self, backend: str) -> TableHashing:
        plan, stands_for = self.plan(), self.spec.ngrams.first_as
        first_as = {table: stands_for[n] for table, n in enumerate(plan.order.tolist()) if n in stands_for}
        return TableHashing(plan, len(self.orders), backend, self.vocabulary, first_as)

    def table_starts(self, by: str, unit: str = "page") -> list[int]:
        if by == "order" and self.layers > 1:
            raise UsageError(f"{self.name}: {self.layers} layers have {len(self.orders)} orders each")
        firsts = self.firsts if by == "head" else self.firsts[:: len(self.sizes) // len(self.orders)]
        return firsts if unit == "row" else self.placed.first_pages(firsts)

    def plan(self) -> TablePlan:
        """The kernel plan of the rows."""
        ngrams, family = self.spec.ngrams, self.spec.hash.family
        depth, tables = self.orders[-1], len(self.sizes)
        order_of = np.tile(np.repeat(np.array(self.orders), self.heads), self.layers)
        sizes = np.array(self.sizes, np.uint64)
        modulus = sizes - np.uint64(self.reserved_rows)
        filler = ngrams.filler if ngrams.missing == "filler" else 0
        if self.vocabulary is not None and ngrams.missing == "filler":
            filler = int(self.vocabulary[filler])
        coefficients = np.zeros((depth, tables), np.uint64)
        for k in range(depth):
            reaches = order_of > k
            coefficients[k, reaches] = self._coefficients(k)[reaches]
        return TablePlan(
            op=SUM if family == "polynomial" else XOR,
            word=self.spec.hash.word,
            missing=RESERVED if ngrams.missing == "reserved" else FILLER,
            filler=filler,
            coefficients=coefficients,
            modulus=modulus,
            base=np.array(self.firsts, np.uint64),
            order=order_of.astype(np.uint32),
            reserved=(np.array(self.firsts) + modulus.astype(np.int64)).astype(np.uint32),
        )

    def _coefficients(self, k: int) -> np.ndarray:
        """uint64, shape (tables,): what each table multiplies the token ``k`` back by, if it reaches that far."""
        spec = self.spec.hash
        if spec.family == "identity":
            return np.ones(len(self.sizes), np.uint64)
        if spec.family == "polynomial":
            moduli = [size - self.reserved_rows for size in self.sizes]
            return np.array([pow(spec.radix, k, modulus) if k else 1 for modulus in moduli], np.uint64)
        lists = self.multipliers
        each = len(self.sizes) // len(lists)
        return np.repeat(np.array([values[k] if k < len(values) else 0 for values in lists], np.uint64), each)

    @cached_property
    def multipliers(self) -> list[list[int]]:
        """One list for each layer or, where they are the orders' own, for each order."""
        spec = self.spec.hash
        if spec.multipliers:
            return [list(values) for values in spec.multipliers]
        depth = self.orders[-1]
        return [engram_multipliers(spec.seed, layer, self.vocabulary_size, depth) for layer in spec.layers]


def work_out(spec: LayoutSpec, label: str, vocabulary: np.ndarray | None, raw_ids: bool) -> TableLayout:
    """The :class:`TableLayout` of ``spec``. vocabulary: uint32, the hashed id of each token id. raw_ids: hash the token
    ids as they are where the spec wants mapped ones. Raises UsageError where the numbers do not work out."""
    _check(spec)
    rows, page_bytes = spec.rows, page_of(spec)
    size, layers = row_bytes(rows.format, rows.width), max(1, len(spec.hash.layers))
    groups = layers * len(spec.ngrams.orders)
    tables = groups * rows.heads
    if rows.sizes:
        sizes = list(rows.sizes)
    elif rows.primes_from:
        sizes = primes_above(rows.primes_from, groups, rows.heads)
    else:
        sizes = primes_near(parse_count(rows.params) // rows.width, tables) or []
    if len(sizes) != tables or min(sizes) < 2 or max(sizes) > MODULUS_MAX:
        raise UsageError(
            f"{spec.name}: {len(sizes)} sizes for {tables} tables, each from 2 to {MODULUS_MAX} rows: layers x orders "
            "x heads are the tables; give each a size, or another params"
        )
    if rows.padded and rows.padded < sum(sizes):
        raise UsageError(f"{spec.name}: padded to {rows.padded} rows, and its tables have {sum(sizes)}: give more")
    if spec.hash.family == "polynomial" and spec.ngrams.orders[-1] * max(sizes) >= 1 << 32:
        raise UsageError(f"{spec.name}: sums over {max(sizes)} rows pass 2^63: polynomial tables take fewer")
    known, vocabulary = _vocabulary(spec, vocabulary, raw_ids)
    params = sum(sizes) * rows.width if spec.fixed else parse_count(rows.params)
    made = TableLayout(spec, label, params, page_bytes, size, tuple(sizes), vocabulary, known)
    _ = made.placed  # raises where it cannot be
    return made


def _vocabulary(spec: LayoutSpec, vocabulary: np.ndarray | None, raw_ids: bool) -> tuple[int, np.ndarray | None]:
    """How many ids are hashed, and the map to them."""
    wanted = spec.vocabulary
    if not wanted.mapped:
        if not wanted.size and spec.hash.layers and not spec.hash.multipliers and spec.hash.family == "xor-multiply":
            raise UsageError(f"{spec.name}: multipliers follow from vocabulary.size, which is 0: give it, or them")
        return wanted.size, None
    if vocabulary is None:
        if not raw_ids:
            size = f"{wanted.size:,} " if wanted.size else ""
            raise UsageError(
                f"{spec.name} hashes {size}compressed ids, not the tokenizer's (0 maps given): give --vocab-map "
                "ids.npy (`flashsim corpus vocab-map tokenizer.json` makes it), or --raw-ids to hash those of the file"
            )
        if not (wanted.size or wanted.raw) and not spec.hash.multipliers:
            raise UsageError(f"{spec.name}: its multipliers follow from the map's size (0 known): give --vocab-map")
        return wanted.size or wanted.raw, None
    held = int(vocabulary.max()) + 1
    if wanted.size and held != wanted.size:
        raise UsageError(
            f"--vocab-map: {held:,} compressed ids, {spec.name} was made for {wanted.size:,}, and every multiplier "
            "follows from that: take the map of its own tokenizer"
        )
    if spec.ngrams.filler >= len(vocabulary):
        raise UsageError(f"--vocab-map: {len(vocabulary)} ids, none for the filler {spec.ngrams.filler}: take its own")
    return held, vocabulary.astype(np.uint32)


def _check(spec: LayoutSpec) -> None:
    name, ngrams, rows, family = spec.name, spec.ngrams, spec.rows, spec.hash.family
    layers, orders = spec.hash.layers, ngrams.orders
    if rows.addressing == "bucket":
        raise UsageError(f"{name}: buckets ({rows.slots} slots) are for family mix64: take addressing heads")
    if ngrams.missing == "skip":
        raise UsageError(f"{name}: family {family} reads all {len(orders)} orders always: missing = filler or reserved")
    if rows.primes_from and not 2 <= rows.primes_from < MODULUS_MAX:
        raise UsageError(f"{name}: primes_from {rows.primes_from}: give 2 to {MODULUS_MAX - 1}")
    if any(not 0 <= stands_for < 2**31 for stands_for in ngrams.first_as.values()):
        raise UsageError(f"{name}: first_as {list(ngrams.first_as.values())}: give token ids from 0 to 2^31 - 1")
    if not 0 <= ngrams.filler < 2**31:
        raise UsageError(f"{name}: filler {ngrams.filler}: give a token id from 0")
    if len(set(layers)) != len(layers) or min(layers, default=0) < 0:
        raise UsageError(f"{name}: layers {list(layers)}: give distinct numbers from 0")
    if bad := [order for order in ngrams.first_as if order not in orders[:-1]]:
        raise UsageError(f"{name}: first_as for order {bad[0]}: give orders below the largest, {orders[-1]}")
    if (spec.hash.radix != 0) != (family == "polynomial") or not 0 <= spec.hash.radix < 1 << 31:
        raise UsageError(f"{name}: radix {spec.hash.radix} with family {family}: polynomial takes one, below 2^31")
    if spec.hash.word == 32 and family != "xor-multiply":
        raise UsageError(f"{name}: word 32 with family {family}: only xor-multiply has it")
    lists = spec.hash.multipliers
    if family != "xor-multiply":
        if lists or (layers and family == "identity") or (family == "identity" and orders != (1,)):
            raise UsageError(f"{name}: {len(lists)} lists of multipliers, orders {list(orders)} with family {family}")
        return
    if not lists and not layers:
        raise UsageError(f"{name}: 0 multipliers and 0 layers to draw them for: give either")
    by_order = [max(orders)] * max(1, len(layers)) if len(lists) != len(orders) or layers else list(orders)
    if lists and [len(values) for values in lists] != by_order:
        raise UsageError(
            f"{name}: {len(lists)} lists of multipliers of {[len(values) for values in lists]}: give {max(orders)} for "
            "each layer or, with 0 layers, each order's own"
        )
    if lists and not all(map(any, lists)):
        raise UsageError(f"{name}: multipliers that are all 0 give every n-gram row 0: give the published ones")
    most = 1 << (spec.hash.word - 1)
    if any(not 0 <= value < most for values in lists for value in values):
        raise UsageError(f"{name}: a multiplier outside 0 to {most - 1}: give the published ones")
