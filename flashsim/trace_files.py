"""What stands beside a trace ``NAME.npy``: ``NAME.json``, which has a form, ``NAME.counts.npy`` where the reads a token
vary, and ``NAME.steps.npy`` where it is of a workload."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from flashsim.errors import DataError, UsageError
from flashsim.files import parse_json

KIND = "trace"  # in the JSON


def facts_beside(path: Path) -> dict[str, Any] | None:
    """The JSON of the trace ``path``, or None where ``path`` is not a trace."""
    if path.suffix != ".npy" or not os.path.isfile(beside := path.with_suffix(".json")):
        return None
    try:
        facts = parse_json(beside.read_bytes())
    except ValueError as error:
        raise DataError(f"{beside}: broken JSON ({error}): write the trace again") from None
    if not isinstance(facts, dict) or facts.get("kind") != KIND:
        return None
    try:
        msgspec.convert(facts, _Facts)
    except msgspec.ValidationError as error:
        raise DataError(f"{beside}: {error} (1 field wrong): write the trace again") from None
    return facts


class _Rows(msgspec.Struct):
    slots: int | None


class _Ngrams(msgspec.Struct):
    orders: Annotated[list[int], msgspec.Meta(min_length=1)]
    boundary: str | None = None


class _Spec(msgspec.Struct):
    name: str
    rows: _Rows
    ngrams: _Ngrams


class _LayoutFacts(msgspec.Struct):
    label: str
    params_asked: int
    spec: _Spec
    table_bytes: int


class _SourceFacts(msgspec.Struct):
    name: str
    synthetic: bool
    boundary: str | None = None


class _WorkloadFacts(msgspec.Struct):
    label: str
    references: int
    wasted_reads: int


class _Facts(msgspec.Struct):
    """What a trace's JSON has to hold for the trace to be used; the rest is for people."""

    ids: Annotated[int, msgspec.Meta(ge=0)]
    ids_below: Annotated[int, msgspec.Meta(ge=1, le=2**32)]
    tokens: Annotated[int, msgspec.Meta(ge=1)]
    lookups: Annotated[int, msgspec.Meta(ge=0)]
    unit: Literal["page", "row"]
    unit_bytes: Annotated[int, msgspec.Meta(ge=1)]
    reads_per_token: Annotated[int, msgspec.Meta(ge=0)] | None
    layout: _LayoutFacts
    source: _SourceFacts
    workload: _WorkloadFacts | None = None
    skip: Annotated[int, msgspec.Meta(ge=0)] = 0


def refuse_part(path: Path) -> None:
    """Raise UsageError where ``path`` is neither tokens nor ids, but what stands beside a trace."""
    for ending, held in ((".counts.npy", "reads of each token"), (".steps.npy", "tokens of each step")):
        if path.name.endswith(ending):
            trace = path.with_name(path.name.removesuffix(ending) + ".npy")
            if facts_beside(trace):
                raise UsageError(f"{path} holds the {held} of {trace.name}, 0 ids: leave it out, or give {trace.name}")


def without_parts(paths: Sequence[Path]) -> list[Path]:
    """``paths`` without what stands beside the traces among them: their counts and steps, which ``*.npy`` names too."""
    traces = [path for path in paths if facts_beside(path)]
    parts = {beside(path) for path in traces for beside in (counts_of, steps_of)}
    return [path for path in paths if path not in parts]


def counts_of(path: Path) -> Path:
    """Where the reads of each token of the trace ``path`` stand."""
    return path.with_suffix(".counts.npy")


def steps_of(path: Path) -> Path:
    """Where the tokens of each step of the trace ``path`` stand."""
    return path.with_suffix(".steps.npy")
