"""What every format module is given and gives back."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Progress = Callable[[int], None]  # is told the references of each step


class Export(NamedTuple):
    """A trace to be written.

    pages: uint32, shape (references,), in access order, memory-mapped perhaps. below: every page is below this.
    page_bytes: bytes of a page. target: what fio is to call the drive.
    """

    pages: np.ndarray
    below: int
    page_bytes: int
    target: str


class Accesses(NamedTuple):
    """A trace that was read.

    ids: integers >= 0 of the file's own dtype, shape (references,), memory-mapped. object_bytes: the one size that all
    objects have; None where the file holds no sizes or they were ignored. notes: what has to be told.
    """

    ids: np.ndarray
    object_bytes: int | None = None
    notes: tuple[str, ...] = ()
