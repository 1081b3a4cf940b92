"""``Reads``: which bytes of a target a replay reads."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flashsim.device.extents import overlapping


def fold_of(size: int, pages: int, page_bytes: int, base: int = 0) -> int:
    """What page numbers below ``pages`` are taken modulo in a target of ``size`` bytes: 0 where all have room, else as
    many as have."""
    room = max(0, size - base) // page_bytes
    return 0 if pages <= room else room


@dataclass(frozen=True)
class Reads:
    """pages: uint32, distinct page numbers, increasing; None = every page of the target. base: byte offset of page 0.
    fold: 0, or what page numbers are taken modulo. size: bytes of the target."""

    pages: np.ndarray | None
    page_bytes: int
    base: int
    fold: int
    size: int

    @property
    def room(self) -> int:
        """Pages that the target holds."""
        return max(0, self.size - self.base) // self.page_bytes

    @cached_property
    def end(self) -> int:
        """The byte behind the last one read."""
        if self.pages is None:
            return self.base + self.room * self.page_bytes
        last = int(self.pages[-1]) if len(self.pages) else -1
        return self.base + (min(last, self.fold - 1) + 1 if self.fold else last + 1) * self.page_bytes

    @cached_property
    def _offsets(self) -> np.ndarray:
        """int64: where each read of ``pages`` begins, increasing, each once."""
        pages = self.pages.astype(np.int64)
        return self.base + (np.unique(pages % self.fold) if self.fold else pages) * self.page_bytes

    @property
    def count(self) -> int:
        """Distinct pages read."""
        return self.room if self.pages is None else len(self._offsets)

    @property
    def span(self) -> int:
        """Bytes from the first page read to the last."""
        if self.pages is None or not self.count:
            return self.end - self.base if self.pages is None else 0
        return int(self._offsets[-1] - self._offsets[0]) + self.page_bytes

    def sample(self, count: int, draw: np.random.Generator) -> np.ndarray:
        """int64, shape (up to ``count``,): byte offsets of some of the reads, increasing, the first and the last among
        them."""
        at = np.unique(np.append(draw.integers(0, self.count, count - 2), [0, self.count - 1]))
        return self.base + at * self.page_bytes if self.pages is None else self._offsets[at]

    def within(self, extents: np.ndarray) -> tuple[int, int]:
        """(reads that touch one of ``extents``, byte offset of the first). extents: int64, shape (n, 2), [begin, end)
        each, increasing, apart from each other."""
        if self.pages is not None:
            touched = np.flatnonzero(overlapping(extents, self._offsets, self.page_bytes))
            return len(touched), int(self._offsets[touched[0]]) if len(touched) else 0
        begins = np.maximum(extents[:, 0] - self.base, 0) // self.page_bytes
        ends = np.minimum(-(-(extents[:, 1] - self.base) // self.page_bytes), self.room)
        begins = np.maximum(begins, np.append(0, ends[:-1]))  # two extents may share a page
        touched = np.maximum(ends - begins, 0)
        if not touched.any():
            return 0, 0
        return int(touched.sum()), self.base + int(begins[np.argmax(touched > 0)]) * self.page_bytes
