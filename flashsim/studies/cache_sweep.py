"""How many flash reads does a token cost, by layout and by the size of an LRU page cache? (PageGram report, Fig. 4a)

A *cell* is one source through one layout: a token stream is hashed and simulated in pieces, so nothing is stored and
memory is bounded by the table's pages; a trace file is read from disk. One pass of a cell serves every cache size.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from threading import Event
from typing import Any

import numpy as np

from flashsim.cache.lru import PAGES_MAX, LruSweep
from flashsim.errors import DataError, UsageError
from flashsim.layouts import Layout
from flashsim.tokens.stream import TokenStream
from flashsim.trace import Tally, Trace, pieces, window
from flashsim.units import format_bytes, parse_bytes, parse_count

COLUMNS = (
    "corpus", "synthetic", "layout", "S", "params", "label", "unit", "table_bytes", "page_bytes", "cache_bytes",
    "capacity_pages", "tokens", "lookups", "reads", "distinct_pages", "misses", "cold_misses", "reads_per_token",
    "hit_ratio", "warmup_tokens", "backend",
)  # fmt: skip
_TRACE_STEP = 1 << 22  # references of a stored trace taken at a time


@dataclass(frozen=True)
class Cell:
    """One source through one layout. ``layout`` is None where ``source`` is a :class:`Trace`, which has its own."""

    source: TokenStream | Trace
    layout: Layout | None
    begin: int
    end: int

    @property
    def tokens(self) -> int:
        return self.end - self.begin


def cells_of(
    sources: Sequence[TokenStream | Trace], layouts: Sequence[Layout], skip: int = 0, tokens: int | None = None
) -> list[Cell]:
    """The cells of a sweep, in order: each stream through each layout, each trace as it is. Raises UsageError."""
    cells = []
    for source in sources:
        with_layouts = [None] if isinstance(source, Trace) else layouts
        cells += [Cell(source, layout, *window(source, skip, tokens)) for layout in with_layouts]
    names = Counter((_names(cell)["corpus"], _names(cell)["label"]) for cell in cells)
    if repeated := [f"{corpus} {label}" for (corpus, label), times in names.items() if times > 1]:
        raise UsageError(
            f"{len(repeated)} cells come more than once by name, first {repeated[0]}: name each source and layout "
            "once, and give files (or layouts) that differ names that differ"
        )
    return cells


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
        _capacities(sizes, _unit_bytes(cell))
        if cell.layout:
            cell.layout.plan()
        if _ids_below(cell) > PAGES_MAX:
            raise UsageError(f"{_names(cell)['label']}: {_ids_below(cell)} pages or rows, over {PAGES_MAX}: take fewer --params")
        if warmup >= cell.tokens:
            raise UsageError(f"--warmup {warmup} leaves nothing of {cell.tokens} tokens to count: warm up with fewer")
    stopped = Event()

    def step(tokens: int) -> None:
        if stopped.is_set():
            raise _Stopped
        progress(tokens)

    rows: list[dict[str, Any]] = []
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        futures = [pool.submit(run_cell, cell, sizes, warmup, backend, step) for cell in cells]
        try:
            for future in as_completed(futures):
                future.result()
                rows = [row for cell in futures if cell.done() for row in cell.result()]
                finished(rows)
        except BaseException:  # an interrupt too: the cells in work end with their next piece
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return pd.DataFrame(rows, columns=list(COLUMNS))


class _Stopped(Exception):
    """Raised in a cell whose sweep has ended."""


def run_cell(
    cell: Cell, sizes: Sequence[int], warmup: int, backend: str, progress: Callable[[int], None]
) -> list[dict[str, Any]]:
    """The rows of one cell, one for each cache of ``sizes`` bytes."""
    capacities = _capacities(sizes, _unit_bytes(cell))
    sweep = LruSweep(capacities, _ids_below(cell), backend)
    misses, distinct = sweep.misses, 0
    counted = Counted()
    for first, last in ((cell.begin, cell.begin + warmup), (cell.begin + warmup, cell.end)):
        misses, distinct, counted = sweep.misses, sweep.distinct, Counted()
        if first == last:
            continue
        for ids, step in _steps(cell, first, last, backend):
            sweep.run(ids)
            counted += step
            progress(step.tokens)
    return [
        _names(cell)
        | {
            "page_bytes": _unit_bytes(cell),
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


@dataclass(frozen=True)
class Counted:
    """tokens; lookups: tokens that read anything; reads: page references, which with no cache all go to flash."""

    tokens: int = 0
    lookups: int = 0
    reads: int = 0

    def __add__(self, other: "Counted") -> "Counted":
        return Counted(self.tokens + other.tokens, self.lookups + other.lookups, self.reads + other.reads)


def _steps(cell: Cell, first: int, last: int, backend: str) -> Iterator[tuple[np.ndarray, Counted]]:
    """The references of tokens [first, last) in pieces, each with its counts."""
    if cell.layout:
        for piece in pieces(cell.source, cell.layout, begin=first, end=last, backend=backend):
            tally = Tally(cell.layout)
            tally.add(piece.orders)
            yield piece.ids, Counted(tally.tokens, tally.lookups, len(piece.ids))
        return
    trace = cell.source
    at, end = trace.reads_before(first), trace.reads_before(last)
    tokens, lookups = last - first, last - first
    if trace.counts is not None:
        lookups = int(np.count_nonzero(trace.counts[first:last]))
    for begin in range(at, max(end, at + 1), _TRACE_STEP):  # at least 1 piece, for the tokens that read nothing
        ids = np.ascontiguousarray(trace.ids[begin : min(begin + _TRACE_STEP, end)])
        if ids.max(initial=0) >= _ids_below(cell):
            bad = begin + int(np.argmax(ids >= _ids_below(cell)))
            raise DataError(
                f"{trace.path}: id {bad} is {trace.ids[bad]}, its JSON says all are below {_ids_below(cell)}: "
                "trace it again"
            )
        # tokens are counted with the last piece: where a piece ends, a token may be cut in two
        whole = Counted(tokens, lookups, len(ids)) if begin + _TRACE_STEP >= end else Counted(reads=len(ids))
        yield ids, whole


def _ids_below(cell: Cell) -> int:
    return cell.layout.pages if cell.layout else cell.source.facts["ids_below"]


def _unit_bytes(cell: Cell) -> int:
    return cell.layout.page_bytes if cell.layout else cell.source.facts["unit_bytes"]


def _capacities(sizes: Sequence[int], unit_bytes: int) -> list[int]:
    if small := [size for size in sizes if size < unit_bytes]:
        least = format_bytes(unit_bytes)
        raise UsageError(f"a cache of {small[0]} B holds no page of {unit_bytes} B: take {least} or more")
    return [size // unit_bytes for size in sizes]


def _names(cell: Cell) -> dict[str, Any]:
    """The columns that say what was run."""
    if cell.layout:
        layout, stream = cell.layout, cell.source
        return {
            "corpus": stream.name,
            "synthetic": stream.synthetic,
            "layout": layout.name,
            "S": layout.slots,
            "params": layout.params_asked,
            "label": layout.label,
            "unit": "page",
            "table_bytes": layout.table_bytes,
        }
    facts = cell.source.facts
    spec, source = facts["layout"]["spec"], facts["source"]
    return {
        "corpus": source["name"],
        "synthetic": source["synthetic"],
        "layout": spec["name"],
        "S": spec["rows"]["slots"],
        "params": parse_count(spec["rows"]["params"]),
        "label": facts["layout"]["label"] + ("" if facts["unit"] == "page" else f"-{facts['unit']}"),
        "unit": facts["unit"],
        "table_bytes": facts["layout"]["table_bytes"],
    }
