"""Every policy but LRU: plain Python, numba and C agree on each reference; laws that hold for all."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from policies_reference import REFERENCES

from flashsim.cache import belady, logs
from flashsim.cache.engine import MODULES, POLICIES, PolicySweep, sweep_of
from flashsim.cache.logs import registers
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
            for page in [*np.random.default_rng(seed + lap).permutation(hot).tolist(), *range(lap * 9, lap * 9 + 40)]
        ],
        st.integers(0, 2**31), st.integers(1, 60),
    ),
)  # fmt: skip
capacities = st.one_of(st.integers(1, 12), st.integers(1, 400))


def test_every_policy_has_a_reference():
    assert set(MODULES) == set(REFERENCES)


def next_uses(trace) -> list[int]:
    uses, following = [], {}
    for now in reversed(range(len(trace))):
        uses.append(following.get(trace[now], 2**32 - 1))
        following[trace[now]] = now
    return uses[::-1]


@pytest.mark.parametrize("policy", MODULES)
@settings(max_examples=40)
@given(trace=traces, capacity=capacities, piece=st.integers(1, 400))
def test_python_numba_and_c_agree(policy, trace, capacity, piece):
    wanted = REFERENCES[policy](trace, capacity)
    module = MODULES[policy]
    offline = getattr(module, "OFFLINE", False)
    feed = np.array(next_uses(trace) if offline else trace, np.uint32)
    for name in BACKENDS:
        state, missed = module.state(capacity, len(trace) if offline else 1000), np.zeros(len(trace), np.uint8)
        for at in range(0, len(trace), piece):
            getattr(backend(name), module.KERNEL)(state, feed[at : at + piece], missed[at : at + piece])
        assert missed.tolist() == wanted, name
        assert state.misses == sum(wanted)
        assert offline or state.distinct == len(set(trace))
        module.check(state)


@pytest.mark.parametrize("policy", [policy for policy in MODULES if policy != "min"])
@settings(max_examples=20)
@given(trace=traces, capacity=capacities, cut=st.integers(0, 300), bad=st.sampled_from([1000, 2**32 - 1]))
def test_what_comes_before_a_bad_id_counts(policy, trace, capacity, cut, bad):
    head, tail = trace[:cut], trace[cut:]
    for name in BACKENDS:
        run, state, missed = getattr(backend(name), MODULES[policy].KERNEL), [], []
        for _ in range(2):
            state.append(MODULES[policy].state(capacity, 1000))
            missed.append(np.zeros(len(trace) + 1, np.uint8))
        with pytest.raises(ValueError, match="below 1000"):
            run(state[0], np.array([*head, bad, *tail], np.uint32), missed[0])
        run(state[1], np.array(head, np.uint32), missed[1][: len(head)])
        assert (missed[0] == missed[1]).all(), name
        assert (state[0].page == state[1].page).all() and (state[0].reg == state[1].reg).all()


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
    sweep = PolicySweep(policy, [3, 50], 100, name)
    assert sweep.distinct == 0
    sweep.run(np.array(scan, np.uint32))
    sweep.mark()
    sweep.run(np.array([5, 90, 90], np.uint32))
    assert sweep.distinct == 41 and sweep.cold_since_mark == 1
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


@settings(max_examples=40)
@given(trace=traces, capacity=capacities)
def test_min_misses_least(trace, capacity):
    def misses(policy):
        sweep = sweep_of(policy, [capacity], 1000)
        sweep.run(np.array(trace, np.uint32))
        return sweep.misses[0]

    assert misses("min") <= min(misses(policy) for policy in POLICIES)


@settings(max_examples=40)
@given(trace=traces, piece=st.integers(1, 400))
def test_next_uses_of_pieces(trace, piece):
    for name in BACKENDS:
        future = belady.NextUses(1000, backend(name).next_use)
        for at in range(0, len(trace), piece):
            future.run(np.array(trace[at : at + piece], np.uint32))
            assert future.uses.tolist() == next_uses(trace[: at + piece])


def test_min_goes_on_after_it_was_asked(monkeypatch):
    """Its misses are those of the trace so far; more references than it can number are refused, not taken."""
    trace = (3000 * np.random.default_rng(3).random(90_000) ** 3).astype(np.uint32)  # more than the first room
    for name in BACKENDS:
        sweep, whole = (PolicySweep("min", [7, 500], 3000, name) for _ in range(2))
        for piece in np.array_split(trace, 5):
            sweep.run(piece)
            sweep.check()
        whole.run(trace)
        assert sweep.misses.tolist() == whole.misses.tolist()
        with pytest.raises(ValueError, match="room for 4294967294 of 4294967295"):
            backend(name).next_use(trace[:1], np.zeros(3000, np.uint32), np.broadcast_to(trace[:1], 2**32), 2**32 - 2)
        monkeypatch.setattr(belady, "REFERENCES_MAX", 100_000)
        with pytest.raises(UsageError, match="at most 100000 references, not 180000"):
            sweep.run(trace)
        assert sweep.misses.tolist() == whole.misses.tolist()
        monkeypatch.undo()


@pytest.mark.parametrize("name", BACKENDS)
def test_min_refuses_what_are_no_next_uses(name):
    for uses in ([0], [2, 1], [1, 2, 3]):  # not later than now; past the end
        with pytest.raises(ValueError, match="min"):
            backend(name).min_run(belady.state(2, len(uses)), np.array(uses, np.uint32))
    with pytest.raises(ValueError, match="min"):
        backend(name).min_run(belady.state(2, 1), np.array([2**32 - 1] * 2, np.uint32))


@pytest.mark.parametrize("policy", ["2q", "arc", "wtinylfu"])
@pytest.mark.parametrize("name", BACKENDS)
def test_logs_number_past_32_bits(policy, name):
    module, trace = MODULES[policy], (300 * np.random.default_rng(4).random(5000) ** 2).astype(np.uint32)
    misses = []
    for start in (1, 2**32 - 700):
        state = module.state(40, 300)
        for log in range(3):
            if registers(state, log)[logs.MASK]:
                registers(state, log)[: logs.NEXT + 1] = start
        getattr(backend(name), module.KERNEL)(state, trace)
        module.check(state)
        misses.append(state.misses)
    assert registers(state, 0)[logs.NEXT] > 2**32 and misses[0] == misses[1]


@settings(max_examples=40)
@given(trace=traces, capacity=capacities, left=st.integers(0, 400))
def test_fifo_numbers_past_32_bits(trace, capacity, left):
    """Insertions are numbered anew, twice for some traces: what was long evicted stays so."""
    wanted = REFERENCES["fifo"](trace, capacity)
    for name in BACKENDS:
        state, missed = MODULES["fifo"].state(capacity, 1000), np.zeros(len(trace), np.uint8)
        half = len(trace) // 2
        for piece in (slice(0, half), slice(half, None)):
            shift = max(2**32 - 2 - left - int(state.reg[1]), 0)
            state.page[state.queued] += np.uint32(shift)
            state.reg[1] += shift
            backend(name).fifo_run(state, np.array(trace[piece], np.uint32), missed[piece])
        assert missed.tolist() == wanted, name
        assert state.distinct == len(set(trace))
        MODULES["fifo"].check(state)


@pytest.mark.parametrize("name", BACKENDS)
def test_lfu_counts_past_32_bits(name):
    state = MODULES["lfu"].state(2, 10)
    run = backend(name).lfu_run
    run(state, np.array([1, 2, 2], np.uint32))
    state.slot[3 + 2, 2] = 2**32 - 2  # reads of page 2's bucket
    run(state, np.array([2, 2, 3, 1, 3], np.uint32))
    MODULES["lfu"].check(state)
    assert state.misses == 5 and 2 in state.queued  # page 2 stays; 1 and 3 push each other out


def test_state_must_fit_its_kernel():
    """A buffer that is too small is refused, not overrun."""
    for module in MODULES.values():
        state = module.state(1000, 1000)
        if len(state.slot):
            state.slot = state.slot[:1]
            with pytest.raises(ValueError, match=module.KERNEL.removesuffix("_run")):
                getattr(backend("c"), module.KERNEL)(state, np.zeros(10, np.uint32))


def test_unknown_policy_and_capacities():
    with pytest.raises(UsageError, match="none of the"):
        PolicySweep("lirs", [1], 10)
    with pytest.raises(UsageError, match="1 page or more"):
        PolicySweep("fifo", [0], 10)
