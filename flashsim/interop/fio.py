"""fio's iolog, version 3: one read a line, for ``fio --read_iolog=FILE --replay_redirect=DEVICE``. Written only.

Format: fio's HOWTO, "Trace file format v3": ``timestamp filename action [offset length]``. Time is 0 throughout: fio
replays as fast as its queue allows. fio reads no .zst: unpack it first.
"""

from typing import BinaryIO

import numpy as np

from flashsim.errors import UsageError
from flashsim.interop.exchange import Export, Progress

NAME, SUFFIXES = "fio", (".iolog",)
_TARGET_MAX = 255  # characters of a file name that fio reads
_STEP = 1 << 18


def check_target(target: str) -> None:
    """Raise UsageError where fio would not read ``target`` as one file name."""
    if (
        not target
        or len(target.encode()) > _TARGET_MAX
        or any(char.isspace() or not char.isprintable() for char in target)
    ):
        raise UsageError(f"--target {target!r}: fio takes 1 to {_TARGET_MAX} bytes without blanks: choose another name")


def write(file: BinaryIO, export: Export, progress: Progress) -> None:
    """Write one read of a page for each reference."""
    pages, page_bytes, target = export.pages, export.page_bytes, export.target
    file.write(f"fio version 3 iolog\n0 {target} add\n0 {target} open\n".encode())
    before, after = f"0 {target} read ", f" {page_bytes}\n"
    for at in range(0, len(pages), _STEP):
        offsets = (pages[at : at + _STEP].astype(np.int64) * page_bytes).tolist()
        file.write("".join([f"{before}{offset}{after}" for offset in offsets]).encode())
        progress(len(offsets))
    file.write(f"0 {target} close\n".encode())
