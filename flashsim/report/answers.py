"""What a result says in words: the caches that a curve was asked for, and what a plan found to bind."""

from collections.abc import Iterator
from typing import Any

import msgspec

from flashsim.studies.verdict import Bound, Doubling, Slack, bounds_told, cost_told, doublings_told
from flashsim.units import format_bytes


class _Cache(msgspec.Struct):
    reads_per_token: float
    cache_bytes: int | None


class _Curve(msgspec.Struct):
    corpus: str
    label: str
    workload: str
    targets: list[_Cache]
    first_touches_per_token: float | None = None
    doublings: list[Doubling] = []
    knee: _Cache | msgspec.UnsetType | None = msgspec.UNSET  # a sampled curve does not say


class _Curves(msgspec.Struct):
    curves: list[_Curve]


class _Load(msgspec.Struct):
    reads_per_token: float
    tokens_per_s: float | None
    binds: list[Bound]


class _Plan(msgspec.Struct):
    loads: dict[str, _Load]
    slack: list[Slack] = []
    compute_us: float | None = None
    stall_us: float | None = None


def answers(facts: dict[str, Any]) -> Iterator[str]:
    """The answers in ``facts``, a result's JSON, a line each; none where it has none, or not in these forms."""
    form, lines = _FORMS.get(facts["kind"], (None, None))
    if form is None:
        return
    try:
        held = msgspec.convert(facts, form)
    except msgspec.ValidationError:
        return
    yield from lines(held)


def _of_curves(held: _Curves) -> Iterator[str]:
    workloads = {curve.workload for curve in held.curves}
    for curve in held.curves:
        names = [curve.corpus, curve.label, *([curve.workload] if len(workloads) > 1 else [])]
        reached = [f"{_reads(target)} {_with(target.cache_bytes)}" for target in curve.targets]
        if isinstance(knee := curve.knee, _Cache):
            reached.append(f"knee at {_reads(knee)} {_with(knee.cache_bytes)}")
        elif knee is None:
            reached.append("no knee")
        yield f"{' '.join(names)}: {'; '.join(reached)}"
        if any(target.cache_bytes is None for target in curve.targets) and curve.first_touches_per_token is not None:
            yield f"out of reach: first touches alone are {curve.first_touches_per_token:.4g}; a longer text has fewer"
        if curve.doublings:
            yield doublings_told(curve.doublings)


def _reads(cache: _Cache) -> str:
    return f"{cache.reads_per_token:.4g} reads/token"


def _with(size: int | None) -> str:
    if size is None:
        return "out of reach"
    return f"with {format_bytes(size)}" if size else "without a cache"


def _of_plan(held: _Plan) -> Iterator[str]:
    for name, load in held.loads.items():
        most = "" if load.tokens_per_s is None else f", at most {load.tokens_per_s:,.0f} tokens/s"
        yield f"{name}: {load.reads_per_token:.4g} reads/token{most}; {bounds_told(load.binds)}"
    if held.compute_us and held.stall_us is not None and held.loads:
        first = next(iter(held.loads.values()))
        yield cost_told(held.compute_us, held.stall_us, first.reads_per_token)
    for one in held.slack:
        yield one.told()


_FORMS = {"curve": (_Curves, _of_curves), "plan": (_Plan, _of_plan)}  # by kind of result
