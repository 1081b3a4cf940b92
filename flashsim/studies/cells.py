"""Cells: what a study runs. One *cell* is one source through one layout: a token stream is hashed in pieces, so nothing
is stored; a trace file is read from disk in steps."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flashsim.cache.lru import PAGES_MAX
from flashsim.errors import UsageError
from flashsim.layouts import Layout
from flashsim.tokens.stream import TokenStream
from flashsim.trace import Tally, Trace, pieces, window
from flashsim.units import exact_bytes
from flashsim.workloads import PLAIN, Workload

_TRACE_STEP = 1 << 22  # references of a stored trace taken at a time


@dataclass(frozen=True)
class Cell:
    """One source through one layout. ``layout`` is None where ``source`` is a :class:`Trace`, which has its own. unit:
    what an id names, "page" or "row"; a trace has its own too. workload: None = the text as it stands."""

    source: TokenStream | Trace
    layout: Layout | None
    begin: int
    end: int
    unit: str = "page"
    workload: Workload | None = None

    @property
    def tokens(self) -> int:
        return self.end - self.begin

    @property
    def ids_below(self) -> int:
        """Every id of the cell is below this."""
        return self.layout.ids(self.unit) if self.layout else self.source.facts["ids_below"]


def cells_of(
    sources: Sequence[TokenStream | Trace],
    layouts: Sequence[Layout],
    skip: int = 0,
    tokens: int | None = None,
    unit: str = "page",
    workloads: Sequence[Workload | None] = (None,),
) -> list[Cell]:
    """The cells of a sweep, in order: each stream through each layout under each workload, each trace as it is. Raises
    UsageError."""
    cells = []
    for source in sources:
        part = window(source, skip, tokens)
        if isinstance(source, Trace):
            if any(workloads):
                raise UsageError(
                    f"{source.path}: 1 trace has its order of tokens already: workloads need the token file"
                )
            cells.append(Cell(source, None, *part, unit))
        else:
            cells += [Cell(source, layout, *part, unit, workload) for layout in layouts for workload in workloads]
    names = Counter(" ".join(names_of(cell)[name] for name in ("corpus", "label", "workload")) for cell in cells)
    for name, times in names.items():
        if times > 1:
            raise UsageError(
                f"{name} comes {times} times: give each source, layout and workload once, and different names to "
                "different ones"
            )
    return cells


def check_ids(cell: Cell) -> None:
    """Raise UsageError where the kernels cannot number what the cell reads."""
    if cell.layout:
        cell.layout.addressing(cell.unit)
    if cell.ids_below > PAGES_MAX:
        raise UsageError(f"{names_of(cell)['label']}: {cell.ids_below} ids, over {PAGES_MAX}: take a smaller --params")


def capacities_of(cell: Cell, sizes: Sequence[int], entry_bytes: int = 0, pin_bytes: int = 0) -> list[int]:
    """Entries that caches of ``sizes`` bytes hold: a page or row each, and ``entry_bytes`` beside it, in what
    ``pin_bytes`` leave. Raises UsageError where there is no cache, or one holds none."""
    entry = unit_bytes(cell) + entry_bytes
    least = exact_bytes(entry + pin_bytes)
    if not sizes:
        raise UsageError(f"0 caches: give one of {least} or more")
    if min(sizes) - pin_bytes < entry:
        what = f"{names_of(cell)['unit']} of {entry} B" + (f" beside {pin_bytes} B pinned" if pin_bytes else "")
        raise UsageError(f"a cache of {min(sizes)} B holds no {what}: take {least} or more")
    return [(size - pin_bytes) // entry for size in sizes]


@dataclass(frozen=True)
class Counted:
    """tokens; lookups: tokens that read anything; reads: page references, which with no cache all go to flash; steps of
    the workload, or tokens; references: reads before the tokens of a step shared them; wasted: reads of wrong drafts.
    What a part of a stored workload does not tell is None. counts: of a piece of a token stream, integers, the ids that
    each token brought; ends: where its steps end, in tokens, None = each token is one; both valid until the next
    piece."""

    tokens: int = 0
    lookups: int | None = 0
    reads: int = 0
    steps: int = 0
    references: int | None = 0
    wasted: int | None = 0
    counts: np.ndarray | None = None
    ends: np.ndarray | None = None

    def __add__(self, other: "Counted") -> "Counted":
        names = ("tokens", "lookups", "reads", "steps", "references", "wasted")
        pairs = ((getattr(self, name), getattr(other, name)) for name in names)
        return Counted(*(None if None in pair else sum(pair) for pair in pairs))


def steps(cell: Cell, first: int, last: int, backend: str) -> Iterator[tuple[np.ndarray, Counted]]:
    """The references of tokens [first, last) in pieces, each with its counts. Under a workload, tokens are numbered as
    they are asked for."""
    if cell.workload:
        begin, end = cell.begin, cell.end
        for piece in cell.workload.steps(
            cell.source, cell.layout, unit=cell.unit, begin=begin, end=end, first=first - begin, last=last - begin,
            backend=backend,
        ):  # fmt: skip
            yield piece.ids, Counted(
                len(piece.counts), int(np.count_nonzero(piece.orders)), len(piece.ids), len(piece.ends),
                int(piece.references.sum(dtype=np.int64)), int(piece.wasted.sum()), piece.counts, piece.ends,
            )  # fmt: skip
        return
    if cell.layout:
        for piece in pieces(cell.source, cell.layout, unit=cell.unit, begin=first, end=last, backend=backend):
            tally = Tally(cell.layout)
            tally.add(piece.orders)
            reads = len(piece.ids)
            yield piece.ids, Counted(tally.tokens, tally.lookups, reads, tally.tokens, reads, counts=piece.counts)
        return
    trace = cell.source
    at, end = trace.reads_before(first), trace.reads_before(last)
    for begin in range(at, max(end, at + 1), _TRACE_STEP):  # at least 1 piece, for the tokens that read nothing
        ids = trace.read(begin, min(begin + _TRACE_STEP, end))
        # tokens are counted with the last piece: where a piece ends, a token may be cut in two
        yield ids, _stored(trace, first, last) if begin + _TRACE_STEP >= end else Counted()


def _stored(trace: Trace, first: int, last: int) -> Counted:
    """The counts of tokens [first, last) of a trace."""
    tokens, reads = last - first, trace.reads_before(last) - trace.reads_before(first)
    if trace.steps is None:
        lookups = tokens if trace.counts is None else int(np.count_nonzero(trace.counts[first:last]))
        return Counted(tokens, lookups, reads, tokens, reads)
    ends = np.cumsum(trace.steps, dtype=np.int64)
    steps = int(np.searchsorted(ends, last, side="right") - np.searchsorted(ends, first, side="right"))
    if tokens < len(trace):  # a token that reads nothing may share what another read
        return Counted(tokens, None, reads, steps, None, None)
    shared = trace.facts["workload"]
    return Counted(tokens, trace.facts["lookups"], reads, steps, shared["references"], shared["wasted_reads"])


def unit_bytes(cell: Cell) -> int:
    """Bytes of what an id of the cell names: a page, or a row."""
    return cell.layout.unit_bytes(cell.unit) if cell.layout else cell.source.facts["unit_bytes"]


def names_of(cell: Cell) -> dict[str, Any]:
    """The columns of a result that say what was run."""
    if cell.layout:
        layout, stream = cell.layout, cell.source
        return {
            "corpus": stream.name,
            "synthetic": stream.synthetic,
            "layout": layout.name,
            "S": layout.slots,
            "params": layout.params_asked,
            "label": layout.label if cell.unit == "page" else f"{layout.label}-{cell.unit}",
            "unit": cell.unit,
            "workload": cell.workload.label if cell.workload else PLAIN,
            "table_bytes": layout.table_bytes,
        }
    facts = cell.source.facts
    spec, source = facts["layout"]["spec"], facts["source"]
    return {
        "corpus": source["name"],
        "synthetic": source["synthetic"],
        "layout": spec["name"],
        "S": spec["rows"]["slots"],
        "params": facts["layout"]["params_asked"],
        "label": facts["layout"]["label"] + ("" if facts["unit"] == "page" else f"-{facts['unit']}"),
        "unit": facts["unit"],
        "workload": facts["workload"]["label"] if facts.get("workload") else PLAIN,
        "table_bytes": facts["layout"]["table_bytes"],
    }
