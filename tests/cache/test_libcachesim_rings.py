"""CLOCK, SIEVE, S3-FIFO, segmented LRU and random replacement against libCacheSim: equal misses, and where not, why."""

import numpy as np
import pytest
from bench import peers

from flashsim.cache.engine import PolicySweep

pytest.importorskip("libcachesim")

PEERS = {
    "clock": ("Clock", {}),
    "clock2": ("Clock", {"n_bit_counter": 2}),
    "sieve": ("Sieve", {}),
    "s3fifo": ("S3FIFO", {}),
    "slru": ("SLRU", {}),
}
CAPACITIES = dict.fromkeys(PEERS, (1, 10, 100, 1000, 4099)) | {
    "s3fifo": (20, 29, 101, 1000, 4099),  # from 20 pages on: see flashsim/cache/s3fifo.py
    "slru": (4, 20, 100, 1000, 4096),  # multiples of 4: see flashsim/cache/slru.py
}
PAGES = 20_000


def skewed() -> np.ndarray:
    """150,000 draws by Zipf's law of exponent 0.9 over 20,000 pages."""
    rng = np.random.default_rng(5)
    shares = np.cumsum(1 / np.arange(1, PAGES + 1) ** 0.9)
    return rng.permutation(PAGES)[np.searchsorted(shares / shares[-1], rng.random(150_000))]


def adversarial() -> np.ndarray:
    """Loops a bit larger than the caches, a hot set under a scan, a short loop, then no locality at all."""
    rng = np.random.default_rng(6)
    scan = np.where(rng.random(40_000) < 0.6, rng.integers(0, 300, 40_000), 2000 + np.arange(40_000) % 9000)
    loops = [np.tile(np.arange(size), 9) for size in (30, 120, 1100, 4200)]
    return np.concatenate([*loops, scan, np.tile(np.arange(90), 60), rng.integers(0, 12_000, 30_000), scan[::-1]])


@pytest.fixture(scope="module", params=[skewed, adversarial])
def trace(request, tmp_path_factory):
    """The trace, and the file from which libCacheSim reads it."""
    ids = request.param().astype(np.uint32)
    path = tmp_path_factory.mktemp("traces") / f"{request.param.__name__}.oracleGeneral"
    peers.write_oracle_general(path, ids)
    return ids, path


def ours(policy: str, ids, capacities) -> list[int]:
    sweep = PolicySweep(policy, capacities, PAGES)
    sweep.run(np.asarray(ids, np.uint32))
    sweep.check()
    return sweep.misses.tolist()


def theirs(name: str, path, count: int, capacity: int, **options) -> int:
    return peers.misses(path, name, capacity, count, hashpower=16, **options)


@pytest.mark.parametrize("policy", PEERS)
def test_equal_misses(policy, trace):
    ids, path = trace
    name, options = PEERS[policy]
    wanted = [theirs(name, path, len(ids), capacity, **options) for capacity in CAPACITIES[policy]]
    assert ours(policy, ids, CAPACITIES[policy]) == wanted


@pytest.mark.parametrize("capacity", [10, 100, 1000, 4099])
def test_random_within_two_percent(capacity, trace):
    """Another generator, and libCacheSim's choice is not quite uniform: see flashsim/cache/random.py."""
    ids, path = trace
    wanted = theirs("Random", path, len(ids), capacity)
    assert abs(ours("random", ids, [capacity])[0] - wanted) < 0.02 * wanted


@pytest.fixture
def both(tmp_path):
    """A function of policy, its name in libCacheSim, trace and capacity: our misses and theirs."""

    def misses(policy, name, ids, capacity):
        peers.write_oracle_general(tmp_path / "trace", np.array(ids, np.uint32))
        return ours(policy, ids, [capacity])[0], theirs(name, tmp_path / "trace", len(ids), capacity)

    return misses


def test_s3fifo_libcachesim_caches_nothing_where_small_is_one_page(both):
    assert both("s3fifo", "S3FIFO", [5, 5, 5], 19) == (1, 3)
    assert both("s3fifo", "S3FIFO", [5, 5, 5], 20) == (1, 1)


def test_slru_libcachesim_evicts_at_a_hit_where_four_does_not_divide_the_capacity(both):
    """Five pages in a cache of five: 0 and 4 share the lowest segment. At the hit on 0, page 1 falls back beside 4, and
    libCacheSim, with one page of room there, drops 4. So the second 4 misses, although nothing had to go."""
    assert both("slru", "SLRU", [0, 1, 2, 3, 4, 0, 4], 5) == (5, 6)
    assert both("slru", "SLRU", [0, 1, 2, 3, 0, 3], 4) == (4, 4)


def test_slru_libcachesim_caches_nothing_below_four_pages(both):
    assert both("slru", "SLRU", [7, 7, 7], 3) == (1, 3)
