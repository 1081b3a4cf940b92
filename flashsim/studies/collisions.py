"""What do n-grams that collide share? Rows, and how many heads of them, over the distinct n-grams of a stream.

Two n-grams of an order *collide* in a head where it gives both the same row. A single head tells layouts apart no more
than its number of rows does; what S sets is how many heads two n-grams share once they share one (PageGram report,
sections 3.2 and 6.1, Table 3).
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from typing import Any, NamedTuple

import numpy as np

from flashsim.errors import UsageError
from flashsim.layouts import Layout
from flashsim.studies.cells import Cell, names_of
from flashsim.tokens.ngrams import Ngrams
from flashsim.tokens.stream import TokenStream
from flashsim.trace import pieces

COLUMNS = (
    "corpus", "synthetic", "layout", "S", "params", "label", "order", "heads", "tokens", "lookups", "ngrams",
    "rows_per_head", "ngrams_per_row", "variance_over_mean", "foreign_share", "collisions", "collisions_counted",
    "shared_share", "p_another", "p_another_error", "p_another_closed", "extra_heads", "extra_heads_error",
    "extra_heads_closed", "neighbours", "neighbours_relative", "neighbours_relative_error",
    "neighbours_relative_closed",
)  # fmt: skip
ROWS_MAX = 2**32  # row ids are uint32
COUNTED_MOST = 1 << 31  # collisions of one head, all of which are looked at; of more, some are drawn:
DRAWN = 1 << 21
SEED = 0


class Shared(NamedTuple):
    """What two n-grams that collide in one head share, and the same for a stream's n-grams on average.

    p_another: chance that they collide in another head too. extra_heads: other heads in which they do, on average.
    neighbours_relative: different n-grams that an n-gram collides with, over what they were if each of its K rows had
    n-grams of its own, as engram's have.
    """

    p_another: float
    extra_heads: float
    neighbours_relative: float


_NONE = Shared(nan, nan, nan)


def closed_forms(heads: int, slots: float) -> Shared:
    """What :class:`Shared` is for independent, uniform hashes. slots: S, or the rows of a head where there are no
    buckets, which is one bucket for all. With 1 head, 0, 0 and 1.

    Given one head, each of the other K - 1 has the same slot with chance 1/S. An n-gram meets S times as many others in
    its bucket as in one row, and shares a row with 1 - (1 - 1/S)^K of them.
    """
    other = 1 - 1 / slots
    return Shared(1 - other ** (heads - 1), (heads - 1) / slots, slots * (1 - other**heads) / heads)


@dataclass(frozen=True)
class Collisions:
    """The collisions of one order of one source through one layout.

    names: what was run. ngrams: the distinct n-grams. rows, row_squares: int64, shape (heads,), rows of each head, and
    the sum of their squared occupancies (n-grams in a row). own_share: of the updates of the rows that a lookup reads,
    the share of its own n-gram, averaged over lookups. collisions: int64, shape (heads,), pairs of n-grams with the
    same row of each head. counted: int64, shape (heads, heads + 1), how many of them share [c] heads; their sum is less
    than ``collisions`` where only some were drawn.
    """

    names: dict[str, Any]
    tokens: int
    ngrams: Ngrams
    slots: int | None
    rows: np.ndarray
    row_squares: np.ndarray
    own_share: float
    collisions: np.ndarray
    counted: np.ndarray

    @property
    def heads(self) -> int:
        return len(self.collisions)

    @property
    def rows_per_head(self) -> float:
        return float(self.rows.mean())

    @property
    def ngrams_per_row(self) -> float:
        return float((len(self.ngrams.first) / self.rows).mean())

    @property
    def variance_over_mean(self) -> float:
        """Of the n-grams in a row, averaged over heads; 1 where they are spread at random (Poisson)."""
        mean = len(self.ngrams.first) / self.rows
        return float(((self.row_squares / self.rows - mean**2) / mean).mean())

    @property
    def exact(self) -> bool:
        return bool((self.counted.sum(axis=1) == self.collisions).all())

    def shared(self) -> tuple[Shared, Shared]:
        """Averages over all collisions and their standard errors, which are 0 where none was left out; NaN with 1 head
        or no collision. A pair that shares c heads is met c times, once in each."""
        total = int(self.collisions.sum())
        if self.heads == 1 or not total:
            return _NONE, _NONE
        drawn = self.counted.sum(axis=1)
        part = self.counted / np.maximum(drawn, 1)[:, None]
        weight = self.collisions / total
        c = np.arange(1, self.heads + 1)
        means, errors = [], []
        for value in (c > 1, c - 1, 1 / c):  # by c
            mean, square = part[:, 1:] @ value, part[:, 1:] @ np.square(value, dtype=float)
            spread = np.maximum(square - mean**2, 0)  # rounding may leave it below 0
            variance = np.where(drawn < self.collisions, spread, 0) / np.maximum(drawn, 1)
            means.append(float(weight @ mean))
            errors.append(float(np.sqrt(weight**2 @ variance)))
        return Shared(*means), Shared(*errors)

    def row(self) -> dict[str, Any]:
        """COLUMNS."""
        shared, error = self.shared()
        one, count, met = self.heads == 1, len(self.ngrams.first), int(self.collisions.sum())
        closed = _NONE if one else closed_forms(self.heads, self.slots or self.rows_per_head)
        row = self.names | {
            "order": self.ngrams.order,
            "heads": self.heads,
            "tokens": self.tokens,
            "lookups": self.ngrams.lookups,
            "ngrams": count,
            "rows_per_head": self.rows_per_head,
            "ngrams_per_row": self.ngrams_per_row,
            "variance_over_mean": self.variance_over_mean,
            "foreign_share": 1 - self.own_share,
            "collisions": met,
            "collisions_counted": int(self.counted.sum()),
            "shared_share": 1.0 if one else (1 + shared.extra_heads) / self.heads,
            "neighbours": 2 * met * (1.0 if one else shared.neighbours_relative) / count if met else 0.0,
        }
        for ending, values in (("", shared), ("_error", error), ("_closed", closed)):
            row |= {f"{name}{ending}": value for name, value in values._asdict().items()}
        return {column: row[column] for column in COLUMNS}


def check(layout: Layout) -> None:
    """Raise UsageError where n-grams have no rows by order, or 32 bits cannot tell the rows apart."""
    if layout.spec.hash.family == "longest-match":
        raise UsageError(f"{layout.label}: 1 row for each n-gram of its set: 0 can collide; take another layout")
    if layout.rows > ROWS_MAX:
        raise UsageError(f"{layout.label}: {layout.rows} rows, over {ROWS_MAX}: take a smaller --params")


def collisions(
    cell: Cell, ngrams: dict[int, Ngrams], *, backend: str = "c", progress: Callable[[int], None] = lambda heads: None
) -> list[Collisions]:
    """The :class:`Collisions` of each order of a token stream through a layout. ngrams: of the cell's tokens, see
    :func:`flashsim.tokens.ngrams.distinct_ngrams`. ``progress`` is called with the number of heads done.

    Exact up to COUNTED_MOST collisions a head; of more, DRAWN are drawn with replacement (seeds: SEED, order, head).
    Memory: 8 B a head and about 30 B for each n-gram. Raises UsageError where an order has no n-gram.
    """
    layout = cell.layout
    check(layout)
    for order in layout.orders:
        if not len(ngrams[order].first):
            raise UsageError(
                f"{names_of(cell)['corpus']}: 0 n-grams of order {order} in {cell.tokens} tokens: are all documents "
                "shorter? check --eot, or take more tokens"
            )
    rows = rows_of(cell.source, layout, ngrams, cell.begin, cell.end, backend)
    return [
        _order(cell, ngrams[order], rows.pop(order), head_rows, progress)
        for order, head_rows in zip(layout.orders, _rows_by_head(layout), strict=True)
    ]


def rows_of(
    stream: TokenStream, layout: Layout, ngrams: dict[int, Ngrams], begin: int, end: int, backend: str = "c"
) -> dict[int, np.ndarray]:
    """The row ids of each of the ``ngrams``, uint32, shape (n-grams, heads), by order; taken from the trace of tokens
    [begin, end) where each comes first."""
    orders, layers = layout.orders, layout.layers
    heads = layout.rows_per_token // len(orders)  # of all layers
    rows = {order: np.empty((len(ngrams[order].first), heads), np.uint32) for order in orders}
    at = 0
    for ids, reach, _ in pieces(stream, layout, unit="row", begin=begin, end=end, backend=backend):
        tokens, each = len(reach), reach.astype(np.int64)
        if layers > 1:  # then every token reads every order
            ids = ids.reshape(tokens, layers, len(orders), -1).swapaxes(1, 2)
        lines = ids.reshape(-1, heads)  # one an n-gram
        line_of = np.cumsum(each) - each
        for index, order in enumerate(orders):
            low, high = np.searchsorted(ngrams[order].first, (at, at + tokens))
            rows[order][low:high] = lines[line_of[ngrams[order].first[low:high] - at] + index]
        at += tokens
    return rows


def _rows_by_head(layout: Layout) -> np.ndarray:
    """int64, shape (orders, heads): the rows that each head chooses from."""
    sizes = np.array(layout.sizes).reshape(layout.layers, len(layout.orders), -1)
    rows = sizes.swapaxes(0, 1).reshape(len(layout.orders), -1)
    return np.repeat(rows * layout.slots, layout.heads, axis=1) if layout.slots else rows


def _order(cell: Cell, ngrams: Ngrams, rows: np.ndarray, head_rows: np.ndarray, progress: Callable) -> Collisions:
    """rows: uint32, shape (n-grams, heads). head_rows: int64, shape (heads,), how many each has."""
    from flashsim.kernels.nb.ngrams import sort_pairs
    from flashsim.kernels.nb.pairs import count_shared, draw_shared, row_sums

    heads = rows.shape[1]
    found, counted = np.zeros(heads, np.int64), np.zeros((heads, heads + 1), np.int64)
    row_squares, own = np.zeros(heads, np.int64), 0.0
    row_bits = int(rows.max()).bit_length()
    every, in_order = np.arange(len(rows), dtype=np.uint32), np.empty_like(rows)
    for head in range(heads):
        sorted_rows, members = sort_pairs(np.ascontiguousarray(rows[:, head]), every, row_bits)
        row_squares[head], found[head], own_lookups = row_sums(sorted_rows, members, ngrams.counts)
        own += own_lookups
        rows.take(members, axis=0, out=in_order, mode="clip")  # none is out of range: else a copy is made
        if heads == 1:
            counted[head, 1] = found[head]
        elif found[head] <= COUNTED_MOST:
            count_shared(in_order, head, counted[head])
        else:
            draws = np.random.default_rng([SEED, ngrams.order, head]).integers(found[head], size=DRAWN)
            draw_shared(in_order, head, np.sort(draws), counted[head])
        progress(1)
    return Collisions(
        names=names_of(cell),
        tokens=cell.tokens,
        ngrams=ngrams,
        slots=cell.layout.slots,
        rows=head_rows,
        row_squares=row_squares,
        own_share=own / heads / ngrams.lookups,
        collisions=found,
        counted=counted,
    )
