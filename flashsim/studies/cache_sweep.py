"""How many flash reads does a token cost, by layout and by the size of an LRU page cache? (PageGram report, Fig. 4a)

A *cell* is one source through one layout: a token stream is hashed and simulated in pieces, so nothing is stored and
memory is bounded by the table's pages; a trace file is read from disk. One pass of a cell serves every cache size.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from flashsim.cache.lru import LruSweep
from flashsim.errors import UsageError
from flashsim.layouts import Layout
from flashsim.tokens.stream import TokenStream
from flashsim.trace import Tally, Trace, pieces, window
from flashsim.units import format_bytes, parse_bytes

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
        if isinstance(source, Trace):
            end = source.facts["tokens"] if tokens is None else min(skip + tokens, source.facts["tokens"])
            if skip >= end:
                raise UsageError(f"--skip {skip}: {source.path} has {source.facts['tokens']} tokens; skip fewer")
            cells.append(Cell(source, None, skip, end))
        else:
            cells += [Cell(source, layout, *window(source, skip, tokens)) for layout in layouts]
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
        if warmup >= cell.tokens:
            raise UsageError(f"--warmup {warmup} leaves nothing of {cell.tokens} tokens to count: warm up with fewer")
    rows: dict[int, list[dict[str, Any]]] = {}

    def run(index: int) -> None:
        rows[index] = run_cell(cells[index], sizes, warmup, backend, progress)
        done = dict(rows)  # other threads add to rows
        finished([row for at in sorted(done) for row in done[at]])

    with ThreadPoolExecutor(max(1, jobs)) as pool:
        futures = [pool.submit(run, index) for index in range(len(cells))]
        try:
            for future in futures:
                future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return pd.DataFrame([row for index in range(len(cells)) for row in rows[index]], columns=list(COLUMNS))


def run_cell(
    cell: Cell, sizes: Sequence[int], warmup: int, backend: str, progress: Callable[[int], None]
) -> list[dict[str, Any]]:
    """The rows of one cell, one for each cache of ``sizes`` bytes."""
    capacities = _capacities(sizes, _unit_bytes(cell))
    below = cell.layout.pages if cell.layout else cell.source.facts["ids_below"]
    sweep = LruSweep(capacities, below, backend)
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
    for begin in range(at, end, _TRACE_STEP):
        ids = np.ascontiguousarray(trace.ids[begin : min(begin + _TRACE_STEP, end)])
        # tokens are counted with the last piece: where a piece ends, a token may be cut in two
        whole = Counted(tokens, lookups, len(ids)) if begin + _TRACE_STEP >= end else Counted(reads=len(ids))
        yield ids, whole


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
    from pathlib import Path

    from flashsim.units import parse_count

    facts = cell.source.facts
    spec, source = facts["layout"]["spec"], facts["source"]
    return {
        "corpus": Path(source["path"]).name.split(".")[0] if source["path"] else cell.source.path.stem,
        "synthetic": source["synthetic"],
        "layout": spec["name"],
        "S": spec["rows"]["slots"],
        "params": parse_count(spec["rows"]["params"]),
        "label": facts["layout"]["label"],
        "unit": facts["unit"],
        "table_bytes": facts["layout"]["table_bytes"],
    }
