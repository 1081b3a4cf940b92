"""The most frequent n-grams of a token file: the set that a longest-match layout has rows for."""

import numpy as np

from flashsim.errors import UsageError
from flashsim.layouts.matched import NO_TOKEN
from flashsim.tokens.stream import TokenStream


def frequent_ngrams(stream: TokenStream, count: int, largest: int = 5) -> np.ndarray:
    """uint32, shape (n-grams, largest): the ``count`` most frequent n-grams of 2 to ``largest`` tokens, the most
    frequent first, newest token first, filled up with NO_TOKEN; n-grams that come once are left out, and ties go to the
    shorter one, then to the one that comes first. None crosses a document's start.

    Memory: about 40 B a token. Raises UsageError where there are none.
    """
    (ids, _, starts), *more = list(stream.chunks(0, size=max(1, len(stream))))
    assert not more
    depth = _depths(len(ids), starts)
    rank = ids.astype(np.int64)  # of the suffix that ends at each token; equal ranks, equal suffixes
    alive = np.ones(len(ids), bool)
    found = []
    for order in range(2, largest + 1):
        # an n-gram is as frequent as its suffix at most: what came once before cannot come twice now
        at = np.flatnonzero(alive & (depth >= order - 1))
        keys = rank[at] << 32 | ids[at - order + 1]
        _, first, inverse, times = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        frequent = times > 1
        found.append((order, at[first[frequent]], times[frequent]))
        rank[at], alive[:] = inverse, False
        alive[at] = frequent[inverse]
    orders = np.concatenate([np.full(len(ends), order) for order, ends, _ in found])
    ends = np.concatenate([ends for _, ends, _ in found])
    times = np.concatenate([counts for _, _, counts in found])
    best = np.lexsort((ends, orders, -times))[:count]
    if not len(best):
        raise UsageError(f"{stream.path or 'tokens'}: 0 n-grams come twice in {len(ids)} tokens: take a longer text")
    orders, ends = orders[best], ends[best]
    grams = np.full((len(best), largest), NO_TOKEN, np.uint32)
    for back in range(largest):
        reaches = orders > back
        grams[reaches, back] = ids[ends[reaches] - back]
    return grams


def _depths(tokens: int, starts: np.ndarray) -> np.ndarray:
    """How many tokens of its document lie before each token."""
    begins = np.zeros(tokens, np.int64)
    begins[starts] = starts
    return np.arange(tokens) - np.maximum.accumulate(begins)
