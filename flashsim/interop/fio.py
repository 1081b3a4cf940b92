"""fio's iolog, version 3: one read a line, for ``fio --read_iolog=FILE --replay_redirect=DEVICE``.

Format: fio's HOWTO, "Trace file format v3": ``timestamp filename action [offset length]``. Time is 0 throughout: fio is
to replay as fast as its queue allows (``--replay_no_stall=1``).
"""

from typing import BinaryIO

import numpy as np

NAME, ABOUT, SUFFIXES = "fio", "fio read_iolog version 3", (".iolog",)
_STEP = 1 << 19


def write(file: BinaryIO, pages: np.ndarray, page_bytes: int, target: str) -> None:
    """Write one read of ``page_bytes`` for each of ``pages``."""
    file.write(f"fio version 3 iolog\n0 {target} add\n0 {target} open\n".encode())
    for at in range(0, len(pages), _STEP):
        offsets = pages[at : at + _STEP].astype(np.int64) * page_bytes
        file.write("".join(f"0 {target} read {offset} {page_bytes}\n" for offset in offsets.tolist()).encode())
    file.write(f"0 {target} close\n".encode())
