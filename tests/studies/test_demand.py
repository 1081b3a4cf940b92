"""What workloads ask beyond a warm cache, against plain Python."""

from collections import Counter
from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from flashsim.corpora.synth import synthesise
from flashsim.errors import UsageError
from flashsim.layouts import layout
from flashsim.studies import demand as module
from flashsim.studies.demand import Warm, counted_tokens
from flashsim.tokens.stream import TokenStream
from flashsim.trace import trace_ids
from flashsim.workloads import Workload

WORKLOADS = [Workload(1), Workload(3), Workload(0, 7)]


def made(name="flat"):
    return layout(name, params="300k", orders=(1, 2))


@settings(max_examples=100)
@given(
    st.lists(st.integers(0, 60), min_size=24, max_size=90),
    st.sampled_from(WORKLOADS),
    st.sets(st.integers(4, 40), min_size=1, max_size=3),
    st.sampled_from([0, 2, 3]),
    st.integers(3, 9),
)
def test_misses_are_those_of_plain_python(ids, workload, capacities, pinned, chunk):
    stream, table, capacities = TokenStream(np.array(ids, np.uint32)), made(), sorted(capacities)
    start = len(ids) - counted_tokens(len(ids))
    if len(ids) - start < workload.streams:
        return
    before = trace_ids(stream, table, end=start).tolist()
    by_reads = sorted(Counter(before).items(), key=lambda item: (-item[1], item[0]))
    held = {page for page, _ in by_reads[:pinned]} if pinned else set()
    steps = list(workload.steps(stream, table, begin=start))
    asked = [page for piece in steps for page in piece.ids.tolist()]
    with mock.patch.object(module, "CHUNK_TOKENS", chunk):
        warm = Warm(stream, table, 0, start, enough=max(capacities))
        found = warm.demand(workload, len(ids), capacities, pinned=pinned)
    assert warm.recency.tolist() == list(dict.fromkeys(reversed(before)))[: max(capacities)][::-1]
    assert (found.tokens, found.reads) == (len(ids) - start, len(asked))
    assert found.steps == sum(len(piece.ends) for piece in steps)
    caches = [(capacity, set()) for capacity in capacities] + [(capacities[0] - pinned, held)] * bool(pinned)
    assert len(found.misses) == len(caches)
    for index, (capacity, never) in enumerate(caches):
        warmed, free = ([page for page in pages if page not in never] for pages in (before, asked))
        misses = reference.lru(warmed + free, capacity)[len(warmed) :]
        assert found.misses[index] == sum(misses)
        sent = found.sent(index)  # so short a text is kept whole
        assert sent.pages.tolist() == [page for page, missed in zip(free, misses, strict=True) if missed]
        assert sent.lookups.sum() == found.tokens
    by_step = np.diff(found.sent(0).ends, prepend=0)
    cuts = [part * found.steps // len(found.parts) for part in range(len(found.parts) + 1)]
    assert len(found.parts) == min(8, found.steps)
    for part, (low, high) in zip(found.parts, pairwise(cuts), strict=True):
        assert part == by_step[low:high].sum() / found.kept.lookups[low:high].sum()


def test_steps_are_kept_evenly(monkeypatch):
    ids, starts = synthesise(60_000, 5000, seed=2)
    stream, table = TokenStream(ids, starts=starts), made("engram")
    warm = Warm(stream, table, 0, 40_000, enough=50)
    whole = warm.demand(Workload(4), 60_000, [50])
    monkeypatch.setattr(module, "KEPT_REFERENCES", 20_000)
    some = warm.demand(Workload(4), 60_000, [50])
    assert len(some.kept.ends) < len(whole.kept.ends) == whole.steps == some.steps
    assert 5_000 < len(some.kept.pages) < 22_000  # what a step shares is not kept twice
    per_token = [len(one.sent(0).pages) / one.kept.lookups.sum() for one in (whole, some)]
    assert per_token[1] == pytest.approx(per_token[0], rel=0.05)
    monkeypatch.setattr(module, "KEPT_REFERENCES", 1)
    assert len(warm.demand(Workload(0, 2000), 60_000, [50]).kept.ends) == 10  # all there are, below KEPT_STEPS


@pytest.mark.parametrize("share", [1.0, 3 / 40, 0.6])
def test_kept_steps_are_of_every_phase_of_a_text_that_repeats_itself(share):
    """However the steps come in pieces: as many as the share, and of a period of 40 each place as often as another."""
    taken = np.concatenate([module._taken(first, 1000, share) for first in range(0, 400_000, 1000)])
    assert taken.sum() == pytest.approx(400_000 * share, abs=1)
    by_phase = taken.reshape(-1, 40).sum(axis=0)
    assert by_phase.min() > 0.9 * by_phase.mean() and by_phase.max() < 1.1 * by_phase.mean()
    assert (taken == module._taken(0, 400_000, share)).all()


def test_text_that_is_too_short():
    assert counted_tokens(4) == 1 and counted_tokens(10**9) == 500_000
    with pytest.raises(UsageError, match="3 tokens: 4 or more"):
        counted_tokens(3)
