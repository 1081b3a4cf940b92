"""The most frequent n-grams of a token file: the set that a longest-match layout has rows for."""

import numpy as np

from flashsim.errors import UsageError
from flashsim.layouts.matched import NO_TOKEN
from flashsim.tokens.ngrams import distinct_ngrams
from flashsim.tokens.stream import TokenStream


def frequent_ngrams(stream: TokenStream, count: int, largest: int = 5) -> np.ndarray:
    """uint32, shape (n-grams, largest): the ``count`` most frequent n-grams of 2 to ``largest`` tokens, the most
    frequent first, newest token first, filled up with NO_TOKEN; n-grams that come once are left out, and ties go to the
    shorter one, then to the one that comes first. None crosses a document's start.

    Memory: about 40 B a token. Raises UsageError where there are none.
    """
    found = distinct_ngrams(stream, range(2, largest + 1), 0, len(stream))
    often = {order: ngrams.counts > 1 for order, ngrams in found.items()}
    orders = np.concatenate([np.full(np.count_nonzero(kept), order) for order, kept in often.items()])
    ends = np.concatenate([found[order].first[kept] for order, kept in often.items()])
    times = np.concatenate([found[order].counts[kept] for order, kept in often.items()]).astype(np.int64)
    best = np.lexsort((ends, orders, -times))[:count]
    if not len(best):
        raise UsageError(f"{stream.path or 'tokens'}: 0 n-grams come twice in {len(stream)} tokens: take a longer text")
    orders, ends = orders[best], ends[best]
    grams = np.full((len(best), largest), NO_TOKEN, np.uint32)
    for back in range(largest):
        reaches = orders > back
        grams[reaches, back] = stream.ids[ends[reaches] - back]
    return grams
