"""The target of a replay: opened, checked against the traces that are to be read from it, and an engine chosen."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from flashsim.device.checks import FLAG, check, require
from flashsim.device.engines import choose
from flashsim.device.machine import moved_bytes
from flashsim.device.reads import fold_of
from flashsim.device.target import Target
from flashsim.errors import UsageError
from flashsim.studies.replay import Medium
from flashsim.studies.replay_reads import touched_pages
from flashsim.studies.replay_sample import Flag
from flashsim.trace import Trace

VERIFY = {"none": 0, "sample": 64, "all": 1}  # the stamp of every n-th read is checked
_NAMES = {"direct I/O": "buffered", "host": "virtual", "fold": "folded", "page cache": "cached"}  # of flags, in results


def medium_of(
    target: Target, traces: Sequence[Trace], *, engine: str, base: int, fold: bool, verify: str | None
) -> tuple[Medium, dict[str, Any]]:
    """(where the reads go, facts of it). verify: of VERIFY, None = "sample" where the target's pages have stamps.

    Raises DataError where the target is refused, UsageError where a wish cannot be met.
    """
    page_bytes = traces[0].facts["unit_bytes"]
    if other := [trace for trace in traces if trace.facts["unit_bytes"] != page_bytes]:
        sizes = f"pages of {page_bytes} and {other[0].facts['unit_bytes']} B"
        raise UsageError(f"{other[0].path}: {sizes} in one run: replay traces of 1 page size at a time")
    pages = reduce(np.union1d, [touched_pages(trace) for trace in traces])
    below = max(trace.facts["ids_below"] for trace in traces)
    modulo = fold_of(target.size, below, page_bytes, base) if fold else 0
    findings = check(target, pages=pages, page_bytes=page_bytes, base=base, fold=modulo)
    require(findings)
    flags = [
        Flag(_NAMES.get(each.name, each.name), None, each.text)
        for each in findings
        if each.severity == FLAG and each.name != "load"  # of each point it is measured
    ]
    taken, why = choose(engine, target.fd, page_bytes, base)
    every = _verify(verify, target, taken)
    number = target.disk.number if target.disk else ""
    medium = Medium(
        target.fd, str(target.path), taken, base, modulo, every, target.seed or 0, tuple(flags), target.changed,
        lambda: moved_bytes(number),
    )  # fmt: skip
    facts = {
        "target": {
            "path": str(target.path.absolute()),
            "kind": target.kind,
            "bytes": target.size,
            "buffered": target.buffered,
            "file_system": target.file_system,
            "memory_align": target.direct.memory_align,
            "offset_align": target.direct.offset_align,
            "align_source": target.direct.source,
            "disk": vars(target.disk) if target.disk else None,
            "stamp_seed": target.seed,
            "base": base,
            "fold_pages": modulo,
            "touched_pages": len(pages),
            "table_pages": below,
        },
        "checks": [finding._asdict() for finding in findings],
        "engine": {"asked": engine, "taken": taken, "why": why},
        "verify_every": every,
    }
    return medium, facts


def _verify(asked: str | None, target: Target, engine: str) -> int:
    if asked is None:
        return VERIFY["sample"] if target.seed is not None and engine != "null" else 0
    if VERIFY[asked] and target.seed is None:
        raise UsageError(f"--verify {asked}: page 0 of {target.path} has no stamp: write it with `replay prepare`")
    return VERIFY[asked]
