"""Benchmarks, off by default: ``python -m tests.bench NAME... [--corpus FILE] [--tokens N] [--rounds R]``, for policies
``[--capacities PAGES,...]``, and ``python -m tests.bench replay|model --target FILE`` with a fully written file on the
drive.

Every figure is a ratio to a peer in the same run, in CPU seconds of one core, rounds interleaved; the tables go to
stdout as Markdown. The corpus is the demo corpus unless a token file is given.
"""

import argparse
import os
import tempfile
import zlib
from pathlib import Path

import numpy as np

from flashsim import layout, open_tokens, trace_ids
from flashsim.cache.engine import sweep_of
from flashsim.cache.lru import LruSweep
from flashsim.kernels import backend
from flashsim.units import parse_count
from tests.bench import peers
from tests.bench.addresses import addresses
from tests.bench.drive import drive
from tests.bench.measure import interleaved, machine
from tests.bench.model import DEPTHS, model
from tests.bench.plans import plans
from tests.bench.replay import replay
from tests.bench.workloads import workloads


def lru(stream, tokens: int, rounds: int) -> None:
    """LRU at twelve capacities in one pass and at one, against libCacheSim, one capacity after the other, and against
    the floor: reading and writing one word a reference."""
    made, trace = _trace(stream, tokens)
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
        peer = interleaved(1, warm=False, peer=theirs)["peer"]  # minutes; its own repeats would say little
        library = peers.compiled(Path(folder), "gather.c")
        one = interleaved(
            rounds,
            c=lambda: ours("c", [65536]),
            numba=lambda: ours("numba", [65536]),
            floor=lambda: peers.gather(library, trace, made.pages),
        )
        ours("c", capacities), ours("numba", capacities)
    assert results["c"] == results["numba"] == results["libcachesim"], results
    print(f"\n{len(trace):,} references of pagegram-S4-20B over {made.pages:,} pages; equal misses at 12 capacities\n")
    print("| what | CPU s | ns a reference | M references/s | x libCacheSim |\n|---|---|---|---|---|")
    single = peer.median / 12  # seconds of one capacity
    rate = f"{len(trace) / single / 1e6:.1f} each"
    print(f"| libCacheSim, 12 capacities | {peer.median:.1f} | {single / len(trace) * 1e9:.0f} each | {rate} | 1 |")
    rows = [(f"{name}, 12 capacities in one pass", timing, peer.median) for name, timing in taken.items()]
    rows += [(name if name == "floor" else f"{name}, one capacity", timing, single) for name, timing in one.items()]
    for name, timing, seconds in rows:
        each = f"{timing.median / len(trace) * 1e9:.2f}"
        ratio = f"{seconds / timing.median:,.0f}"
        print(f"| {name} | {timing.median:.3f} | {each} | {timing.rate(len(trace))} | {ratio} |")


