"""A ``.npy`` of page ids that somebody else made: 1-D integers in access order."""

import numpy as np

from flashsim.interop.exchange import Accesses
from flashsim.tokens import npy
from flashsim.tokens.source import Source

NAME, SUFFIXES = "npy", (".npy",)
_STEP = 1 << 22

sniff = npy.sniff


def read(source: Source, ignore_size: bool) -> Accesses:
    """The array, memory-mapped. Raises DataError unless it is 1-D integers >= 0."""
    if not sniff(source):
        raise source.error(f"no .npy header, it begins with {source.head[:6]!r}: give another --trace-format")
    ids = npy.read(source, None, None).ids
    for at in range(0, len(ids) if ids.dtype.kind == "i" else 0, _STEP):
        if (piece := ids[at : at + _STEP]).min() < 0:
            bad = at + int(np.argmax(piece < 0))
            raise source.error(f"id {bad} is {ids[bad]}, below 0: number the pages from 0")
    return Accesses(ids)
