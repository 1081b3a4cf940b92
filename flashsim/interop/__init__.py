"""Traces of other tools: one module a format, out (:func:`export`) and in (:func:`read_trace`).

A format is a module with NAME and SUFFIXES; ``write(file, export, progress)`` where it can be written; ``sniff(source)
-> bool`` and ``read(source, ignore_size) -> Accesses`` where it can be read. A new one is that module and its row in
FORMATS. Every object is one page: other sizes are refused, or ignored where the user says so.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from flashsim.errors import DataError, UsageError
from flashsim.files import replacing, same_name
from flashsim.interop import fio, npy, oracle_general, text
from flashsim.interop.exchange import Export
from flashsim.tokens.source import opened
from flashsim.trace import Trace

FORMATS = (npy, text, oracle_general, fio)  # asked in this order: printable bytes can pass for binary records
WRITERS = {module.NAME: module for module in FORMATS if hasattr(module, "write")}
READERS = {module.NAME: module for module in FORMATS if hasattr(module, "read")}
# what --to and --export take, .zst added or not -> (format, the ending of the file's name)
KINDS = {suffix.removeprefix("."): (name, suffix) for name, module in WRITERS.items() for suffix in module.SUFFIXES} | {
    name: (name, module.SUFFIXES[0]) for name, module in WRITERS.items()
}
_ZST = ".zst"
_STEP = 1 << 22  # references checked at a time


def export_path(trace: str | Path, kind: str) -> Path:
    """Where a trace (.npy) goes as ``kind`` (of KINDS, with .zst or not): beside it. Raises UsageError for others."""
    _, suffix = _format_of(kind)
    if Path(trace).suffix != ".npy":
        raise UsageError(f"{trace}: a trace is 1 .npy file and a .json beside it: let its name end in .npy")
    return Path(trace).with_suffix(suffix + (_ZST if kind.endswith(_ZST) else ""))


def _format_of(kind: str) -> tuple[str, str]:
    if (plain := kind.removesuffix(_ZST)) not in KINDS:
        raise UsageError(f"{kind!r} is none of the {len(KINDS)} kinds {', '.join(KINDS)}, or one of them with {_ZST}")
    return KINDS[plain]


def check_export(kind: str, unit: str, target: str = "target") -> None:
    """Raise UsageError where a trace of ``unit`` cannot be written as ``kind``, or fio cannot read ``target``."""
    if _format_of(kind)[0] == fio.NAME:
        if unit != "page":
            raise UsageError(f"{kind}: 1 read of fio is 1 page, this trace is of {unit}s: trace it with --unit page")
        fio.check_target(target)


def export_trace(
    trace: Trace,
    kind: str,
    output: str | Path | None = None,
    target: str = "target",
    progress: Callable[[int], None] = lambda references: None,
) -> Path:
    """Write ``trace`` as ``kind`` (of KINDS, with .zst or not) to ``output``, else beside it; returns where.

    Packed where the name ends in .zst. target: the file name that fio's iolog gives to the drive. Raises UsageError for
    what cannot be written, DataError for a trace that breaks what its JSON says; then nothing is left.
    """
    check_export(kind, trace.facts["unit"], target)
    path = export_path(trace.path, kind) if output is None else Path(output)
    if kind.endswith(_ZST) and path.suffix != _ZST:
        raise UsageError(f"{path}: {kind} is packed, so 1 thing is missing: let -o end in {_ZST}, or drop it from it")
    _keep(trace, path)
    export(path, _format_of(kind)[0], trace.ids, trace.facts["ids_below"], trace.facts["unit_bytes"], target, progress)
    return path


def _keep(trace: Trace, path: Path) -> None:
    """Refuse to write over the trace itself."""
    own = [trace.path, *(trace.path.with_suffix(suffix) for suffix in (".json", ".counts.npy", ".steps.npy"))]
    if any(same_name(path, name) for name in own):
        raise UsageError(f"{path} is of the trace itself (1 name, 2 meanings): choose another -o")


def export(
    path: str | Path,
    format: str,
    pages: np.ndarray,
    below: int,
    page_bytes: int = 4096,
    target: str = "target",
    progress: Callable[[int], None] = lambda references: None,
) -> None:
    """Write ``pages`` (uint32, in access order, each below ``below``) as ``format``, one of WRITERS, to ``path``.

    Packed where ``path`` ends in .zst. ``progress`` is told the references that each step wrote. Raises UsageError for
    another format, too many references or a path that cannot be written, DataError for an id that is not below.
    """
    if format not in WRITERS:
        raise UsageError(f"{format!r} is none of the {len(WRITERS)} formats to write: {', '.join(WRITERS)}")
    for at in range(0, len(pages), _STEP):
        if (ids := pages[at : at + _STEP]).max() >= below:
            bad = at + int(np.argmax(ids >= below))
            raise DataError(f"{path}: id {bad} is {pages[bad]}, all should be below {below}: trace it again")
    made = Export(pages, below, page_bytes, target)
    with replacing(path) as file:
        if Path(path).suffix != _ZST:
            WRITERS[format].write(file, made, progress)
            return
        import zstandard

        with zstandard.ZstdCompressor().stream_writer(file, closefd=False) as packed:
            WRITERS[format].write(packed, made, progress)


@dataclass(frozen=True)
class Foreign:
    """A trace that another tool made, memory-mapped. ids, object_bytes, notes: see :class:`exchange.Accesses`."""

    path: Path
    format: str
    ids: np.ndarray
    object_bytes: int | None
    notes: tuple[str, ...]


def read_trace(path: str | Path, format: str | None = None, ignore_size: bool = False) -> Foreign:
    """The trace ``path``, packed as .zst or not, told by its content unless ``format``, one of READERS, says.

    Raises UsageError for another format, DataError where the file is not such a trace, is empty, or has objects of
    several sizes and ``ignore_size`` is not set.
    """
    if format is not None and format not in READERS:
        raise UsageError(f"{format!r} is none of the {len(READERS)} formats to read: {', '.join(READERS)}")
    with opened(Path(path)) as source:
        if source.size == 0:
            raise source.error("0 bytes: give a trace of 1 reference or more")
        module = READERS[format] if format else next((m for m in READERS.values() if m.sniff(source)), None)
        if module is None:
            raise source.error(f"none of the {len(READERS)} formats {', '.join(READERS)}: name it with --trace-format")
        held = module.read(source, ignore_size)
    if len(held.ids) == 0:
        raise DataError(f"{path}: 0 references in it: give a trace of 1 or more")
    return Foreign(Path(path), module.NAME, *held)
