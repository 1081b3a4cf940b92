"""Workloads: what order and sharing cost beside the plain trace, and sharing alone against numpy's ``unique``."""

import numpy as np

from flashsim import layout, trace_ids
from flashsim.kernels.weave import Weaver
from flashsim.trace import pieces
from flashsim.workloads import Workload
from tests.bench.measure import interleaved

WORKLOADS = (Workload(1), Workload(8), Workload(64), Workload(0, 2048), Workload(8, 512, 0.8))
CHUNK = 2048  # tokens


def workloads(stream, tokens: int, rounds: int) -> None:
    """References a second before sharing; addresses are part of it, but for the last table."""
    tokens = min(tokens, len(stream))
    print("| references of engram-20B, M/s | C | numba | C, plain trace = 1 |\n|---|---|---|---|")
    made = layout("engram")
    count = len(trace_ids(stream, made, end=tokens))

    def passes(one: Workload | None, backend: str) -> None:
        for _ in (one.steps if one else pieces)(stream, made, end=tokens, backend=backend):
            pass

    names = ["plain", *(one.label for one in WORKLOADS)]
    for name, one in zip(names, (None, *WORKLOADS), strict=True):
        taken = interleaved(
            rounds, c=lambda one=one: passes(one, "c"), numba=lambda one=one: passes(one, "numba"),
            plain=lambda: passes(None, "c"),
        )  # fmt: skip
        ratio = taken["plain"].median / taken["c"].median
        print(f"| {name} | {taken['c'].rate(count)} | {taken['numba'].rate(count)} | {ratio:.2f} |", flush=True)
    print(f"\n| sharing alone, chunks of {CHUNK:,} tokens | M references/s | x numpy.unique |\n|---|---|---|")
    whole = CHUNK * (tokens // CHUNK)
    ids, counts = trace_ids(stream, made, end=whole), np.concatenate(
        [piece.counts.copy() for piece in pieces(stream, made, end=whole)]
    )  # fmt: skip
    ends = np.arange(CHUNK, whole + 1, CHUNK)
    cuts = np.cumsum(counts, dtype=np.int64)[ends - 1][:-1]
    results = {}

    def ours(backend: str) -> None:
        results[backend] = int(Weaver(backend)(ids, counts, None, ends)[1].sum(dtype=np.int64))

    def numpy() -> None:
        results["numpy"] = sum(len(np.unique(part)) for part in np.split(ids, cuts))

    taken = interleaved(rounds, c=lambda: ours("c"), numba=lambda: ours("numba"), numpy=numpy)
    assert len(set(results.values())) == 1, results
    for name in ("c", "numba", "numpy"):
        print(f"| {name} | {taken[name].rate(len(ids))} | {taken['numpy'].median / taken[name].median:.1f} |")
