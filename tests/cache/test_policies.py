"""Every policy but LRU: plain Python, numba and C agree on each reference; laws that hold for all."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from policies_reference import REFERENCES

from flashsim.cache.engine import MODULES, PolicySweep
from flashsim.cache.lru import lru_misses
from flashsim.errors import UsageError
from flashsim.kernels import BACKENDS, backend

traces = st.one_of(
    st.lists(st.integers(0, 12), max_size=300),
    st.builds(
        lambda seed, pages, skew: (pages * np.random.default_rng(seed).random(1200) ** skew).astype(int).tolist(),
        st.integers(0, 2**32 - 1), st.integers(1, 300), st.sampled_from([1, 2, 5]),
    ),
    st.builds(lambda pages, laps: list(range(pages)) * laps, st.integers(1, 60), st.integers(1, 9)),
    st.builds(  # scans through a hot set
        lambda seed, hot: [
            page for lap in range(8)
            for page in [*np.random.default_rng(seed + lap).integers(0, hot, 60), *range(lap * 9, lap * 9 + 40)]
        ],
        st.integers(0, 2**31), st.integers(1, 40),
    ),
)  # fmt: skip
capacities = st.one_of(st.integers(1, 12), st.integers(1, 400))


def test_every_policy_has_a_reference():
    assert set(MODULES) == set(REFERENCES)


@pytest.mark.parametrize("policy", MODULES)
@settings(max_examples=40, deadline=None)
@given(trace=traces, capacity=capacities, piece=st.integers(1, 400))
def test_python_numba_and_c_agree(policy, trace, capacity, piece):
    wanted = REFERENCES[policy](trace, capacity)
    module = MODULES[policy]
    for name in BACKENDS:
        state, missed = module.state(capacity, 1000), np.zeros(len(trace), np.uint8)
        for at in range(0, len(trace), piece):
            getattr(backend(name), module.KERNEL)(
                state, np.array(trace[at : at + piece], np.uint32), missed[at : at + piece]
            )
        assert missed.tolist() == wanted, name
        assert state.misses == sum(wanted)
        module.check(state)


@pytest.mark.parametrize("policy", MODULES)
@pytest.mark.parametrize("name", BACKENDS)
def test_edges(policy, name):
    def misses(trace, *capacities):
        sweep = PolicySweep(policy, capacities, 100, name)
        sweep.run(np.array(trace, np.uint32))
        sweep.check()
        return sweep.misses.tolist()

    assert misses([], 1, 50) == [0, 0]
    assert misses([7] * 500, 1, 2, 100) == [1, 1, 1]
    scan = list(range(40)) * 3
    assert misses(scan, 100, 10**6) == [40, 40]  # room for every page: cold misses alone
    with pytest.raises(ValueError, match="below 100"):
        misses([3, 100], 5)


@pytest.mark.parametrize("policy", MODULES)
def test_a_longer_run_on_a_skewed_trace(policy):
    """C and numba on 300,000 references, over more pages than fit: equal, and between the cold misses and all."""
    rng = np.random.default_rng(9)
    trace = (20_000 * rng.random(300_000) ** 3).astype(np.uint32)
    cold = len(np.unique(trace))
    sweeps = [PolicySweep(policy, [1, 10, 333, 4096, 19_000], 20_000, name) for name in BACKENDS]
    for sweep in sweeps:
        sweep.run(trace[:123_457])
        sweep.run(trace[123_457:])
        sweep.check()
    assert (sweeps[0].misses == sweeps[1].misses).all()
    assert cold <= sweeps[0].misses[-1] <= sweeps[0].misses[0] <= len(trace)
    assert sweeps[0].misses[3] < 2 * lru_misses(trace, [4096])[0]


def test_unknown_policy_and_capacities():
    with pytest.raises(UsageError, match="none of the"):
        PolicySweep("lirs", [1], 10)
    with pytest.raises(UsageError, match="1 to"):
        PolicySweep("fifo", [0], 10)
