"""Groups of reads: the modes against plain Python, and the in-flight limits that go with them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashsim.device.workload import GROUPS_MAX, MAX_READS, MODES, Groups, by_chunk, by_token, joined, limits
from flashsim.errors import UsageError
from flashsim.kernels import BACKENDS

TOKENS = st.lists(st.lists(st.integers(0, 12), max_size=5), max_size=40)  # the pages of each token


def arrays(tokens):
    """The ids and counts of a trace, from the pages of each token."""
    ids = np.array([page for pages in tokens for page in pages], np.uint32)
    return ids, np.array([len(pages) for pages in tokens], np.uint8)


def listed(groups: Groups):
    """(pages, lookups) of each group."""
    assert groups.pages.dtype == np.uint32 and groups.ends.dtype == groups.lookups.dtype == np.int64
    assert len(groups.ends) == len(groups.lookups) and (groups.ends[-1:] == len(groups.pages)).all()
    begins = [0, *groups.ends.tolist()]
    spans = zip(begins, groups.ends.tolist(), groups.lookups.tolist(), strict=False)
    return [(groups.pages[begin:end].tolist(), lookups) for begin, end, lookups in spans]


@given(TOKENS)
def test_a_token_is_a_group(tokens):
    assert listed(by_token(*arrays(tokens), 4096)) == [(pages, 1) for pages in tokens]


@given(TOKENS, st.integers(1, 9), st.sampled_from(list(BACKENDS)))
def test_a_chunk_is_a_group_with_each_page_once_where_first_used(tokens, size, backend):
    chunks = [tokens[at : at + size] for at in range(0, len(tokens), size)]
    expected = [(list(dict.fromkeys(page for pages in chunk for page in pages)), len(chunk)) for chunk in chunks]
    assert listed(by_chunk(*arrays(tokens), 4096, size, backend)) == expected


@given(TOKENS, st.integers(1, 9), st.randoms())
def test_only_what_a_cache_let_through(tokens, size, random):
    groups = by_chunk(*arrays(tokens), 4096, size)
    kept = np.array([random.random() < 0.5 for _ in groups.pages], bool)
    left = iter(kept.tolist())
    expected = [([page for page in pages if next(left)], lookups) for pages, lookups in listed(groups)]
    assert listed(groups.only(kept)) == expected


@given(st.lists(TOKENS, min_size=1, max_size=4))
def test_one_after_the_other(parts):
    groups = joined([by_token(*arrays(tokens), 4096) for tokens in parts])
    assert listed(groups) == [(pages, 1) for tokens in parts for pages in tokens]


@given(TOKENS, st.integers(0, 45), st.integers(0, 45))
def test_a_part(tokens, first, last):
    groups = by_token(*arrays(tokens), 4096).part(min(first, len(tokens)), last)
    assert listed(groups) == [(pages, 1) for pages in tokens[first:last]]


@given(TOKENS.filter(any), st.integers(1, 9), st.integers(0, 300))
def test_lookups_of_a_group_that_is_not_complete(tokens, size, reads):
    """Read by read, one group at a time: each read brings its group's lookups by as much as all others of the group."""
    groups = by_chunk(*arrays(tokens), 4096, size)
    expected, done, complete = 0.0, 0, 0
    for pages, lookups in listed(groups) * (reads + 1):
        now = min(len(pages), reads - done)
        expected += lookups * now / len(pages) if pages else lookups
        done += now
        if now < len(pages):
            break
        complete += 1
    assert groups.lookups_of(complete, reads) == pytest.approx(expected)


def test_limits_in_flight():
    assert limits("stream", "reads", 64) == (64, GROUPS_MAX)
    assert limits("stream", "lookups", 64) == (MAX_READS, 64) == limits("decode", "lookups", 64)
    assert limits("decode", "reads", 64) == limits("prefill", "reads", 64) == (64, 1)
    for mode in MODES:
        assert limits(mode, "reads", MAX_READS)[0] == MAX_READS
        for wrong in (0, -1, MAX_READS + 1):
            with pytest.raises(UsageError, match=f"{wrong}: take 1 to 4096"):
                limits(mode, "reads", wrong)
    with pytest.raises(UsageError, match="--in-flight-unit reads"):
        limits("prefill", "lookups", 8)
