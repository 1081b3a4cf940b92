"""A ``.npy`` of page ids that somebody else made: 1-D integers in access order."""

from pathlib import Path

import numpy as np

from flashsim.errors import DataError

NAME, ABOUT, SUFFIXES = "npy", "numpy array of page ids", (".npy",)


def sniff(head: bytes, size: int | None) -> bool:
    return head.startswith(b"\x93NUMPY")


def read(path: Path, ignore_size: bool) -> np.ndarray:
    """The array, memory-mapped. Raises DataError unless it is 1-D integers >= 0."""
    try:
        ids = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(
            f"{path}: 0 ids read ({' '.join(str(error).split())}): write it again with numpy.save"
        ) from None
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        raise DataError(f"{path}: {ids.ndim}-D {ids.dtype}, a trace is 1-D integers: save page ids")
    if ids.dtype.kind == "i" and len(ids) and ids.min() < 0:
        bad = int(np.argmax(ids < 0))
        raise DataError(f"{path}: id {bad} is {ids[bad]}, below 0: renumber the pages")
    return ids
