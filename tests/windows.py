"""Token streams with documents, and a window of their tokens, as hypothesis makes them."""

import numpy as np
from hypothesis import strategies as st

from flashsim.tokens.stream import TokenStream


@st.composite
def windows(draw):
    """(stream, its ids, starts, begin, end), ids few enough to repeat, or of 31 bits."""
    scale = draw(st.sampled_from([1, 7, 2**31 // 5]))
    ids = [scale * one for one in draw(st.lists(st.integers(0, 4), min_size=1, max_size=60))]
    starts = sorted({0, *draw(st.lists(st.integers(0, len(ids) - 1), max_size=6))})
    begin = draw(st.integers(0, len(ids) - 1))
    end = draw(st.integers(begin + 1, len(ids)))
    return TokenStream(np.array(ids, np.uint32), starts=np.array(starts)), ids, starts, begin, end
