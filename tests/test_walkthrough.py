"""The walk by hand: ten tokens through a toy hash, small enough to check with a pencil.

Order 2, hash 5a xor 11b, 16 rows, 4 rows a page. An LRU cache of 3 pages misses 4 times, one of 2 pages 8 times.
"""

from itertools import pairwise

import numpy as np
import pytest
import reference

from flashsim import lru_misses
from flashsim.kernels import BACKENDS, backend

TOKENS = [3, 1, 4, 1, 5, 1, 4, 1, 5, 9]
PAGES = [1, 2, 3, 0, 0, 2, 3, 0, 2]


def test_tokens_to_pages():
    hashes = [5 * a ^ 11 * b for a, b in pairwise(TOKENS)]
    assert hashes == [4, 41, 31, 50, 18, 41, 31, 50, 122]
    rows = [value % 16 for value in hashes]
    assert rows == [4, 9, 15, 2, 2, 9, 15, 2, 10]
    assert [row // 4 for row in rows] == PAGES


@pytest.mark.parametrize("name", BACKENDS)
def test_misses(name):
    assert lru_misses(PAGES, [3, 2], name).tolist() == [4, 8]
    assert lru_misses(PAGES, [1, 4, 100], name).tolist() == [8, 4, 4]


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize("piece", [1, 2, 9])
def test_which_references_miss(name, piece):
    """A reference's class is the number of capacities that miss it, so it misses in capacity k where class > k."""
    lru, classes = backend(name).Lru(np.array([2, 3]), 4), np.full(9, 255, np.uint8)
    trace = np.array(PAGES, np.uint32)
    for at in range(0, 9, piece):
        lru.run(trace[at : at + piece], classes[at : at + piece])
    two, three = ("".join("M" if count > k else "." for count in classes) for k in (0, 1))
    assert two == "MMMM.MMMM"
    assert three == "MMMM....."
    assert (lru.misses.tolist(), lru.distinct) == ([8, 4], 4)


def test_the_plain_python_cache_walks_the_same_way():
    for capacity, pattern in ((2, "MMMM.MMMM"), (3, "MMMM.....")):
        assert "".join(".M"[missed] for missed in reference.lru(PAGES, capacity)) == pattern


def test_reads_a_token_and_the_addresses_of_the_misses():
    missed = [page for page, miss in zip(PAGES, reference.lru(PAGES, 3), strict=True) if miss]
    assert len(missed) / len(TOKENS) == 0.4
    assert [page * 4096 for page in missed] == [4096, 8192, 12288, 0]
