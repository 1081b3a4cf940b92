"""What workloads ask beyond a warm cache, against plain Python."""

from collections import Counter

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


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.integers(0, 60), min_size=24, max_size=90),
    st.sampled_from(WORKLOADS),
    st.sets(st.integers(4, 40), min_size=1, max_size=3),
    st.sampled_from([0, 0, 2, 3]),
    st.booleans(),
)
def test_misses_are_those_of_plain_python(ids, workload, capacities, pinned, enough):
    stream, table, capacities = TokenStream(np.array(ids, np.uint32)), made(), sorted(capacities)
    start = len(ids) - counted_tokens(len(ids))
    if len(ids) - start < workload.streams:
        return
    before = trace_ids(stream, table, end=start).tolist()
    by_reads = sorted(Counter(before).items(), key=lambda item: (-item[1], item[0]))
    held = {page for page, _ in by_reads[:pinned]}
    steps = list(workload.steps(stream, table, begin=start))
    asked = [page for piece in steps for page in piece.ids.tolist()]
    module._PART, kept = 4, module._PART
    try:
        warm = Warm(stream, table, 0, start, counted=True, enough=max(capacities) if enough and not pinned else None)
    finally:
        module._PART = kept
    found = warm.demand(workload, len(ids), capacities, pinned=pinned)
    assert (found.tokens, found.reads) == (len(ids) - start, len(asked))
    assert found.steps == sum(len(piece.ends) for piece in steps)
    for index, capacity in enumerate(capacities):
        whole = [page for page in before + asked if page not in held]
        misses = reference.lru(whole, capacity - pinned)[len([page for page in before if page not in held]) :]
        assert found.misses[index] == sum(misses)
        sent = found.sent(index)  # so short a text is kept whole
        assert len(sent.pages) == sum(misses) and sent.lookups.sum() == found.tokens
        assert sent.pages.tolist() == [
            page for page, missed in zip((page for page in asked if page not in held), misses, strict=True) if missed
        ]


def test_steps_are_kept_evenly(monkeypatch):
    ids, starts = synthesise(60_000, 5000, seed=2)
    stream, table = TokenStream(ids, starts=starts), made("engram")
    warm = Warm(stream, table, 0, 40_000)
    whole = warm.demand(Workload(4), 60_000, [50])
    monkeypatch.setattr(module, "KEPT_REFERENCES", 20_000)
    some = warm.demand(Workload(4), 60_000, [50])
    assert len(some.kept.ends) < len(whole.kept.ends) == whole.steps == some.steps
    assert 5_000 < len(some.kept.pages) < 22_000  # what a step shares is not kept twice
    per_token = [len(one.sent(0).pages) / one.kept.lookups.sum() for one in (whole, some)]
    assert per_token[1] == pytest.approx(per_token[0], rel=0.05)
    monkeypatch.setattr(module, "KEPT_REFERENCES", 1)
    assert len(warm.demand(Workload(0, 2000), 60_000, [50]).kept.ends) == 10  # all there are, below KEPT_STEPS


def test_text_that_is_too_short():
    assert counted_tokens(4) == 1 and counted_tokens(10**9) == 500_000
    with pytest.raises(UsageError, match="3 tokens: 4 or more"):
        counted_tokens(3)
