"""How many reads single tokens cause: what a deeper queue has to take at once, not only the mean."""

import numpy as np


class TokenReads:
    """Counts tokens by the flash reads that each caused, at several capacities.

    capacities: how many. group, per_read: of every ``group`` ids, each ``per_read`` neighbours come with one read where
    any of them missed (the rows of a bucket; per_read 1 = each id is a read of its own).
    """

    def __init__(self, capacities: int, group: int = 1, per_read: int = 1) -> None:
        self._group, self._per_read = group, per_read
        self._tokens = [np.zeros(1, np.int64) for _ in range(capacities)]  # [k][reads] tokens with that many
        self.no_cache = 0  # reads of all tokens where everything misses

    def add(self, classes: np.ndarray, counts: np.ndarray, pages: np.ndarray | None = None) -> None:
        """classes: uint8, shape (references,), capacities that missed. counts: shape (tokens,), the references of each
        token. pages: shape (references,), reads that a miss causes; None = 1 each."""
        ends = np.cumsum(counts, dtype=np.int64)
        if self._per_read > 1:
            groups = classes.reshape(-1, self._group)
            edges = range(0, self._group, self._per_read)
            classes = np.stack([groups[:, at : at + self._per_read].max(axis=1) for at in edges], axis=1).ravel()
            ends = ends // self._group * len(edges)
        self.no_cache += len(classes) if pages is None else int(pages.sum())
        for k, tokens in enumerate(self._tokens):
            missed = np.concatenate(([0], np.cumsum((classes > k) if pages is None else (classes > k) * pages)))
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
