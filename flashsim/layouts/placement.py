"""``Placed``: the bytes and pages of a table whose rows lie packed, planar, or page-aligned anywhere in a file."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np

from flashsim.errors import UsageError
from flashsim.kernels.plan import PlacePlan
from flashsim.layouts.formats import part_bytes
from flashsim.layouts.spec import Placement
from flashsim.units import number_of

IDS_MAX = 2**32  # row and page ids are uint32, and so is what the kernels divide to get them
_BYTES_MAX = 2**62


@dataclass(frozen=True)
class Region:
    """Bytes of every row that lie together. starts: the byte at which each group's begin. resident: kept in RAM."""

    name: str
    row_bytes: int
    starts: tuple[int, ...]
    resident: bool


@dataclass(frozen=True)
class Placed:
    """Where every row of a table lies. Made by :func:`place`.

    firsts: the first row of each group of rows that has a base of its own (a layer); increasing, the first 0.
    rows_per_page: 0 where a row may straddle pages. row_pages: pages of a page-aligned row.
    """

    page_bytes: int
    rows: int
    firsts: tuple[int, ...]
    regions: tuple[Region, ...]
    rows_per_page: int
    row_pages: int
    shard_rows: int
    shard_gap: int

    @property
    def read(self) -> tuple[Region, ...]:
        """The regions that are read from the drive."""
        return tuple(region for region in self.regions if not region.resident)

    @property
    def ends(self) -> list[int]:
        """For each region read, the byte behind its last row."""
        return [self._end(region) for region in self.read]

    def _end(self, region: Region) -> int:
        last = self.rows - 1
        start = region.starts[-1] + self._offset(last - self.firsts[-1], last, region.row_bytes)
        return start + (self.row_pages * self.page_bytes if self.rows_per_page else region.row_bytes)

    def _offset(self, within, row, size: int):
        """Bytes from the start of a region to a row: number ``within`` of its group, ``row`` of all."""
        if self.rows_per_page:
            return within // self.rows_per_page * self.row_pages * self.page_bytes
        return within * size + (row // self.shard_rows * self.shard_gap if self.shard_rows else 0)

    @property
    def pages(self) -> int:
        """Every page id is below this. Page 0 is the file's first, wherever the table begins in it."""
        return -(-max(self.ends) // self.page_bytes)

    @property
    def table_bytes(self) -> int:
        """Bytes of the pages from the first that is read to the last."""
        return (self.pages - min(region.starts[0] for region in self.read) // self.page_bytes) * self.page_bytes

    @property
    def resident_bytes(self) -> int:
        """RAM for what is not on the drive."""
        return sum(self.rows * region.row_bytes for region in self.regions if region.resident)

    @property
    def pages_per_row(self) -> float:
        """Pages that a row touches on average, all regions read."""
        return float(sum(self._touched(region).mean() for region in self.read))

    @property
    def straddle_share(self) -> float:
        """Share of rows that touch more pages than their bytes fill, in the region where that is most."""
        least = [-(-region.row_bytes // self.page_bytes) for region in self.read]
        touched = (self._touched(region) for region in self.read)
        return float(max((each > few).mean() for each, few in zip(touched, least, strict=True)))

    def _touched(self, region: Region) -> np.ndarray:
        """Pages of each row over one period of the pattern in which rows meet page edges."""
        if self.rows_per_page:
            return np.full(1, self.row_pages)
        page, size = self.page_bytes, region.row_bytes
        within = (region.starts[0] + np.arange(page // gcd(page, size), dtype=np.int64) * size) % page
        return (within + size - 1) // page + 1

    def pages_of(self, rows: np.ndarray) -> np.ndarray | None:
        """int64, shape (rows,): pages that each of ``rows`` touches; None where that is one for every row."""
        if self.rows_per_page:
            return None if self.row_pages == 1 else np.full(len(rows), self.row_pages)
        rows, total = rows.astype(np.int64), np.zeros(len(rows), np.int64)
        group = np.searchsorted(self.firsts, rows, side="right") - 1
        for region in self.read:
            start = np.array(region.starts)[group] + self._offset(rows - np.array(self.firsts)[group], rows,
                                                                  region.row_bytes)  # fmt: skip
            total += (start + region.row_bytes - 1) // self.page_bytes - start // self.page_bytes + 1
        return total

    def first_pages(self, rows: Sequence[int]) -> list[int]:
        """For each of ``rows``, the first page that holds nothing of the rows before it; 0 for the first row. Raises
        UsageError where a row's parts lie apart."""
        if len(self.regions) > 1:
            raise UsageError(f"planar, {len(self.regions)} regions: the parts of a row lie on pages apart")
        (region,), pages = self.regions, [0]
        for row in rows[1:]:
            group = int(np.searchsorted(self.firsts, row, side="right")) - 1
            within, start = row - self.firsts[group], region.starts[group]
            if self.rows_per_page:
                pages.append(start // self.page_bytes + -(-within // self.rows_per_page) * self.row_pages)
            else:
                pages.append(-(-(start + self._offset(within, row, region.row_bytes)) // self.page_bytes))
        return pages

    def plan(self, column_firsts: Sequence[int]) -> PlacePlan:
        """The kernel plan for tokens whose columns' tables begin at the rows ``column_firsts``."""
        group = np.searchsorted(self.firsts, np.array(column_firsts), side="right") - 1
        firsts = np.array(self.firsts, np.int64)[group]
        unit = self.row_pages * self.page_bytes
        bases = []
        for region in self.read:
            before = firsts // self.rows_per_page * unit if self.rows_per_page else firsts * region.row_bytes
            bases.append(np.array(region.starts, np.int64)[group] - before)
        sizes = np.array([region.row_bytes for region in self.read], np.uint64)
        try:
            return PlacePlan(
                base=np.array(bases, np.int64),
                stride=sizes,
                bytes=sizes,
                shard_rows=self.shard_rows,
                shard_gap=self.shard_gap,
                page_bytes=self.page_bytes,
                rows_per_page=self.rows_per_page,
                row_pages=self.row_pages,
            )
        except ValueError as error:
            raise UsageError(f"rows of {sizes.sum()} B in pages of {self.page_bytes} B: {error}") from None


def place(
    name: str, placement: Placement, page_bytes: int, row_format: str, width: int, rows: int, firsts: Sequence[int]
) -> Placed:
    """Where the ``rows`` rows of layout ``name`` lie; ``firsts``: the first row of each layer. Raises UsageError."""
    parts = part_bytes(row_format, width)
    bases = placement.base if isinstance(placement.base, tuple) else (placement.base,)
    each = len(parts) if placement.rule == "planar" else 1  # bases of one layer, at most
    if len(bases) not in {1, len(firsts), len(firsts) * each}:
        of_parts = f", or 1 for each of their {each} parts" if each > 1 else ""
        raise UsageError(
            f"{name}: {number_of(len(bases), 'base')} for {number_of(len(firsts), 'layer')}: give 1, or 1 for each "
            f"layer{of_parts}"
        )
    if min(bases, default=-1) < 0 or max(bases) >= _BYTES_MAX:
        raise UsageError(f"{name}: base {bases[:1]}: give bytes from the start of the file, 0 to 2^62")
    firsts = list(firsts) if len(bases) >= len(firsts) else [0]
    each = len(bases) // len(firsts)
    planar, aligned = placement.rule == "planar", placement.rule == "page-aligned"
    if unknown := [part for part in placement.resident if part not in parts]:
        raise UsageError(f"{name}: no part {unknown[0]!r} in {row_format}, it has {len(parts)}: {', '.join(parts)}")
    if placement.resident and (not planar or len(set(placement.resident)) == len(parts)):
        raise UsageError(
            f"--resident: {len(placement.resident)} of the {len(parts)} parts of {name} in RAM: that takes placement "
            "planar and leaves 1 part or more on the drive"
        )
    size = sum(parts.values())
    rows_per_page, row_pages = (max(1, page_bytes // size), -(-size // page_bytes)) if aligned else (0, 1)
    if aligned and rows_per_page > 1 and any(first % rows_per_page for first in firsts):
        raise UsageError(f"{name}: {len(bases)} bases with rows a page that cross layers: take placement packed")
    if aligned and any(base % page_bytes for base in bases):
        raise UsageError(f"{name}: base {bases[0]} is no multiple of the page, {page_bytes} B: take placement packed")
    shards = placement.shards
    if not 1 <= shards <= rows or (shards > 1 and (placement.rule != "packed" or len(bases) > 1)):
        raise UsageError(f"{name}: {shards} shards of {rows} rows: they take placement packed and 1 base")
    shard_rows = -(-rows // shards) if shards > 1 else 0
    regions = tuple(parts.items()) if planar else (("rows", size),)
    counts = np.diff([*firsts, rows]).tolist()
    starts: list[list[int]] = [[] for _ in regions]
    for group, count in enumerate(counts):
        base = bases[group * each]
        for at, (_, part) in enumerate(regions):
            base = bases[group * each + at] if each > 1 else base
            starts[at].append(base)
            base = -(-(base + count * part) // page_bytes) * page_bytes  # the next region begins on a page
    made = (
        Region(part, part_size, tuple(begins), part in placement.resident)
        for (part, part_size), begins in zip(regions, starts, strict=True)
    )
    gap = -shard_rows * size % page_bytes
    placed = Placed(page_bytes, rows, tuple(firsts), tuple(made), rows_per_page, row_pages, shard_rows, gap)
    if placed.pages > IDS_MAX:
        raise UsageError(f"{name}: {placed.pages} pages do not fit 32 bits: take a larger --page or a smaller table")
    return placed
