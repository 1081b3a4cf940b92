"""``.npy`` files that a layout is made with: vocabulary maps and sets of n-grams."""

from pathlib import Path

import numpy as np

from flashsim.errors import DataError, UsageError


def load_array(option: str, path: str | Path, maker: str) -> np.ndarray:
    """The array in ``path``, which ``option`` named and the command ``maker`` makes. Raises UsageError or DataError."""
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"{option} {path}: 0 files of that name: `flashsim {maker}` makes one")
    try:
        array = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        reason = " ".join(str(error).split())
        raise DataError(f"{option} {path}: no .npy ({reason}); 0 ids read: make it again") from None
    if not isinstance(array, np.ndarray):
        raise DataError(f"{option} {path}: several arrays, shape unknown (1 expected): make it again")
    return array
