"""libCacheSim's oracleGeneral: 24-byte records of time (u32), object (u64), size (u32), next access (i64, -1 = none).

Layout: libCacheSim, ``traceReader/customizedReader/oracle/oracleGeneralBin.h``. We write the position as time, object
= page + 1, size = 1 (so that a cache size counts pages), and the position, counted from 1, of the page's next access.
"""

from typing import BinaryIO

import numpy as np

from flashsim.errors import UsageError
from flashsim.interop.exchange import Accesses, Export, Progress
from flashsim.kernels import backend
from flashsim.kernels.state import NEVER
from flashsim.tokens.source import Source

NAME, SUFFIXES = "oracleGeneral", (".oracleGeneral", ".oracleGeneral.bin")
RECORD = np.dtype([("time", "<u4"), ("object", "<u8"), ("size", "<u4"), ("next", "<i8")])
REFERENCES_MAX = NEVER - 1  # of the kernel, and of the time
_STEP = 1 << 20  # records written or read at a time


def write(file: BinaryIO, export: Export, progress: Progress) -> None:
    """Write a record for each reference. Memory: 4 B a reference and 4 B a page, for the next accesses."""
    following = next_uses(export.pages, export.below)
    for at in range(0, len(following), _STEP):
        ids, uses = export.pages[at : at + _STEP], following[at : at + _STEP]
        records = np.empty(len(ids), RECORD)
        records["time"] = np.arange(at, at + len(ids))
        records["object"], records["size"] = ids.astype(np.uint64) + np.uint64(1), 1
        records["next"] = np.where(uses == NEVER, -1, uses.astype(np.int64) + 1)
        file.write(records.tobytes())
        progress(len(ids))


def next_uses(pages: np.ndarray, below: int) -> np.ndarray:
    """uint32, for each reference the position, from 0, of its page's next one; NEVER where there is none."""
    if len(pages) > REFERENCES_MAX:
        raise UsageError(f"{len(pages)} references are over {REFERENCES_MAX}, which oracleGeneral can time: --tokens")
    last, uses = np.zeros(below, np.uint32), np.empty(len(pages), np.uint32)
    link = backend("c").next_use
    for at in range(0, len(pages), _STEP):
        link(np.ascontiguousarray(pages[at : at + _STEP]), last, uses, at)
    return uses


def sniff(source: Source) -> bool:
    """Records whose times do not fall, whose next accesses are none or small, and that are not all of size 0."""
    size = RECORD.itemsize
    records = np.frombuffer(source.head[: len(source.head) // size * size], RECORD)
    none = (records["next"] == -1) | (records["next"] == 2**63 - 1)
    near = (records["next"] >= 0) & (records["next"] < 2**40)
    return bool(records["size"].any() and (none | near).all() and (records["time"][1:] >= records["time"][:-1]).all())


def read(source: Source, ignore_size: bool) -> Accesses:
    """uint64 objects in order. Raises DataError for a cut file, times that fall, sizes that are 0 or differ."""
    size = RECORD.itemsize
    count, over = divmod(source.size, size)
    if over:
        raise source.error(
            f"{source.size} bytes are {count} records of {size} and {over} over: truncated; get it again"
        )
    records = source.map(RECORD, 0, count)
    time, least, most = 0, 2**32, 0
    for at in range(0, count, _STEP):
        piece = records[at : at + _STEP]
        times = np.concatenate(([time], piece["time"]))
        if (fell := times[1:] < times[:-1]).any():
            bad = at + int(np.argmax(fell))
            raise source.error(
                f"record {bad} is of time {records['time'][bad]}, after a later one: not oracleGeneral, "
                "or not in access order; sort it, or give another --trace-format"
            )
        time, least, most = int(times[-1]), min(least, int(piece["size"].min())), max(most, int(piece["size"].max()))
        if not ignore_size and (least != most or least == 0):
            bad = at + int(np.argmax((piece["size"] != records["size"][0]) | (piece["size"] == 0)))
            raise source.error(
                f"record {bad} has {records['size'][bad]} bytes, record 0 {records['size'][0]}, and all "
                "pages are of one size above 0: --ignore-size counts each object as 1 page"
            )
    if least == most and least:
        return Accesses(records["object"], least)
    return Accesses(records["object"], None, (f"objects of {least} to {most} bytes, each counted as 1 page",))
