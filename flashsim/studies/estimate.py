"""What a cache sweep will take, before it runs: references, memory and time."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from flashsim.cache.engine import MODULES
from flashsim.errors import UsageError
from flashsim.studies.cells import Cell, names_of, unit_bytes
from flashsim.units import format_bytes

# Nanoseconds of one core for a reference: addresses and one pass of LRU with every capacity, or one capacity of another
# policy, in C. Rounded up from README's tables; a machine with less cache takes up to three times as long.
_NS_LRU, _NS_POLICY, _NUMBA_FACTOR = 12, 20, 2
_LRU_BYTES = 4 + 8 * 3 / 16  # a page, for every 16 capacities: see flashsim/kernels/c/lru.py
_OFFLINE_BYTES = 6  # a reference, of MIN
_TOUCHED_BYTES = 2 * 4096  # a reference and capacity: of zeros, only pages that are touched take memory
_MEMORY = Path("/proc/meminfo")


class Estimate(NamedTuple):
    """references: of all cells and policies. memory_bytes: at most, of ``jobs`` cells at a time. seconds: rough."""

    references: int
    memory_bytes: int
    seconds: float


def reads_of(cell: Cell) -> int:
    """References of a cell, about: before what a workload shares, and as if no n-gram were out of reach."""
    if cell.layout:
        per_token = cell.layout.reads_per_token if cell.unit == "page" else cell.layout.rows_per_token
    else:
        per_token = cell.source.facts["ids"] / max(1, cell.source.facts["tokens"])
    return int(cell.tokens * per_token)


def require_memory(needed: int, cells: Sequence[Cell], smaller: str) -> None:
    """Raise UsageError where ``needed`` bytes, for ``cells``, are more than are free. smaller: what would take less
    where the cells are of pages already."""
    free = _free_bytes()
    if free is None or needed <= free:
        return
    rows = [cell for cell in cells if names_of(cell)["unit"] == "row"]
    if any(cell.layout for cell in rows):
        smaller = "take --unit page"
    elif rows:
        smaller = "give a trace of pages (trace --unit page)"
    raise UsageError(f"about {format_bytes(needed)} of memory are needed, {format_bytes(free)} are free: {smaller}")


def _free_bytes() -> int | None:
    """What new processes can have without swapping; None where the kernel does not say."""
    try:
        lines = dict(line.split(":", 1) for line in _MEMORY.read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError, IndexError):
        return None


def estimate(
    cells: Sequence[Cell],
    policies: Sequence[str],
    cache_bytes: Sequence[int],
    jobs: int,
    backend: str,
    warm_pages: int = 0,
) -> Estimate:
    """The :class:`Estimate` of running every cell under every policy at every cache size, after ``warm_pages`` each."""
    references, seconds, memory = 0, 0.0, []
    for cell in cells:
        reads = reads_of(cell) + warm_pages
        for policy in policies:
            references += reads
            if policy == "lru":
                state = int(cell.ids_below * _LRU_BYTES * -(-len(cache_bytes) // 16))
                seconds += reads * _NS_LRU * 1e-9
            else:
                state = _state_bytes(cell, policy, cache_bytes, reads)
                seconds += reads * _NS_POLICY * 1e-9 * len(cache_bytes)
            memory.append(min(state, _TOUCHED_BYTES * reads * len(cache_bytes)))
    factor = (_NUMBA_FACTOR if backend == "numba" else 1) / min(jobs, len(memory))
    return Estimate(references, sum(sorted(memory)[-jobs:]), seconds * factor)


def _state_bytes(cell: Cell, policy: str, cache_bytes: Sequence[int], reads: int) -> int:
    module, total = MODULES[policy], 0
    if getattr(module, "OFFLINE", False):
        return int(reads * (_OFFLINE_BYTES + len(cache_bytes) / 8) + 4 * cell.ids_below)
    for size in cache_bytes:
        state = module.state(max(1, min(size // unit_bytes(cell), cell.ids_below)), cell.ids_below)
        total += state.page.nbytes + state.slot.nbytes  # zeros, which take no memory until they are touched
    return total
