"""Random replacement: its closed form on a loop, and what a seed does."""

import numpy as np
import pytest
from policies_reference import random as reference

from flashsim.cache import random
from flashsim.kernels import BACKENDS, backend


def run(name: str, trace: np.ndarray, capacity: int, seed: int) -> np.ndarray:
    state, missed = random.state(capacity, int(trace.max()) + 1, seed), np.zeros(len(trace), np.uint8)
    backend(name).random_run(state, trace.astype(np.uint32), missed)
    random.check(state)
    return missed


@pytest.mark.parametrize("name", BACKENDS)
def test_loop_of_twice_the_capacity_hits_by_its_closed_form(name):
    """Between two reads of a page lie N references, N (1 - h) evictions; it outlives each with 1 - 1/C. So h is
    exp(-N/C (1 - h)): 0.2032 for N = 2C, where FIFO, LRU and CLOCK hit nothing."""
    missed = run(name, np.tile(np.arange(2000), 500), 1000, 1)
    assert abs(1 - missed[200_000:].mean() - 0.2032) < 0.002


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1])
def test_each_seed_is_the_references(name, seed):
    trace = np.random.default_rng(3).integers(0, 60, 3000)
    assert run(name, trace, 20, seed).tolist() == reference(trace.tolist(), 20, seed)


def test_seeds_differ_by_sampling_error_alone():
    trace = np.random.default_rng(4).integers(0, 1000, 50_000)
    missed = [int(run("c", trace, 300, seed)[5000:].sum()) for seed in range(30)]
    assert len(set(missed)) > 20
    assert abs(np.mean(missed) / 45_000 - 0.7) < 0.005  # independent uniform draws: 1 - capacity / pages
    assert np.std(missed) < 5 * np.sqrt(45_000 * 0.7 * 0.3)
