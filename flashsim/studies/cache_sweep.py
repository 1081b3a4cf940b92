"""How many flash reads does a token cost, by layout and by the size of an LRU page cache? (PageGram report, Fig. 4a)

One pass of a cell (see ``cells.py``) serves every cache size, in memory bounded by the table's pages.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event
from typing import Any

from flashsim.cache.lru import PAGES_MAX, LruSweep
from flashsim.errors import UsageError
from flashsim.layouts import Layout
from flashsim.studies.cells import Cell, Counted, cells_of, names_of, steps, unit_bytes
from flashsim.tokens.stream import TokenStream
from flashsim.trace import Trace
from flashsim.units import format_bytes, parse_bytes

COLUMNS = (
    "corpus", "synthetic", "layout", "S", "params", "label", "unit", "table_bytes", "page_bytes", "cache_bytes",
    "capacity_pages", "tokens", "lookups", "reads", "distinct_pages", "misses", "cold_misses", "reads_per_token",
    "hit_ratio", "warmup_tokens", "backend",
)  # fmt: skip


def sweep_cache(
    sources: Sequence[TokenStream | Trace] | TokenStream | Trace,
    layouts: Sequence[Layout] | Layout = (),
    caches: Sequence[int | str] = ("1GiB",),
    *,
    skip: int = 0,
    tokens: int | None = None,
    warmup: int = 0,
    jobs: int = 1,
    backend: str = "c",
    progress: Callable[[int], None] = lambda tokens: None,
    finished: Callable[[list[dict[str, Any]]], None] = lambda rows: None,
):
    """Reads/token of LRU page caches of every size in ``caches`` (bytes, or "1GiB"), empty at the start.

    sources: token streams, each run through all ``layouts``, and traces. skip, tokens: the part of each source to run.
    warmup: the first tokens of that part fill the caches but are not counted. jobs: cells run at a time, in threads.
    progress: called with tokens done. finished: called with all rows so far, in order, as each cell ends.

    Returns a DataFrame of COLUMNS, a row for each cell and cache. distinct_pages are those of warm-up and run together,
    cold_misses the first touches of the run. Raises UsageError before anything runs.
    """
    import pandas as pd

    sources = [sources] if isinstance(sources, TokenStream | Trace) else list(sources)
    layouts = [layouts] if isinstance(layouts, Layout) else list(layouts)
    cells = cells_of(sources, layouts, skip, tokens)
    sizes = sorted({parse_bytes(cache) if isinstance(cache, str) else int(cache) for cache in caches})
    if not cells or not sizes:
        raise UsageError(
            f"{len(sources)} sources, {len(layouts)} layouts, {len(sizes)} caches: give one of each or more"
        )
    for cell in cells:
        _capacities(sizes, unit_bytes(cell))
        if cell.layout:
            cell.layout.plan()
        if cell.ids_below > PAGES_MAX:
            label = names_of(cell)["label"]
            raise UsageError(f"{label}: {cell.ids_below} ids, over {PAGES_MAX}: take a smaller --params")
        if warmup >= cell.tokens:
            raise UsageError(f"--warmup {warmup} leaves nothing of {cell.tokens} tokens to count: warm up with fewer")
    stopped = Event()

    def step(tokens: int) -> None:
        if stopped.is_set():
            raise _Stopped
        progress(tokens)

    def rows() -> list[dict[str, Any]]:
        ended = [future for future in futures if future.done() and not future.cancelled() and not future.exception()]
        return [row for future in ended for row in future.result()]

    with ThreadPoolExecutor(max(1, jobs)) as pool:
        futures = [pool.submit(run_cell, cell, sizes, warmup, backend, step) for cell in cells]
        try:
            for future in as_completed(futures):
                if so_far := rows():
                    finished(so_far)
                future.result()  # raises what the cell raised, now that the others' rows are kept
        except BaseException:  # an interrupt too: the cells in work end with their next piece
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return pd.DataFrame(rows(), columns=list(COLUMNS))


class _Stopped(Exception):
    """Raised in a cell whose sweep has ended."""


def run_cell(
    cell: Cell, sizes: Sequence[int], warmup: int, backend: str, progress: Callable[[int], None]
) -> list[dict[str, Any]]:
    """The rows of one cell, one for each cache of ``sizes`` bytes."""
    capacities = _capacities(sizes, unit_bytes(cell))
    sweep = LruSweep(capacities, cell.ids_below, backend)
    misses, distinct = sweep.misses, 0
    counted = Counted()
    for first, last in ((cell.begin, cell.begin + warmup), (cell.begin + warmup, cell.end)):
        misses, distinct, counted = sweep.misses, sweep.distinct, Counted()
        if first == last:
            continue
        for ids, step in steps(cell, first, last, backend):
            sweep.run(ids)
            counted += step
            progress(step.tokens)
    return [
        names_of(cell)
        | {
            "page_bytes": unit_bytes(cell),
            "cache_bytes": size,
            "capacity_pages": capacity,
            "tokens": counted.tokens,
            "lookups": counted.lookups,
            "reads": counted.reads,
            "distinct_pages": sweep.distinct,
            "misses": int(missed),
            "cold_misses": sweep.distinct - distinct,
            "reads_per_token": int(missed) / counted.tokens,
            "hit_ratio": 1 - int(missed) / counted.reads if counted.reads else float("nan"),
            "warmup_tokens": warmup,
            "backend": backend,
        }
        for size, capacity, missed in zip(sizes, capacities, sweep.misses - misses, strict=True)
    ]


def _capacities(sizes: Sequence[int], page_bytes: int) -> list[int]:
    if small := [size for size in sizes if size < page_bytes]:
        least = format_bytes(page_bytes)
        raise UsageError(f"a cache of {small[0]} B holds no page of {page_bytes} B: take {least} or more")
    return [size // page_bytes for size in sizes]
