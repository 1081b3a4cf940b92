"""How many flash reads does a token cost, by layout and by the size of the page cache? (PageGram report, Fig. 4a)

One pass of a cell (see ``cells.py``) under LRU serves every cache size, in memory bounded by the table's pages; other
policies take one run a size over the same pieces.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from io import StringIO
from threading import Event

from flashsim.cache.engine import POLICIES, sweep_of
from flashsim.cache.lru import PAGES_MAX
from flashsim.errors import UsageError
from flashsim.layouts import Layout
from flashsim.studies.cells import Cell, Counted, cells_of, names_of, steps, unit_bytes
from flashsim.studies.ledger import Row, to_csv
from flashsim.tokens.stream import TokenStream
from flashsim.trace import Trace
from flashsim.units import format_bytes, parse_bytes

COLUMNS = (
    "corpus", "synthetic", "layout", "S", "params", "label", "unit", "policy", "table_bytes", "page_bytes",
    "cache_bytes", "capacity_pages", "tokens", "lookups", "reads", "distinct_pages", "misses", "cold_misses",
    "reads_per_token", "hit_ratio", "warmup_tokens", "backend",
)  # fmt: skip
KEY = ("corpus", "label", "policy")  # the columns that name a cell's rows


def sweep_cache(
    sources: Sequence[TokenStream | Trace] | TokenStream | Trace,
    layouts: Sequence[Layout] | Layout = (),
    caches: Sequence[int | str] | int | str = ("1GiB",),
    *,
    policies: Sequence[str] = ("lru",),
    skip: int = 0,
    tokens: int | None = None,
    warmup: int = 0,
    jobs: int = 1,
    backend: str = "c",
    done: Mapping[tuple[str, ...], list[Row]] | None = None,
    progress: Callable[[int], None] = lambda tokens: None,
    finished: Callable[[list[Row]], None] = lambda rows: None,
):
    """Reads/token of page caches of every size in ``caches`` (bytes, or "1GiB"), empty at the start.

    sources: token streams, each run through all ``layouts``, and traces. policies: see ``flashsim.cache.engine``.
    skip, tokens: the part of each source to run. warmup: the first tokens of that part fill the caches but are not
    counted. jobs: cells run at a time, in threads. done: rows that need not be made again, by the values of KEY.
    progress: called with tokens done. finished: called with all rows so far, in order, as each cell ends.

    Returns a DataFrame of COLUMNS, a row for each cell, policy and cache. distinct_pages are those of warm-up and run
    together, cold_misses the first touches of the run. Raises UsageError before anything runs.
    """
    import pandas as pd

    sources = [sources] if isinstance(sources, TokenStream | Trace) else list(sources)
    layouts = [layouts] if isinstance(layouts, Layout) else list(layouts)
    caches = [caches] if isinstance(caches, int | str) else list(caches)
    cells = cells_of(sources, layouts, skip, tokens)
    sizes = sorted({parse_bytes(cache) if isinstance(cache, str) else int(cache) for cache in caches})
    _check(cells, sizes, policies, warmup, (len(sources), len(layouts)))
    stopped, done = Event(), done or {}

    def step(tokens: int) -> None:
        if stopped.is_set():
            raise _Stopped
        progress(tokens)

    def run(cell: Cell, policy: str) -> list[Row]:
        names = names_of(cell)
        held = done.get((names["corpus"], names["label"], policy), [])
        if len(held) == len(sizes):
            step(cell.tokens)
            return held
        return run_cell(cell, policy, sizes, warmup, backend, step)

    def rows() -> list[Row]:
        ended = [future for future in futures if future.done() and not future.cancelled() and not future.exception()]
        return [row for future in ended for row in future.result()]

    with ThreadPoolExecutor(max(1, jobs)) as pool:
        futures = [pool.submit(run, cell, policy) for cell in cells for policy in policies]
        try:
            for future in as_completed(futures):
                if so_far := rows():
                    finished(so_far)
                future.result()  # raises what the cell raised, now that the others' rows are kept
        except BaseException:  # an interrupt too: the cells in work end with their next piece
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return pd.read_csv(StringIO(to_csv(rows(), COLUMNS)), keep_default_na=False, na_values=[""])


class _Stopped(Exception):
    """Raised in a cell whose sweep has ended."""


def _check(cells: list[Cell], sizes: list[int], policies: Sequence[str], warmup: int, given: tuple[int, int]) -> None:
    if not cells or not sizes or not policies:
        counts = f"{given[0]} sources, {given[1]} layouts, {len(sizes)} caches, {len(policies)} policies"
        raise UsageError(f"{counts}: give one of each or more")
    for policy in policies:
        if policy not in POLICIES or list(policies).count(policy) > 1:
            names = ", ".join(POLICIES)
            raise UsageError(f"--policy {policy}: give each of the {len(POLICIES)} policies at most once: {names}")
    for cell in cells:
        _capacities(sizes, unit_bytes(cell))
        if cell.layout:
            cell.layout.plan()
        if cell.ids_below > PAGES_MAX:
            label = names_of(cell)["label"]
            raise UsageError(f"{label}: {cell.ids_below} ids, over {PAGES_MAX}: take a smaller --params")
        if warmup >= cell.tokens:
            raise UsageError(f"--warmup {warmup} leaves nothing of {cell.tokens} tokens to count: warm up with fewer")


def run_cell(
    cell: Cell, policy: str, sizes: Sequence[int], warmup: int, backend: str, progress: Callable[[int], None]
) -> list[Row]:
    """The rows of one cell under one policy, one for each cache of ``sizes`` bytes."""
    capacities = _capacities(sizes, unit_bytes(cell))
    sweep = sweep_of(policy, capacities, cell.ids_below, backend)
    counted, start = Counted(), cell.begin + warmup
    for ids, step in steps(cell, cell.begin, start, backend) if warmup else ():
        sweep.run(ids)
        progress(step.tokens)
    sweep.mark()
    for ids, step in steps(cell, start, cell.end, backend):
        sweep.run(ids)
        counted += step
        progress(step.tokens)
    sweep.check()
    names = names_of(cell)
    return [
        names
        | {
            "policy": policy,
            "page_bytes": unit_bytes(cell),
            "cache_bytes": size,
            "capacity_pages": capacity,
            "tokens": counted.tokens,
            "lookups": counted.lookups,
            "reads": counted.reads,
            "distinct_pages": sweep.distinct,
            "misses": int(missed),
            "cold_misses": sweep.cold_since_mark,
            "reads_per_token": int(missed) / counted.tokens,
            "hit_ratio": 1 - int(missed) / counted.reads if counted.reads else None,
            "warmup_tokens": warmup,
            "backend": backend,
        }
        for size, capacity, missed in zip(sizes, capacities, sweep.misses_since_mark, strict=True)
    ]


def _capacities(sizes: Sequence[int], page_bytes: int) -> list[int]:
    if small := [size for size in sizes if size < page_bytes]:
        least = format_bytes(page_bytes)
        raise UsageError(f"a cache of {small[0]} B holds no page of {page_bytes} B: take {least} or more")
    return [size // page_bytes for size in sizes]
