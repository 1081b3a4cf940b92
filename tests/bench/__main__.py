"""Benchmarks, off by default: ``python -m tests.bench NAME... [--corpus FILE] [--tokens N] [--rounds R]``.

Every figure is a ratio to a peer in the same run, in CPU seconds of one core, rounds interleaved; the tables go to
stdout as Markdown. The corpus is the demo corpus unless a token file is given.
"""

import argparse
import os
import tempfile
from pathlib import Path

import numpy as np

from flashsim import layout, open_tokens, pieces
from flashsim.cache.lru import LruSweep
from flashsim.kernels import backend
from tests.bench import peers
from tests.bench.measure import interleaved, machine


def addresses(stream, tokens: int, rounds: int) -> None:
    """Address kernels against copying the trace that they write."""
    ids = stream.ids[:tokens].astype(np.uint32)
    starts = (
        np.flatnonzero(ids[:-1] == stream.eot).astype(np.int64) + 1 if stream.eot is not None else np.zeros(0, np.int64)
    )
    print("| layout | back end | M tokens/s | M ids/s | copy, M ids/s | x copy |\n|---|---|---|---|---|---|")
    for name in ("pagegram", "flat", "engram"):
        plan = layout(name).plan()
        out = np.zeros(len(ids) * plan.ids_per_token, np.uint32)  # zeros, and touched by the uncounted round
        copied = np.zeros_like(out)
        for kernel in ("c", "numba"):
            run = backend(kernel).mix_address
            count = run(plan, ids, 0, starts, out)
            taken = interleaved(
                rounds if kernel == "c" else 3,
                kernel=lambda run=run, plan=plan, out=out: run(plan, ids, 0, starts, out),
                copy=lambda out=out, copied=copied, count=count: np.copyto(copied[:count], out[:count]),
            )
            ratio = taken["copy"].median / taken["kernel"].median
            print(
                f"| {name} | {kernel} | {taken['kernel'].rate(len(ids))} | {taken['kernel'].rate(count)} | "
                f"{taken['copy'].rate(count)} | {ratio:.2f} |"
            )


def lru(stream, tokens: int, rounds: int) -> None:
    """Twelve LRU capacities in one pass against libCacheSim, one capacity after the other."""
    made = layout("pagegram")
    trace = np.concatenate([piece.ids.copy() for piece in pieces(stream, made, end=min(tokens, len(stream)))])
    capacities = [4096 << step for step in range(10)] + [3_000_000, 3_255_210]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.oracleGeneral"
        peers.write_oracle_general(path, trace)
        results: dict[str, list[int]] = {}

        def ours(kernel: str, sizes: list[int]) -> None:
            sweep = LruSweep(sizes, made.pages, kernel)
            sweep.run(trace)
            results[kernel] = sweep.misses.tolist()

        def theirs() -> None:
            results["libcachesim"] = [peers.misses(path, "LRU", size, len(trace)) for size in capacities]

        taken = interleaved(rounds, c=lambda: ours("c", capacities), numba=lambda: ours("numba", capacities))
        peer = interleaved(1, peer=theirs)["peer"]  # minutes; its own repeats would say little
        one = interleaved(rounds, c=lambda: ours("c", [65536]), numba=lambda: ours("numba", [65536]))
        ours("c", capacities), ours("numba", capacities)
    assert results["c"] == results["numba"] == results["libcachesim"], results
    print(f"\n{len(trace):,} references of pagegram-S4-20B over {made.pages:,} pages; equal misses at 12 capacities\n")
    print("| what | CPU s | M references/s | x libCacheSim |\n|---|---|---|---|")
    print(
        f"| libCacheSim LRU, 12 capacities | {peer.median:.1f} | {12 * len(trace) / peer.median / 1e6:.2f} each | 1 |"
    )
    for name, timing in taken.items():
        ratio = peer.median / timing.median
        print(f"| {name}, 12 capacities in one pass | {timing.median:.3f} | {timing.rate(len(trace))} | {ratio:,.0f} |")
    for name, timing in one.items():
        ratio = peer.median / 12 / timing.median
        print(f"| {name}, one capacity | {timing.median:.3f} | {timing.rate(len(trace))} | {ratio:,.0f} |")


BENCHMARKS = {"addresses": addresses, "lru": lru}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("names", nargs="*", default=list(BENCHMARKS), help=f"of {', '.join(BENCHMARKS)}")
    parser.add_argument("--corpus", type=Path, help="token file (default: the demo corpus)")
    parser.add_argument("--tokens", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    if options.corpus is None:
        from flashsim.corpora.demo import demo_corpus

        options.corpus = demo_corpus()
    stream = open_tokens(options.corpus)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    print(f"{machine()}; {options.corpus.name}, {options.tokens:,} tokens, {options.rounds} rounds, one core\n")
    for name in options.names:
        BENCHMARKS[name](stream, options.tokens, options.rounds)


if __name__ == "__main__":
    main()
