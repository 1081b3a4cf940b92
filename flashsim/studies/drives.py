"""A table on several drives: how even their loads are, and how many of them a step really keeps busy.

A step has all its pages when the drive with the most of them is done, so of n drives only (reads of a step) / (reads of
the busiest) help. What is even over a whole run need not be so in any one step.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from flashsim.errors import UsageError
from flashsim.kernels.nb.loads import count_loads
from flashsim.layouts import Layout

SHARDS = ("page", "rows", "head", "robin")
_OF_HEADS = ("head", "robin")
DRIVES_MAX = 64
COLUMNS = (
    "drives", "shard", "busiest_share", "step_reads", "step_reads_busiest", "drive_misses",
    "no_cache_step_reads_busiest", "no_cache_drive_reads",
)  # fmt: skip


@dataclass(frozen=True)
class Sharding:
    """Which of ``drives`` drives has which page. Raises UsageError for a number or a rule that is none.

    by: "page" = page p on drive p mod drives (RAID 0, striped by the page); "rows" = as many equal ranges of the
    table's pages; "head" = whole tables of heads, in order, as many to each drive as to any other, or one fewer;
    "robin" = those dealt out in turn, so that every drive has heads of every order.
    """

    drives: int
    by: str = "page"

    def __post_init__(self) -> None:
        if not 1 <= self.drives <= DRIVES_MAX:
            raise UsageError(f"--drives {self.drives}: take 1 to {DRIVES_MAX}")
        if self.by not in SHARDS:
            raise UsageError(f"--shard {self.by}: none of the {len(SHARDS)}: {', '.join(SHARDS)}")

    def edges(self, layout: Layout) -> np.ndarray:
        """uint32, increasing: the first page of each range but the first, where drives have ranges of pages: one each,
        but by "robin", where range t is of drive t modulo drives. Raises UsageError where there are fewer parts than
        drives, or heads have no part of their own."""
        if self.by in _OF_HEADS:
            try:
                starts = np.array(layout.table_starts("head"))
            except UsageError as error:
                raise UsageError(f"{error}; --shard {self.by} cannot, take --shard page or rows") from None
            parts, what = len(starts), "tables of heads"
        else:
            parts, what = layout.table_bytes // layout.page_bytes, "pages"
        if parts < self.drives:
            raise UsageError(f"--drives {self.drives}: {layout.label} has {parts} {what}: take as many or fewer")
        if self.by == "robin":
            return starts[1:].astype(np.uint32)
        firsts = -(-np.arange(1, self.drives) * parts // self.drives)  # of `parts`
        return (starts[firsts] if self.by == "head" else layout.pages - parts + firsts).astype(np.uint32)


class DriveLoads:
    """Counts what each drive reads, over all steps and in the step's busiest, at several capacities of one cache that
    all drives share.

    capacities: how many. layout: of the pages that are read.
    """

    def __init__(self, capacities: int, sharding: Sharding, layout: Layout) -> None:
        self._sharding, self._edges = sharding, sharding.edges(layout)
        self._loads = np.zeros((capacities + 1, sharding.drives), np.int64)
        self._rises = np.zeros(capacities + 1, np.int64)

    def add(self, pages: np.ndarray, classes: np.ndarray, counts: np.ndarray, ends: np.ndarray | None) -> None:
        """Count whole steps. pages: uint32, shape (references,). classes: uint8, likewise, capacities that missed.
        counts: shape (tokens,), the references of each token. ends: where each step ends, in tokens; None = each is
        one."""
        if self._sharding.by == "page":
            drives = pages % np.uint32(self._sharding.drives)
        else:
            drives = np.searchsorted(self._edges, pages, side="right") % self._sharding.drives
        through = np.cumsum(counts, dtype=np.int64)
        ends = through if ends is None else through[ends - 1]
        count_loads(drives.astype(np.uint8), classes, ends, self._loads, self._rises)

    def columns(self, steps: int) -> list[dict[str, Any]]:
        """For each capacity, COLUMNS of a result of ``steps`` steps. step_reads: mean misses of a step;
        step_reads_busiest: of the drive that has most of them in that step; busiest_share: the share of all misses that
        the drive with the most has, None where nothing misses; drive_misses: of every drive, in order; no_cache: where
        every reference is a read."""
        # of class k or higher is what misses at capacity k - 1; of any class, with no cache
        no_cache, *loads = np.cumsum(self._loads[::-1], axis=0)[::-1]
        waits, *busiest = np.cumsum(self._rises[::-1])[::-1].tolist()
        return [
            {
                "drives": self._sharding.drives,
                "shard": self._sharding.by,
                "busiest_share": int(load.max()) / int(load.sum()) if load.any() else None,
                "step_reads": int(load.sum()) / steps,
                "step_reads_busiest": most / steps,
                "drive_misses": " ".join(map(str, load)),
                "no_cache_step_reads_busiest": waits / steps,
                "no_cache_drive_reads": " ".join(map(str, no_cache)),
            }
            for load, most in zip(loads, busiest, strict=True)
        ]
