"""How many flash reads does a token cost, by layout and by the size of the page cache? (PageGram report, Fig. 4a)

One pass of a cell (see ``cells.py``) under LRU serves every cache size, in memory bounded by the table's pages; other
policies take one run a size over the same pieces.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from threading import Event

import numpy as np

from flashsim.cache.engine import check_policies, sweep_of
from flashsim.cache.pin import most_read, read_counts, run_unpinned
from flashsim.cache.split import SplitLru
from flashsim.errors import UsageError
from flashsim.layouts import Layout
from flashsim.studies.cache_state import CacheState, load_state
from flashsim.studies.cells import Cell, Counted, capacities_of, cells_of, check_ids, names_of, steps, unit_bytes
from flashsim.studies.drives import COLUMNS as OF_DRIVES
from flashsim.studies.drives import DriveLoads, Sharding
from flashsim.studies.ledger import Row, to_csv
from flashsim.studies.token_reads import TokenReads
from flashsim.tokens.stream import TokenStream
from flashsim.trace import Trace
from flashsim.units import number_of, parse_bytes
from flashsim.workloads import Workload

COLUMNS = (
    "corpus", "synthetic", "layout", "S", "params", "label", "unit", "workload", "policy", "table_bytes", "page_bytes",
    "cache_bytes", "capacity_pages", "tokens", "lookups", "steps", "references", "reads", "distinct_pages", "misses",
    "cold_misses", "reads_per_token", "hit_ratio", "warm_pages", "warmup_tokens", "backend", "pinned_pages",
    "token_reads_p50", "token_reads_p99", "token_reads_max", "wasted_reads",
    *OF_DRIVES,
)  # fmt: skip
KEY = ("corpus", "label", "workload", "policy")  # the columns that name a cell's rows


@dataclass(frozen=True)
class Ways:
    """How the cache is used, beside its policy. All but pinning are for LRU; all are for token streams, not traces.

    unit: what is cached, pages or rows; a row that misses still costs the read of a page, one for all rows of an n-gram
        that lie in it. entry_bytes: RAM that an entry takes beside its page or row. pin_bytes: RAM of every cache that
        holds the pages read most in ``pin_from``, another stream. split: None = one cache for all; "order" or "head" =
        an equal share for each. per_token: whether to count the reads of single tokens. sharding: the drives that
        the table lies on, one cache before them all; None = one.
    """

    unit: str = "page"
    entry_bytes: int = 0
    pin_bytes: int = 0
    pin_from: TokenStream | None = None
    split: str | None = None
    per_token: bool = False
    sharding: Sharding | None = None

    @property
    def by_class(self) -> bool:
        """Whether the class of each reference is needed, not only the sum of the misses."""
        return self.per_token or self.unit == "row" or self.sharding is not None


def sweep_cache(
    sources: Sequence[TokenStream | Trace] | TokenStream | Trace,
    layouts: Sequence[Layout] | Layout = (),
    caches: Sequence[int | str] | int | str = ("1GiB",),
    *,
    policies: Sequence[str] = ("lru",),
    ways: Ways = Ways(),
    workloads: Sequence[Workload | None] = (None,),
    skip: int = 0,
    tokens: int | None = None,
    warm: CacheState | str | Path | None = None,
    warmup: int = 0,
    jobs: int = 1,
    backend: str = "c",
    done: Mapping[tuple[str, ...], list[Row]] | None = None,
    progress: Callable[[int], None] = lambda tokens: None,
    finished: Callable[[list[Row]], None] = lambda rows: None,
):
    """Reads/token of page caches of every size in ``caches`` (bytes, or "1GiB"), empty at the start or ``warm``.

    sources: token streams, each run through all ``layouts``, and traces. policies: see ``flashsim.cache.engine``.
    ways: see :class:`Ways`. workloads: each layout runs under each; None = the text as it stands. skip, tokens: the
    part of each source to run. warm: a saved state, or its path, whose pages are read first, oldest first, and not
    counted: LRU goes on from that very state, other policies from what they keep of it. warmup: the first tokens of the
    part fill the caches but are not counted. jobs: cells run at a time, in threads. done: rows that need not be made
    again, by the values of KEY. progress: called with tokens done. finished: called with all rows so far, in order, as
    each cell ends.

    Returns a DataFrame of COLUMNS, a row for each cell, policy and cache. warm_pages are those of the saved state,
    distinct_pages those of state, warm-up and run together, cold_misses the first touches of the run. Raises UsageError
    before anything runs, and DataError where ``warm`` is no state.
    """
    import pandas as pd

    sources = [sources] if isinstance(sources, TokenStream | Trace) else list(sources)
    if other := [source for source in sources if not isinstance(source, TokenStream | Trace)]:
        raise UsageError(f"{other[0]!r} is 1 source, but no stream or trace: open_tokens() or Trace.open() it first")
    layouts = [layouts] if isinstance(layouts, Layout) else list(layouts)
    caches = [caches] if isinstance(caches, int | str) else list(caches)
    cells = cells_of(sources, layouts, skip, tokens, ways.unit, workloads)
    sizes = sorted({parse_bytes(cache) if isinstance(cache, str) else int(cache) for cache in caches})
    warm = load_state(warm) if isinstance(warm, str | Path) else warm
    check(cells, sizes, policies, warmup, ways, warm)
    stopped, done = Event(), done or {}

    def step(tokens: int) -> None:
        if stopped.is_set():
            raise _Stopped
        progress(tokens)

    def run(cell: Cell, policy: str) -> list[Row]:
        names = names_of(cell)
        held = done.get((*(names[name] for name in KEY[:-1]), policy), [])
        if len(held) == len(sizes):
            step(cell.tokens)
            return held
        return run_cell(cell, policy, sizes, warmup, backend, step, ways, warm)

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
    texts = dict.fromkeys(("corpus", "layout", "label", "unit", "workload", "policy", "backend"), "str")
    if ways.sharding:
        texts |= dict.fromkeys(("drive_misses", "no_cache_drive_reads"), "str")  # of one drive they look like numbers
    return pd.read_csv(StringIO(to_csv(rows(), COLUMNS)), dtype=texts, keep_default_na=False, na_values=[""])


class _Stopped(Exception):
    """Raised in a cell whose sweep has ended."""


def check(
    cells: list[Cell], sizes: Sequence[int], policies: Sequence[str], warmup: int, ways: Ways, warm: CacheState | None
) -> None:
    """Raise UsageError where the sweep cannot run as asked, before anything runs."""
    if not cells or not sizes or not policies:
        counts = f"{len(cells)} sources through layouts, {len(sizes)} caches, {len(policies)} policies"
        raise UsageError(f"{counts}: give one of each or more")
    check_policies(policies)
    others = [policy for policy in policies if policy != "lru"]
    if others and (ways.by_class or ways.split):
        what = "rows, a split cache, several drives or reads of single tokens"
        raise UsageError(f"--policy {others[0]} with {what}: 1 policy can, lru")
    if ways.split and ways.by_class:
        raise UsageError(f"--split {ways.split} with rows, drives or reads of single tokens: give 1 of them")
    if ways.sharding and ways.unit == "row":
        raise UsageError(f"--drives {ways.sharding.drives} with rows, which may lie on 2 of them: take --unit page")
    for cell in cells:
        caches = len(set(capacities_of(cell, sizes, ways.entry_bytes, ways.pin_bytes)))
        check_ids(cell)
        if warm:
            warm.check(cell)
        if ways.by_class and caches > np.iinfo(np.uint8).max:
            raise UsageError(f"{caches} caches with rows, drives or reads of single tokens: take 255 or fewer")
        if cell.layout:
            if ways.split:
                _check_split(cell.layout, ways.split)
            if ways.sharding:
                ways.sharding.edges(cell.layout)
            if cell.workload:
                cell.workload.check(cell.source, cell.begin, cell.end)
            if cell.workload and ways.unit == "row" and cell.layout.rows_per_read > 1:
                raise UsageError(
                    f"{cell.layout.label} by rows under {cell.workload.label}: {cell.layout.rows_per_read} rows come "
                    "with one read, which steps would tear apart: take --unit page, or no workload"
                )
        elif ways != Ways():
            what = "caches of rows, pinning, splitting, drives and reads of single tokens"
            raise UsageError(f"{cell.source.path}: 1 trace: {what} need the token file")
        if warmup >= cell.tokens:
            raise UsageError(
                f"--warmup {warmup} leaves nothing of {number_of(cell.tokens, 'token')} to count: warm up with fewer"
            )


def _check_split(layout: Layout, by: str) -> None:
    """Raise UsageError where ``layout`` has no part for each ``by``, with what it can be split by, if anything."""
    try:
        layout.table_starts(by)
    except UsageError as error:
        other, way_out = "order" if by == "head" else "head", "leave it out"
        with suppress(UsageError):
            layout.table_starts(other)
            way_out = f"take --split {other}"
        raise UsageError(f"{error}; --split {by} cannot, {way_out}") from None


def run_cell(
    cell: Cell,
    policy: str,
    sizes: Sequence[int],
    warmup: int,
    backend: str,
    progress: Callable[[int], None],
    ways: Ways = Ways(),
    warm: CacheState | None = None,
) -> list[Row]:
    """The rows of one cell under one policy, one for each cache of ``sizes`` bytes."""
    capacities, start = capacities_of(cell, sizes, ways.entry_bytes, ways.pin_bytes), cell.begin + warmup
    pinned = _pinned(cell, ways, backend)
    if ways.split:
        starts = cell.layout.table_starts(ways.split, ways.unit)
        sweep = SplitLru(capacities, starts, cell.ids_below, backend)
    else:
        sweep = sweep_of(policy, capacities, cell.ids_below, backend)
    counted, by_token, by_drive = Counted(), None, None
    index = np.unique(capacities, return_inverse=True)[1]
    if ways.sharding:
        by_drive = DriveLoads(len(set(capacities)), ways.sharding, cell.layout)
    if ways.per_token or ways.unit == "row":
        grouped = (cell.layout.heads, cell.layout.rows_per_read) if ways.unit == "row" else ()
        by_token = TokenReads(len(set(capacities)), *grouped)
    if warm:
        run_unpinned(sweep, warm.pages, pinned)
    for first, last in ((cell.begin, start), (start, cell.end)) if warmup else ((start, cell.end),):
        if first == start:
            sweep.mark()
        for ids, step in steps(cell, first, last, backend):
            classes = np.empty(len(ids), np.uint8) if ways.by_class and first == start else None
            run_unpinned(sweep, ids, pinned, classes)
            if by_token is not None and classes is not None:
                by_token.add(classes, step.counts, cell.layout.pages_of(ids) if ways.unit == "row" else None)
            if by_drive is not None and classes is not None:
                by_drive.add(ids, classes, step.counts, step.ends)
            counted += step if first == start else Counted()
            progress(step.tokens)
    sweep.check()
    misses = sweep.misses_since_mark
    of_tokens: dict[str, list[int]] = {}
    if by_token is not None:
        misses = by_token.reads[index]
        counted = replace(counted, reads=by_token.no_cache)  # of rows, those that come with one page are one read
    if ways.per_token:
        shares = {"token_reads_p50": 0.5, "token_reads_p99": 0.99, "token_reads_max": 1.0}
        of_tokens = {name: [by_token.quantile(share)[at] for at in index] for name, share in shares.items()}
    of_drives = by_drive.columns(counted.steps) if by_drive is not None else [{}] * len(capacities)
    names = names_of(cell)
    return [
        names
        | dict.fromkeys(("token_reads_p50", "token_reads_p99", "token_reads_max", *OF_DRIVES))
        | {
            "policy": policy,
            "page_bytes": unit_bytes(cell),
            "cache_bytes": size,
            "capacity_pages": capacity,
            "tokens": counted.tokens,
            "lookups": counted.lookups,
            "steps": counted.steps,
            "references": counted.references,
            "wasted_reads": counted.wasted,
            "reads": counted.reads,
            "distinct_pages": sweep.distinct,
            "misses": int(misses[at]),
            "cold_misses": sweep.cold_since_mark,
            "reads_per_token": int(misses[at]) / counted.tokens,
            "hit_ratio": 1 - int(misses[at]) / counted.reads if counted.reads else None,
            "warm_pages": len(warm.pages) if warm else 0,
            "warmup_tokens": warmup,
            "backend": backend,
            "pinned_pages": 0 if pinned is None else int(np.count_nonzero(pinned)),
        }
        | {name: values[at] for name, values in of_tokens.items()}
        | of_drives[index[at]]
        for at, (size, capacity) in enumerate(zip(sizes, capacities, strict=True))
    ]


def _pinned(cell: Cell, ways: Ways, backend: str) -> np.ndarray | None:
    """bool, shape (ids,): what is pinned, by its reads in ``ways.pin_from``; None = nothing."""
    if not ways.pin_bytes:
        return None
    other = Cell(ways.pin_from, cell.layout, 0, len(ways.pin_from), cell.unit)
    counts = read_counts((ids for ids, _ in steps(other, other.begin, other.end, backend)), cell.ids_below)
    return most_read(counts, ways.pin_bytes // (unit_bytes(cell) + ways.entry_bytes))
