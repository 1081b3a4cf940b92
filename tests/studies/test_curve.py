"""The exact curve against the multi-capacity LRU, and the sampled curve against the exact one."""

import re

import numpy as np
import pytest

from flashsim.cache.lru import LruSweep
from flashsim.errors import UsageError
from flashsim.layouts import layout
from flashsim.studies.cells import Counted, cells_of, steps
from flashsim.studies.curve import POINTS_PER_OCTAVE, Curve, curve
from flashsim.studies.sampled import sampled_curve
from flashsim.tokens.stream import TokenStream

LAYOUT = layout("pagegram", params="200M")


@pytest.fixture(scope="module")
def cell(stream):
    return cells_of([stream], [LAYOUT])[0]


@pytest.mark.parametrize("backend", ["c", "numba"])
@pytest.mark.parametrize("warmup", [0, 77_777])
def test_every_capacity_equals_the_lru_sweep(cell, backend, warmup):
    made = curve(cell, warmup=warmup, backend=backend)
    capacities = [1, 2, 17, 500, 4096, 20_000, len(made.misses) - 1, LAYOUT.pages]
    sweep = LruSweep(capacities, LAYOUT.pages)
    for ids, _ in steps(cell, cell.begin, cell.begin + warmup, "c"):
        sweep.run(ids)
    before = sweep.misses
    for ids, _ in steps(cell, cell.begin + warmup, cell.end, "c"):
        sweep.run(ids)
    got = [made.misses[min(capacity, len(made.misses) - 1)] for capacity in capacities]
    assert got == (sweep.misses - before).tolist()
    assert made.misses[0] == made.counted.reads
    assert made.misses[-1] == made.cold_misses
    assert (np.diff(made.misses) <= 0).all()


def test_targets(cell):
    made = curve(cell)
    for target in (1.9, 1.0, 0.5):
        capacity = made.capacity_for(target)
        if capacity is None:
            assert made.reads_per_token[-1] > target
        else:
            assert made.reads_per_token[capacity] <= target < made.reads_per_token[capacity - 1]
    assert made.capacity_for(-1) is None and made.capacity_for(100) == 0


def test_tables(cell):
    made = curve(cell)
    whole, spaced = made.table(every=True), made.table()
    assert whole["capacity_pages"].tolist() == list(range(1, len(made.misses)))
    assert set(spaced["capacity_pages"]) <= set(whole["capacity_pages"])
    assert {1, len(made.misses) - 1} <= set(spaced["capacity_pages"])
    assert (whole["cache_bytes"] == whole["capacity_pages"] * 4096).all()


def of_reads(reads: np.ndarray) -> Curve:
    """A curve of 1,000,000 tokens. reads: reads/token with 0, 1, ... pages of cache."""
    misses = np.round(np.asarray(reads) * 1e6).astype(np.int64)
    return Curve({}, Counted(tokens=10**6, reads=int(misses[0])), misses, int(misses[-1]), 4096)


PAGES = 1 << 16
CAPACITY = np.arange(PAGES + 1)
LOG = np.log2(np.maximum(CAPACITY, 1))


@pytest.mark.parametrize(
    ("reads", "knee"),
    [
        (np.where(CAPACITY < 4096, 8.0, 1.0), 4096),  # a loop over 4,096 pages, and many that come once
        (np.where(CAPACITY < PAGES, 8.0, 1.0), None),  # the same over all: its cliff is the end of the curve
        (np.where(CAPACITY < PAGES // 2 + 1, 8.0, 1.0), None),  # in the last octave: nothing comes after it
        (8 * (1 - CAPACITY / PAGES), None),  # uniform: each doubling saves twice what the one before did
        (8 * (1 - LOG / 16), None),  # Zipf, exponent 1: each saves the same
        (8 * (1 - (LOG / 16) ** 2), None),  # concave
        (np.full(PAGES + 1, 8.0), None),  # no cache helps
        ([8.0, 8.0, 8.0, 1.0], None),
        ([8.0, 1.0], None),
    ],
)
def test_knees(reads, knee):
    assert of_reads(reads).knee() == knee


def test_the_knee_of_a_skewed_text_is_where_a_doubling_saves_what_it_does_on_average():
    """Zipf, exponent 2: misses are 1/C. Over x = log2 C the slope is -ln 2 / C, the chord's -(1 - 1/N) / log2 N."""
    made = of_reads(8 / np.maximum(CAPACITY, 1))
    knee = made.knee()
    assert abs(np.log2(knee / (16 * np.log(2)))) <= 1 / POINTS_PER_OCTAVE
    average = made.a_doubling(1, PAGES)
    assert made.a_doubling(1, knee) > average > made.a_doubling(knee, PAGES)
    assert sum(one.saved_reads_per_token for one in made.doublings()) == pytest.approx(16 * average)


def test_a_loop_needs_room_for_all_and_has_no_knee_before():
    """Ten laps over 64 tokens: with room for their pages everything hits, with less almost nothing."""
    loop = TokenStream(np.tile(np.arange(64, dtype=np.uint16), 10))
    made = curve(cells_of([loop], [layout("flat", params="20M")])[0])
    assert made.capacity_for(0.5) == len(made.misses) - 1
    told = made.answers([0.5])
    assert made.knee() is told["knee"] is None
    assert [one["cache_bytes"] for one in told["doublings"]] == [4096 * 2, 4096 * 4, 4096 * 8, 4096 * 16, 4096 * 32,
                                                                 4096 * 64]  # fmt: skip


def test_sampling_errors_lie_within_their_bound():
    """20 traces: skewed, uniform, drifting; every capacity's error inside the stated 99.9 % interval, or nearly all."""
    outside, points = 0, 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        kind = seed % 3
        if kind == 0:
            ids = (60_000 * rng.random(150_000) ** (1 + seed / 5)).astype(np.uint16)
        elif kind == 1:
            ids = rng.integers(0, 3000 * (seed + 1), 150_000).astype(np.uint16)
        else:
            ids = ((np.arange(150_000) // 4 + rng.integers(0, 9000, 150_000)) % 60_000).astype(np.uint16)
        cell = cells_of([TokenStream(ids)], [layout("pagegram", params="200M", seed=seed)])[0]
        exact, sampled = curve(cell), sampled_curve(cell, 0.2)
        true = exact.misses[np.minimum(sampled.capacities, len(exact.misses) - 1)]
        outside += int((np.abs(sampled.misses - true) > sampled.error + 1e-3 * exact.misses[0]).sum())
        points += len(true)
        assert np.median(sampled.error) < 0.1 * exact.misses[0]  # a bound that says something
    assert outside <= 0.01 * points, (outside, points)


@pytest.mark.parametrize("rate", [0, 1, 2, 1e-4])
def test_bad_rates(cell, rate):
    with pytest.raises(UsageError, match="--sample") as caught:
        sampled_curve(cell, rate)
    enough = re.search(r"give (\S+) or more, below 1", str(caught.value))[1]
    assert sampled_curve(cell, float(enough)).rate == float(enough)


def test_too_few_pages_for_a_sample(stream):
    small = cells_of([stream], [layout("pagegram", params="5M")])[0]
    with pytest.raises(UsageError, match=r"pages: leave it out"):
        sampled_curve(small, 0.9)


def test_warmup_too_long(cell):
    with pytest.raises(UsageError, match="leaves nothing"):
        curve(cell, warmup=cell.tokens)
