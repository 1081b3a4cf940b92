"""Benchmarks of the address kernels, against copying what they write or read."""

import numpy as np

from flashsim import layout
from flashsim.kernels import BACKENDS, backend
from flashsim.kernels.plan import FILLER, RESERVED, SUM, XOR, PlacePlan, TablePlan
from tests.bench.measure import interleaved

_ROWS = 1 << 24  # of one run


def addresses(stream, tokens: int, rounds: int) -> None:
    """Page ids of the report's layouts, rows of published tables, and pages of rows."""
    ids = stream.ids[:tokens].astype(np.uint32)
    starts = (
        np.flatnonzero(ids[:-1] == stream.eot).astype(np.int64) + 1 if stream.eot is not None else np.zeros(0, np.int64)
    )
    _layouts(ids, starts, rounds)
    _tables(ids, starts, rounds)
    _places(rounds)


def _layouts(ids: np.ndarray, starts: np.ndarray, rounds: int) -> None:
    print("| layout | back end | M tokens/s | M ids/s | copy, M ids/s | x copy |\n|---|---|---|---|---|---|")
    for name in ("pagegram", "flat", "engram"):
        plan = layout(name).plan()
        out = np.zeros(len(ids) * plan.ids_per_token, np.uint32)  # zeros, and touched by the uncounted round
        for kernel in BACKENDS:
            run = backend(kernel).mix_address
            count = run(plan, ids, 0, starts, out)
            sides = _against_copy(lambda run=run, plan=plan, out=out: run(plan, ids, 0, starts, out), out[:count])
            _row(name, kernel, rounds, sides, len(ids), count)


def _tables(ids: np.ndarray, starts: np.ndarray, rounds: int) -> None:
    print("\n| tables like | back end | M tokens/s | M rows/s | copy, M rows/s | x copy |\n|---|---|---|---|---|---|")
    for name, plan in _table_plans().items():
        some = ids[: _ROWS // plan.tables]
        inside = starts[starts < len(some)]
        out = np.zeros(len(some) * plan.tables, np.uint32)
        for kernel in BACKENDS:
            run = backend(kernel).table_rows
            sides = _against_copy(
                lambda run=run, plan=plan, some=some, inside=inside, out=out: run(plan, some, 0, inside, out), out
            )
            _row(f"{name}: {plan.tables} tables", kernel, rounds, sides, len(some), len(out))


def _table_plans() -> dict[str, TablePlan]:
    """The shapes of published tables; random multipliers, which cost what the published ones do."""
    rng = np.random.default_rng(0)

    def plan(orders, heads, size, op=XOR, word=64, missing=FILLER, alike=True):
        order = np.repeat(np.array(orders, np.uint32), heads)
        shape = (max(orders), len(order))
        multipliers = rng.integers(1, 2**46, (shape[0], 1) if alike else shape, np.uint64)
        reach = np.arange(shape[0])[:, None] < order
        modulus = np.arange(size, size + 2 * shape[1], 2, np.uint64)
        base = np.concatenate(([0], np.cumsum(modulus)[:-1])).astype(np.uint64)
        return TablePlan(
            op, word, missing, 2, np.where(reach, multipliers, 0).astype(np.uint64), modulus, base, order, order
        )

    return {
        "deepseek-v4.1": plan((2, 3, 4), 16, 16_000_057),
        "qwen3.8-flash-next": plan((2, 3), 8, 20_000_003),
        "longcat-flash-lite": plan((2, 3, 4), 4, 10_223_617, op=SUM, alike=False),
        "modded-nanogpt": plan((2, 3), 1, 42_301_439, word=32, missing=RESERVED, alike=False),
    }


def _places(rounds: int) -> None:
    print("\n| placement | back end | M rows/s | M pages/s | copy, M rows/s | x copy |\n|---|---|---|---|---|---|")
    columns, rows = 16, np.random.default_rng(0).integers(0, 320_000_000, _ROWS, np.uint32)
    out = np.zeros(2 * len(rows), np.uint32)
    for name, sizes in {"packed 264 B": [264], "planar 256 + 8 B": [256, 8]}.items():
        base = np.arange(len(sizes), dtype=np.int64)[:, None] * 2**37 + np.full(columns, 4096)
        size = np.array(sizes, np.uint64)
        plan = PlacePlan(base, size, size, 0, 0, 4096, 0, 1)
        for kernel in BACKENDS:
            run = backend(kernel).place
            pages = run(plan, rows, len(rows) // columns, out)
            sides = _against_copy(lambda run=run, plan=plan: run(plan, rows, len(rows) // columns, out), rows)
            _row(name, kernel, rounds, sides, len(rows), pages, len(rows))


def _against_copy(run, what: np.ndarray) -> dict:
    copied = np.zeros_like(what)
    return {"kernel": run, "copy": lambda: np.copyto(copied, what)}


def _row(name: str, kernel: str, rounds: int, sides: dict, items: int, written: int, copied: int | None = None) -> None:
    taken = interleaved(rounds if kernel == "c" else 3, **sides)
    ratio = taken["copy"].median / taken["kernel"].median
    print(
        f"| {name} | {kernel} | {taken['kernel'].rate(items)} | {taken['kernel'].rate(written)} | "
        f"{taken['copy'].rate(copied or written)} | {ratio:.2f} |",
        flush=True,
    )
