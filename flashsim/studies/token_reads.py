"""How many reads single tokens cause: what a deeper queue has to take at once, not only the mean."""

import numpy as np


class TokenReads:
    """Counts tokens by the flash reads that each caused, at several capacities.

    capacities: how many. ids_per_order: ids that an order of a token emits. per_read: neighbouring ids that one read
    brings together where any of them missed (rows of a bucket; 1 = each id is a read of its own).
    """

    def __init__(self, capacities: int, ids_per_order: int, per_read: int = 1) -> None:
        self._ids_per_order, self._per_read = ids_per_order, per_read
        self._tokens = [np.zeros(1, np.int64) for _ in range(capacities)]  # [k][reads] tokens with that many
        self.no_cache = 0  # reads of all tokens where everything misses

    def add(self, classes: np.ndarray, orders: np.ndarray) -> None:
        """classes: uint8, shape (references,), capacities that missed. orders: uint8, shape (tokens,), orders that each
        token had in reach."""
        reads_per_order = -(-self._ids_per_order // self._per_read)
        if self._per_read > 1:
            by_order = classes.reshape(-1, self._ids_per_order)
            edges = range(0, self._ids_per_order, self._per_read)
            classes = np.stack([by_order[:, at : at + self._per_read].max(axis=1) for at in edges], axis=1).ravel()
        ends = np.cumsum(orders, dtype=np.int64) * reads_per_order
        self.no_cache += len(classes)
        for k, tokens in enumerate(self._tokens):
            missed = np.concatenate(([0], np.cumsum(classes > k)))
            counts = np.bincount(np.diff(missed[ends], prepend=0), minlength=len(tokens))
            counts[: len(tokens)] += tokens
            self._tokens[k] = counts

    @property
    def reads(self) -> np.ndarray:
        """int64, shape (capacities,): reads of all tokens."""
        return np.array([int(tokens @ np.arange(len(tokens))) for tokens in self._tokens], np.int64)

    def quantile(self, share: float) -> list[int]:
        """For each capacity, the fewest reads that at least ``share`` of the tokens do not exceed."""
        return [int(np.searchsorted(np.cumsum(tokens), share * tokens.sum())) for tokens in self._tokens]
