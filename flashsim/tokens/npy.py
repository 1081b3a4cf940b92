"""NumPy ``.npy``: a one-dimensional array of any integer dtype, which the file states and nobody doubts."""

import numpy as np

from flashsim.tokens.source import Payload, Source

NAME = "npy"
MAGICS = (b"\x93NUMPY",)

_HEADER_READERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def sniff(source: Source) -> bool:
    """True where the file begins with numpy's magic string."""
    return source.head.startswith(MAGICS)


def read(source: Source, dtype: np.dtype | None, vocab_size: int | None) -> Payload:
    """Map the array. Raises DataError for another shape or dtype, or where the size is not the header's."""
    if not sniff(source):
        raise source.error(
            f"no .npy header: it begins with {source.head[:6]!r}; make one with numpy.save, or drop --format"
        )
    source.file.seek(0)
    version = tuple(source.head[6:8])
    if len(version) == 2 and version not in _HEADER_READERS:
        raise source.error(f"a .npy of version {version[0]}.{version[1]}, expected 1.0 or 2.0: numpy.save it again")
    try:
        shape, fortran_order, held = _HEADER_READERS[np.lib.format.read_magic(source.file)](source.file)
    except Exception as error:  # numpy lets through what its parsers raise: ValueError, TokenError, TypeError ...
        raise source.error(f"a broken .npy header in its {source.size} bytes ({error}): numpy.save it again") from None
    if held.hasobject or held.kind not in "iu":
        raise source.error(f"a .npy of dtype {held}, 1-D integers expected: numpy.save it again as integers")
    if len(shape) != 1 or shape[0] < 0 or fortran_order:
        order = "Fortran" if fortran_order else "C"
        raise source.error(f"a .npy of shape {shape} in {order} order, 1-D integers expected: numpy.save(ids.ravel())")
    (count,), offset = shape, source.file.tell()
    source.require_size(offset + count * held.itemsize, f"the header and {count} {held} items")
    return Payload(source.map(held, offset, count))
