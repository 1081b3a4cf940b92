"""From tokens to the ids that they read, in pieces: hash, then place. One object a run; what it hands out is reused.

What n-grams may not reach past is settled before: the ``starts`` that a hashing is called with.
"""

from typing import NamedTuple, Protocol

import numpy as np

from flashsim.errors import DataError
from flashsim.kernels import backend as kernels_of
from flashsim.kernels.plan import MixPlan, PlacePlan, TablePlan


class Piece(NamedTuple):
    """Part of a trace. All arrays are reused: they hold until the next piece is asked for.

    ids: uint32, in access order. orders: uint8, one a token: how many of the layout's orders it had in reach.
    counts: uint16, one a token: how many ids it emitted.
    """

    ids: np.ndarray
    orders: np.ndarray
    counts: np.ndarray


class Hashing(Protocol):
    """Tokens to ids. context: tokens before a token that it reaches back to. ids_per_token: at most."""

    context: int
    ids_per_token: int

    def __call__(self, ids: np.ndarray, context: int, starts: np.ndarray) -> Piece:
        """The ids of tokens ids[context:]; ``starts``: see :class:`flashsim.tokens.stream.Chunk`."""
        ...


def _room(held: np.ndarray, size: int) -> np.ndarray:
    """``held``, or where it has no room for ``size`` items a new array that has."""
    return held if len(held) >= size else np.empty(size, held.dtype)


class MixHashing:
    """Hash family "mix64": an order out of reach emits nothing."""

    def __init__(self, plan: MixPlan, backend: str) -> None:
        self.context, self.ids_per_token = plan.context, plan.ids_per_token
        self._plan, self._kernels = plan, kernels_of(backend)
        self._out, self._orders = np.empty(0, np.uint32), np.empty(0, np.uint8)

    def __call__(self, ids: np.ndarray, context: int, starts: np.ndarray) -> Piece:
        tokens = len(ids) - context
        self._out, self._orders = _room(self._out, tokens * self.ids_per_token), _room(self._orders, tokens)
        written = self._kernels.mix_address(self._plan, ids, context, starts, self._out, self._orders)
        orders = self._orders[:tokens]
        return Piece(self._out[:written], orders, orders * np.uint16(self._plan.ids_per_order))


class TableHashing:
    """The published families: every token reads every table, one that is out of reach through its filler.

    vocabulary: uint32, the hashed id of each token id, or None where they are the same. first_as: by table, the id that
    a sequence's first token has as the oldest of an n-gram.
    """

    def __init__(
        self,
        plan: TablePlan,
        orders: int,
        backend: str,
        vocabulary: np.ndarray | None = None,
        first_as: dict[int, int] | None = None,
    ) -> None:
        self.context, self.ids_per_token = plan.context, plan.tables
        self._plan, self._kernels = plan, kernels_of(backend)
        self._vocabulary, self._first_as, self._all = vocabulary, first_as or {}, orders
        self._out = np.empty(0, np.uint32)

    def __call__(self, ids: np.ndarray, context: int, starts: np.ndarray) -> Piece:
        tokens = len(ids) - context
        self._out = _room(self._out, tokens * self.ids_per_token)
        if self._vocabulary is not None:
            if ids.max(initial=0) >= len(self._vocabulary):
                raise DataError(
                    f"token id {ids.max()} is outside the vocabulary map of {len(self._vocabulary)} ids: "
                    "make the map from the tokenizer that made the tokens"
                )
            ids = self._vocabulary[ids]
        written = self._kernels.table_rows(self._plan, ids, context, starts, self._out)
        rows = self._out[:written]
        if self._first_as:
            self._mend_firsts(rows.reshape(tokens, -1), ids, context, starts)
        return Piece(rows, np.full(tokens, self._all, np.uint8), np.full(tokens, self.ids_per_token, np.uint16))

    def _mend_firsts(self, rows: np.ndarray, ids: np.ndarray, context: int, starts: np.ndarray) -> None:
        """Hash anew the n-grams whose oldest token is the first of its sequence."""
        plan = self._plan
        ends = np.append(starts[starts > 0], len(ids))
        begins = np.concatenate(([0], ends[:-1]))  # where position 0 is none, no order but the largest reaches it
        for table, stands_for in self._first_as.items():
            order = int(plan.order[table])
            for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
                at = begin + order - 1
                if not max(context, begin) <= at < end:
                    continue
                window = np.append(np.uint32(stands_for), ids[begin + 1 : at + 1])
                one = np.empty(len(window) * plan.tables, np.uint32)
                self._kernels.table_rows(plan, window, 0, starts[:0], one)
                rows[at - context, table] = one.reshape(-1, plan.tables)[order - 1, table]


class MatchHashing:
    """The longest n-gram of a set: a token reads its row, or nothing. slots: the trie of csim.h, ``fs_match``."""

    ids_per_token = 1

    def __init__(self, slots: np.ndarray, depth: int, orders: int, backend: str) -> None:
        self.context = depth - 1
        self._slots, self._depth, self._all, self._kernels = slots, depth, orders, kernels_of(backend)
        self._out, self._counts = np.empty(0, np.uint32), np.empty(0, np.uint16)

    def __call__(self, ids: np.ndarray, context: int, starts: np.ndarray) -> Piece:
        tokens = len(ids) - context
        self._out, self._counts = _room(self._out, tokens), _room(self._counts, tokens)
        counts = self._counts[:tokens]
        written = self._kernels.match(self._slots, self._depth, ids, context, starts, self._out, counts)
        return Piece(self._out[:written], counts.astype(np.uint8) * np.uint8(self._all), counts)


class Placing:
    """A hashing whose rows become the pages that they touch."""

    def __init__(self, hashing: Hashing, plan: PlacePlan, backend: str) -> None:
        self.context, self.ids_per_token = hashing.context, hashing.ids_per_token * plan.pages_per_row_most
        self._hashing, self._plan, self._kernels = hashing, plan, kernels_of(backend)
        self._out, self._counts = np.empty(0, np.uint32), np.empty(0, np.uint16)

    def __call__(self, ids: np.ndarray, context: int, starts: np.ndarray) -> Piece:
        rows = self._hashing(ids, context, starts)
        tokens = len(rows.orders)
        self._out, self._counts = _room(self._out, tokens * self.ids_per_token), _room(self._counts, tokens)
        counts = self._counts[:tokens]
        written = self._kernels.place(self._plan, rows.ids, tokens, self._out, counts, rows.counts)
        return Piece(self._out[:written], rows.orders, counts)
