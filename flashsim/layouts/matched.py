"""Layouts of family "longest-match": a row for each n-gram of a set, and a token reads that of the longest one that
ends with it, or nothing (Scone's f-grams: Yu et al., arXiv:2502.01637).
"""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import numpy as np

from flashsim.errors import DataError, UsageError
from flashsim.layouts.addressing import MatchHashing
from flashsim.layouts.arrays import load_array
from flashsim.layouts.formats import row_bytes
from flashsim.layouts.geometry import Layout, page_of
from flashsim.layouts.placement import Placed, place
from flashsim.layouts.spec import LayoutSpec

NO_TOKEN = 2**32 - 1  # fills up a shorter n-gram in a set


@dataclass(frozen=True)
class MatchLayout(Layout):
    """A layout whose rows belong to the n-grams of a set. trie: csim.h, ``fs_match``."""

    trie: np.ndarray

    @property
    def data_sha256(self) -> str | None:
        return sha256(self.trie.tobytes()).hexdigest()

    @property
    def rows(self) -> int:
        return self.sizes[0]

    @cached_property
    def placed(self) -> Placed:
        rows = self.spec.rows
        return place(self.name, self.spec.placement, self.page_bytes, rows.format, rows.width, self.rows, [0])

    def _row_hashing(self, backend: str) -> MatchHashing:
        return MatchHashing(self.trie, self.orders[-1], len(self.orders), backend)

    def table_starts(self, by: str, unit: str = "page") -> list[int]:
        raise UsageError(f"{self.name}: 1 table for all {len(self.orders)} orders and their heads")


def load_set(path: str | Path, largest: int) -> np.ndarray:
    """uint32, shape (n-grams, tokens): the set in ``path``, newest token first, filled up with NO_TOKEN. Raises
    UsageError or DataError, also where one is longer than ``largest``."""
    grams = load_array("--ngram-set", path, "corpus ngram-set")
    if grams.dtype != np.uint32 or grams.ndim != 2 or not grams.size:
        found = f"{grams.dtype} of shape {grams.shape}"
        raise DataError(f"--ngram-set {path}: {found}, uint32 of shape (n-grams, tokens) expected: make it again")
    held = grams != NO_TOKEN
    lengths = held.sum(axis=1)
    broken = (held[:, 1:] & ~held[:, :-1]).any(axis=1) | (lengths < 2) | ((grams >= 2**31) & held).any(axis=1)
    if broken.any():
        raise DataError(f"--ngram-set {path}: n-gram {int(np.argmax(broken))} is none: 2 or more tokens below 2^31")
    if lengths.max() > largest:
        raise UsageError(f"--ngram-set {path}: n-grams of {lengths.max()} tokens, the layout's largest is {largest}")
    return np.ascontiguousarray(grams)


def trie_of(grams: np.ndarray) -> np.ndarray:
    """uint64, shape (a power of two, 2): the trie of a set for the kernels. Raises DataError where one comes twice."""
    from flashsim.kernels.nb.match import insert  # numba takes a second to import

    lengths = (grams != NO_TOKEN).sum(axis=1)
    size = 1 << max(4, (2 * len(grams)).bit_length())
    while True:
        slots = np.full((size, 2), 2**64 - 1, np.uint64)
        nodes = insert(slots, grams, lengths)
        if nodes <= -2:
            raise DataError(f"--ngram-set: n-gram {-2 - nodes} is there twice: make it again")
        if nodes >= 0:
            return slots
        size *= 2


def work_out(spec: LayoutSpec, label: str, ngram_set: str | Path | None) -> MatchLayout:
    """The :class:`MatchLayout` of ``spec`` with the n-grams in the file ``ngram_set``. Raises UsageError, DataError."""
    if ngram_set is None:
        raise UsageError(
            f"{spec.name} reads rows of a set of n-grams (0 given): --ngram-set FILE.npy, which "
            "`flashsim corpus ngram-set` counts in a token file"
        )
    if spec.rows.addressing != "whole" or spec.ngrams.missing != "skip" or spec.hash.layers or spec.vocabulary.mapped:
        raise UsageError(f"{spec.name}: longest-match is addressing whole, missing skip, 1 table, the tokenizer's ids")
    page_bytes, rows = page_of(spec), spec.rows
    grams = load_set(ngram_set, spec.ngrams.orders[-1])
    size = row_bytes(rows.format, rows.width)
    made = MatchLayout(spec, label, len(grams) * rows.width, page_bytes, size, (len(grams),), trie_of(grams))
    _ = made.placed  # raises where it cannot be
    return made