def curve(stream, tokens: int, rounds: int) -> None:
    """LRU at every capacity against a Fenwick tree in C."""
    made, trace = _trace(stream, tokens)
    with tempfile.TemporaryDirectory() as folder:
        library = peers.compiled(Path(folder), "fenwick.c")
        results = {}

        def ours(kernel: str) -> None:
            stack = backend(kernel).StackDistances(made.pages)
            stack.run(trace)
            results[kernel] = stack.histogram

        def fenwick() -> None:
            results["fenwick"] = peers.fenwick(library, trace, made.pages)

        taken = interleaved(max(3, rounds // 3), c=lambda: ours("c"), numba=lambda: ours("numba"), fenwick=fenwick)
        assert all((histogram == results["c"]).all() for histogram in results.values())
    print(f"\nevery capacity, {len(trace):,} references of pagegram-S4-20B; equal histograms\n")
    print("| what | CPU s | M references/s | x Fenwick |\n|---|---|---|---|")
    for name, timing in taken.items():
        ratio = taken["fenwick"].median / timing.median
        print(f"| {name} | {timing.median:.3f} | {timing.rate(len(trace))} | {ratio:.1f} |")


# our name -> libCacheSim's, and its options
_PEERS = {
    "lru": ("LRU", {}), "fifo": ("FIFO", {}), "clock": ("Clock", {}), "clock2": ("Clock", {"n_bit_counter": 2}),
    "sieve": ("Sieve", {}), "s3fifo": ("S3FIFO", {}), "slru": ("SLRU", {}), "2q": ("TwoQ", {}), "arc": ("ARC", {}),
    "lfu": ("LFU", {}), "wtinylfu": ("WTinyLFU", {}), "random": ("Random", {}), "min": ("Belady", {}),
}  # fmt: skip


def policies(stream, tokens: int, rounds: int, capacities: list[int]) -> None:
    """Every policy at each of ``capacities`` against libCacheSim's, on the page trace and on a Zipf one."""
    made, trace = _trace(stream, tokens)
    rng = np.random.default_rng(0)
    ranks = np.exp(np.log(made.pages) * rng.random(len(trace))).astype(np.uint32)  # Zipf, exponent 1
    zipf = rng.permutation(made.pages).astype(np.uint32)[ranks % made.pages]
    print(f"\n{len(trace):,} references over {made.pages:,} pages: pagegram-S4-20B, and Zipf (exponent 1)\n")
    print(
        "| policy | trace | pages | C, M/s | numba, M/s | libCacheSim, M/s | C x | numba x | misses |\n"
        + "|---" * 9
        + "|"
    )
    with tempfile.TemporaryDirectory() as folder:
        for name, ids in (("page trace", trace), ("Zipf", zipf)):
            path = Path(folder) / "trace.oracleGeneral"
            peers.write_oracle_general(path, ids)
            for policy, (peer, options) in _PEERS.items():
                for capacity in capacities:
                    _policy_row(policy, peer, options, name, ids, path, capacity, made.pages, max(1, rounds // 3))


def _policy_row(policy, peer, options, name, ids, path, capacity, pages, rounds) -> None:
    results = {}

    def ours(kernel: str) -> None:
        sweep = sweep_of(policy, [capacity], pages, kernel)
        sweep.run(ids)
        results[kernel] = int(sweep.misses[0])

    def theirs() -> None:
        results["peer"] = peers.misses(path, peer, capacity, len(ids), **options)

    taken = interleaved(rounds, c=lambda: ours("c"), numba=lambda: ours("numba"))
    once = interleaved(1, warm=False, peer=theirs)["peer"]
    assert results["c"] == results["numba"]
    equal = "equal" if results["peer"] == results["c"] else f"{results['c'] / results['peer'] - 1:+.2%}"
    speeds = " | ".join(f"{len(ids) / timing.median / 1e6:.1f}" for timing in (*taken.values(), once))
    ratios = " | ".join(f"{once.median / timing.median:.0f}" for timing in taken.values())
    print(f"| {policy} | {name} | {capacity:,} | {speeds} | {ratios} | {equal} |", flush=True)


def stamps(stream, tokens: int, rounds: int) -> None:
    """Filling and checking stamped pages, against copying them and against zlib's CRC-32 of them."""
    block = np.zeros(64 << 20, np.uint8)
    other, kernels = np.zeros_like(block), backend("c")
    taken = interleaved(
        rounds,
        fill=lambda: kernels.stamp_fill(block, 0, 1),
        check=lambda: kernels.stamp_check(block, 0, 1),
        copy=lambda: np.copyto(other, block),
        crc=lambda: zlib.crc32(block),
    )
    print("| 64 MiB of stamps | GB/s | x copy | x CRC-32 |\n|---|---|---|---|")
    for name in ("fill", "check"):
        ratios = (f"{taken[peer].median / taken[name].median:.2f}" for peer in ("copy", "crc"))
        print(f"| {name} | {taken[name].rate(len(block) // 1000)} | {' | '.join(ratios)} |")


def _trace(stream, tokens: int) -> tuple:
    """The layout pagegram at 20 B and its page trace of the first ``tokens`` tokens."""
    made = layout("pagegram")
    return made, trace_ids(stream, made, end=min(tokens, len(stream)))


BENCHMARKS = {
    "addresses": addresses, "lru": lru, "curve": curve, "policies": policies, "stamps": stamps, "drive": drive,
    "workloads": workloads, "plans": plans,
}  # fmt: skip


def _counts(text: str) -> list[int]:
    return [parse_count(part) for part in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument(
        "names", nargs="*", default=list(BENCHMARKS), help=f"of {', '.join(BENCHMARKS)}; or replay, or model"
    )
    parser.add_argument("--corpus", type=Path, help="token file (default: the demo corpus)")
    parser.add_argument("--tokens", type=parse_count, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=9, help="(policies take a third)")
    parser.add_argument(
        "--target", type=Path, help="for replay and model: a fully written file on the drive, 4 GiB or more"
    )
    parser.add_argument("--depths", type=_counts, default=DEPTHS, help="of model: reads in flight, with commas")
    parser.add_argument(
        "--capacities",
        type=_counts,
        default=[16_384, 262_144],
        help="of policies: pages, with commas (default: 16384,262144)",
    )
    options = parser.parse_args()
    on_drive = options.names in (["replay"], ["model"])
    if on_drive and options.target is None:
        parser.error(f"{options.names[0]} needs a file on the drive: --target FILE, fully written, 4 GiB or more")
    if options.names == ["replay"]:
        print(f"{machine()}\n")
        replay(options.target, options.rounds)
        return
    if options.corpus is None:
        from flashsim.corpora.demo import demo_corpus

        options.corpus = demo_corpus()
    stream = open_tokens(options.corpus)
    if on_drive:
        print(f"{machine()}; {options.corpus.name}, {options.tokens:,} tokens\n")
        model(options.target, stream, options.tokens, options.rounds, options.depths)
        return
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    print(f"{machine()}; {options.corpus.name}, {options.tokens:,} tokens, {options.rounds} rounds, one core\n")
    for name in options.names:
        more = [options.capacities] if name == "policies" else []
        BENCHMARKS[name](stream, options.tokens, options.rounds, *more)


if __name__ == "__main__":
    main()
