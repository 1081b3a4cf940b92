"""``Trace``: the page (or row) ids that a token stream reads through a layout, in access order.

:func:`pieces` makes one in pieces, for everything that streams; :func:`write_trace` puts one on disk as ``NAME.npy``
(uint32) with ``NAME.json`` beside it, and ``NAME.counts.npy`` where the reads a token vary; :class:`Trace` opens it.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec
import numpy as np

from flashsim.errors import DataError, UsageError
from flashsim.files import NpyWriter, facts_path, refuse_inputs, replacing, sha256_of, write_facts
from flashsim.layouts import Layout
from flashsim.layouts.addressing import Piece
from flashsim.tokens.stream import CHUNK_TOKENS, TokenStream
from flashsim.trace_files import KIND, counts_of, facts_beside, steps_of
from flashsim.units import number_of

if TYPE_CHECKING:
    from flashsim.workloads import Workload

_FINGERPRINT_VALUES = 1 << 16  # at each end of a file


def pieces(
    stream: TokenStream,
    layout: Layout,
    *,
    unit: str = "page",
    begin: int = 0,
    end: int | None = None,
    backend: str = "c",
    size: int = CHUNK_TOKENS,
) -> Iterator[Piece]:
    """Yield the trace of tokens [begin, end) of ``stream`` through ``layout``, however long, ``size`` tokens at a
    time.

    A token emits its ids layer by layer, lowest order first, heads in order. N-grams reach back over ``begin`` as the
    text does, but never past what the layout says. The ids do not depend on ``backend`` or on how the pieces fall.
    """
    hashing = layout.addressing(unit, backend)
    for ids, context, starts in stream.chunks(hashing.context, begin, end, size):
        yield hashing(ids, context, starts[:0] if layout.across_documents else starts)


def trace_ids(
    stream: TokenStream,
    layout: Layout,
    *,
    unit: str = "page",
    begin: int = 0,
    end: int | None = None,
    backend: str = "c",
) -> np.ndarray:
    """The whole trace of tokens [begin, end) as one uint32 array, for what fits in memory; see :func:`pieces`."""
    parts = [piece.ids.copy() for piece in pieces(stream, layout, unit=unit, begin=begin, end=end, backend=backend)]
    return np.concatenate([np.zeros(0, np.uint32), *parts])


class Tally:
    """Counts over the tokens of a trace: how many there were, and how many lookups had to leave an order out.

    tokens: all of them. lookups: tokens with at least one order in reach. missing: by order, the tokens whose n-gram
    would have reached past its document's start.
    """

    def __init__(self, layout: Layout) -> None:
        self._orders = layout.orders
        self._by_reach = np.zeros(len(layout.orders) + 1, np.int64)

    def add(self, orders: np.ndarray) -> None:
        """Count tokens by their :attr:`Piece.orders`."""
        self._by_reach += np.bincount(orders, minlength=len(self._by_reach))

    @property
    def tokens(self) -> int:
        return int(self._by_reach.sum())

    @property
    def lookups(self) -> int:
        return int(self._by_reach[1:].sum())

    @property
    def missing(self) -> dict[int, int]:
        return {order: int(self._by_reach[: index + 1].sum()) for index, order in enumerate(self._orders)}


def window(source: "TokenStream | Trace", skip: int, tokens: int | None) -> tuple[int, int]:
    """[begin, end) of ``tokens`` tokens after the first ``skip``. Raises UsageError where none are left."""
    if not 0 <= skip < len(source):
        raise UsageError(
            f"--skip {skip}: {source.path or 'the stream'} has {number_of(len(source), 'token')}; skip fewer"
        )
    if tokens is not None and tokens < 1:
        raise UsageError(f"--tokens {tokens}: nothing to read; take 1 token or more")
    return skip, len(source) if tokens is None else min(skip + tokens, len(source))


def source_facts(stream: TokenStream) -> dict[str, Any]:
    """What a result has to say of the token stream that it was made from."""
    return {
        "name": stream.name,
        "path": str(stream.path) if stream.path else None,
        "sha256": sha256_of(stream.path) if stream.path else None,
        "format": stream.format,
        "tokens": len(stream),
        "boundary": stream.boundary,
        "starts_sha256": None if stream.starts is None else hashlib.sha256(stream.starts.tobytes()).hexdigest(),
        "synthetic": stream.synthetic,
        "vocabulary": stream.vocab_size,
        "uncertain": list(stream.uncertain),
    }


def layout_facts(layout: Layout) -> dict[str, Any]:
    """What a result has to say of its layout: the spec as given and the sizes that follow from it."""
    return {
        "label": layout.label,
        "spec": msgspec.to_builtins(layout.spec),
        "table_sizes": list(layout.sizes),
        "rows": layout.rows,
        "params": layout.params,
        "params_asked": layout.params_asked,
        "row_bytes": layout.row_bytes,
        "pages": layout.pages,
        "table_bytes": layout.table_bytes,
        "data_sha256": layout.data_sha256,
    }


def write_trace(
    path: str | Path,
    stream: TokenStream,
    layout: Layout,
    *,
    unit: str = "page",
    skip: int = 0,
    tokens: int | None = None,
    backend: str = "c",
    workload: "Workload | None" = None,
    progress: Callable[[int], None] = lambda tokens: None,
) -> dict[str, Any]:
    """Write the trace of ``tokens`` tokens after the first ``skip`` as ``path`` (.npy); return the facts in its JSON.

    workload: in which order they come, and which share their reads; then ``NAME.steps.npy`` has the tokens of each
    step. ``progress`` is called with the number of tokens done. Raises UsageError or DataError; then no file is left,
    and what stood there before stands.
    """
    path = Path(path)
    if path.suffix != ".npy":
        raise UsageError(f"{path}: a trace is 1 .npy file and a .json beside it: let -o end in .npy")
    refuse_inputs([path, path.with_suffix(".json"), counts_of(path), steps_of(path)], [stream.path])
    facts_path(path, KIND)
    begin, end = window(stream, skip, tokens)
    counts_path, tally = counts_of(path), Tally(layout)
    most = layout.addressing(unit, backend).ids_per_token
    steps_path, shared = steps_of(path), {"references": 0, "wasted_reads": 0}
    most *= 1 + workload.draft if workload else 1
    least, highest, count_dtype = most, 0, np.uint8 if most < 256 else np.uint16
    made = workload.steps if workload else pieces
    # the ids last: a disk that is full is told with their name
    with replacing(steps_path) as steps_file, replacing(counts_path) as counts_file, replacing(path) as ids_file:
        ids, counts = NpyWriter(ids_file, np.uint32), NpyWriter(counts_file, count_dtype)
        steps = NpyWriter(steps_file, np.uint32)
        for piece in made(stream, layout, unit=unit, begin=begin, end=end, backend=backend):
            ids.write(piece.ids)
            if workload:
                steps.write(np.diff(piece.ends, prepend=0).astype(np.uint32))
                shared["references"] += int(piece.references.sum(dtype=np.int64))
                shared["wasted_reads"] += int(piece.wasted.sum())
            counts.write(piece.counts.astype(count_dtype))
            least, highest = min(least, int(piece.counts.min())), max(highest, int(piece.counts.max()))
            tally.add(piece.orders)
            progress(len(piece.orders))
        ids.close(), counts.close(), steps.close()
        varies = least != highest or not highest  # a token that reads nothing is no lookup
        facts = {
            "kind": KIND,
            "unit": unit,
            "unit_bytes": layout.unit_bytes(unit),
            "page_bytes": layout.page_bytes,
            "ids": ids.count,
            "ids_below": layout.ids(unit),
            "tokens": tally.tokens,
            "skip": skip,
            "lookups": tally.lookups,
            "reads_per_token": None if varies else highest,
            "counts": counts_path.name if varies else None,
            "missing_lookups": tally.missing,
            "workload": workload and {"label": workload.label, "steps": steps.count} | asdict(workload) | shared,
            "backend": backend,
            "layout": layout_facts(layout),
            "fingerprint": _fingerprint(_written(ids_file, ids)),
            "counts_fingerprint": _fingerprint(_written(counts_file, counts)) if varies else None,
            "steps_fingerprint": _fingerprint(_written(steps_file, steps)) if workload else None,
            "source": source_facts(stream),  # reads the whole file: before anything is replaced
        }
    if not varies:
        counts_path.unlink()
    if not workload:
        steps_path.unlink()
    write_facts(path, facts)
    return facts


@dataclass(frozen=True)
class Trace:
    """A trace on disk, memory-mapped.

    ids: uint32, shape (reads,). counts: uint8 or uint16, shape (tokens,), reads of each token; None where it is
    ``facts["reads_per_token"]`` for all. steps: uint32, shape (steps,), tokens of each step of its workload; None
    where it has none. facts: the JSON beside it.
    """

    path: Path
    ids: np.ndarray
    counts: np.ndarray | None
    steps: np.ndarray | None
    facts: dict[str, Any]

    @classmethod
    def open(cls, path: str | Path) -> "Trace":
        """Open ``path`` (.npy) with the JSON and counts beside it. Raises DataError where they do not fit together."""
        path = Path(path)
        facts = facts_beside(path)
        if facts is None:
            raise DataError(f"{path}: no trace: {path.with_suffix('.json').name} (1 file) must stand beside it")
        ids, counts = _mapped(path), None
        if len(ids) != facts["ids"] or ids.dtype != np.uint32:
            raise DataError(f"{path}: {len(ids)} {ids.dtype} ids, its JSON says {facts['ids']} uint32: trace it again")
        if facts["reads_per_token"] is None:
            counts = _mapped(counts_of(path))
            if len(counts) != facts["tokens"] or counts.dtype not in (np.uint8, np.uint16):
                raise DataError(
                    f"{counts_of(path)}: {len(counts)} {counts.dtype} counts for {facts['tokens']} tokens: "
                    "trace it again"
                )
        steps = None
        if facts.get("workload"):
            steps = _mapped(steps_of(path))
            if steps.dtype != np.uint32 or int(steps.sum(dtype=np.int64)) != facts["tokens"]:
                raise DataError(
                    f"{steps_of(path)}: {len(steps)} {steps.dtype} steps that are not of {facts['tokens']} tokens: "
                    "trace it again"
                )
        trace = cls(path, ids, counts, steps, facts)
        if trace.reads_before(len(trace)) != len(ids):
            raise DataError(
                f"{path}: {len(ids)} ids for the {trace.reads_before(len(trace))} reads of {len(trace)} tokens: "
                "trace it again"
            )
        for part, held, of, key in (
            (path, ids, "ids", "fingerprint"),
            (counts_of(path), counts, "counts", "counts_fingerprint"),
            (steps_of(path), steps, "steps", "steps_fingerprint"),
        ):  # an older trace has not all of them
            if held is not None and facts.get(key) not in (None, _fingerprint(held)):
                raise DataError(f"{part}: its {len(held)} {of} are not the ones that its JSON is of: trace it again")
        return trace

    def __len__(self) -> int:
        """Tokens."""
        return self.facts["tokens"]

    def read(self, begin: int, end: int) -> np.ndarray:
        """uint32, contiguous: ``ids`` [begin, end). Raises DataError where one is not below what the JSON says."""
        ids, below = np.ascontiguousarray(self.ids[begin:end]), self.facts["ids_below"]
        if ids.max(initial=0) >= below:
            bad = int(np.argmax(ids >= below))
            raise DataError(
                f"{self.path}: id {begin + bad} is {ids[bad]}, its JSON says all are below {below}: trace it again"
            )
        return ids

    def reads_before(self, token: int) -> int:
        """Reads of the first ``token`` tokens: the position in ``ids`` at which the next token's begin."""
        if self.counts is None:
            return token * self.facts["reads_per_token"]
        return int(self.counts[:token].sum(dtype=np.int64))


def _written(file: BinaryIO, writer: NpyWriter) -> np.ndarray:
    """What ``writer`` has put into ``file``."""
    file.flush()
    shape, dtype = (writer.count,), writer.dtype
    return np.memmap(file, dtype, "r", NpyWriter.HEADER_BYTES, shape) if writer.count else np.zeros(0, dtype)


def _fingerprint(values: np.ndarray) -> str:
    """What ties a JSON to the ids, counts or steps of its trace: a digest of their number, the first and the last of
    them. A run that was killed between two renames leaves those of one trace with the JSON of another."""
    digest = hashlib.sha256(str(len(values)).encode())
    for part in (values[:_FINGERPRINT_VALUES], values[-_FINGERPRINT_VALUES:]):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def _mapped(path: Path) -> np.ndarray:
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except (OSError, ValueError, EOFError, TokenError) as error:
        reason = " ".join(str(error).split())
        raise DataError(f"{path}: cannot be read ({reason}); 0 ids taken: write the trace again") from None
    if array.ndim != 1:
        raise DataError(f"{path}: {array.ndim}-D, a trace is 1-D: write the trace again")
    return array
