"""What a cache sweep will take, before it runs: references, memory and time."""

from collections.abc import Sequence
from typing import NamedTuple

from flashsim.cache.engine import MODULES
from flashsim.studies.cells import Cell, unit_bytes

# Nanoseconds of one core for a reference: addresses and one pass of LRU with every capacity, or one capacity of another
# policy, in C. Rounded up from README's tables; a machine with less cache takes up to three times as long.
_NS_LRU, _NS_POLICY, _NUMBA_FACTOR = 12, 20, 2
_LRU_BYTES = 4 + 8 * 3 / 16  # a page, for every 16 capacities: see flashsim/kernels/c.py
_OFFLINE_BYTES = 6  # a reference, of MIN


class Estimate(NamedTuple):
    """references: of all cells and policies. memory_bytes: at most, of ``jobs`` cells at a time. seconds: rough."""

    references: int
    memory_bytes: int
    seconds: float


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
        per_token = cell.layout.plan(cell.unit).ids_per_token if cell.layout else cell.source.facts["ids"] / max(
            1, cell.source.facts["tokens"]
        )  # fmt: skip
        reads = int(cell.tokens * per_token) + warm_pages
        for policy in policies:
            references += reads
            if policy == "lru":
                memory.append(int(cell.ids_below * _LRU_BYTES * -(-len(cache_bytes) // 16)))
                seconds += reads * _NS_LRU * 1e-9
            else:
                memory.append(_state_bytes(cell, policy, cache_bytes, reads))
                seconds += reads * _NS_POLICY * 1e-9 * len(cache_bytes)
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
