"""libCacheSim's oracleGeneral: 24-byte records of time (u32), object (u64), size (u32), next access (i64, -1 = none).

Layout: libCacheSim, ``traceReader/customizedReader/oracle/oracleGeneralBin.h``. We write the position as time, object
= page + 1, size = 1 (so that a cache size counts pages), and the position, counted from 1, of the page's next access.
"""

from pathlib import Path
from typing import BinaryIO

import numpy as np

from flashsim.errors import DataError

NAME, ABOUT, SUFFIXES = "oracleGeneral", "libCacheSim's binary format with next accesses", (".oracleGeneral", ".bin")
RECORD = np.dtype([("time", "<u4"), ("object", "<u8"), ("size", "<u4"), ("next", "<i8")])
_STEP = 1 << 20  # records written or read at a time


def write(file: BinaryIO, pages: np.ndarray, page_bytes: int, target: str) -> None:
    """Write ``pages`` to ``file``. Memory: 8 B a reference, for the next accesses."""
    following = next_positions(pages)
    for at in range(0, len(pages), _STEP):
        ids = pages[at : at + _STEP]
        records = np.empty(len(ids), RECORD)
        records["time"] = np.arange(at, at + len(ids))
        records["object"], records["size"] = ids.astype(np.uint64) + np.uint64(1), 1
        records["next"] = following[at : at + _STEP]
        file.write(records.tobytes())


def next_positions(pages: np.ndarray) -> np.ndarray:
    """int64, for each reference the position, counted from 1, of its page's next one; -1 where there is none."""
    order = np.argsort(pages, kind="stable")
    same = pages[order[1:]] == pages[order[:-1]]
    following = np.full(len(pages), -1, np.int64)
    following[order[:-1][same]] = order[1:][same] + 1
    return following


def sniff(head: bytes, size: int | None) -> bool:
    """Whole records whose times do not fall and whose sizes are above 0 and below 2^30."""
    if size is not None and size % RECORD.itemsize:
        return False
    records = np.frombuffer(head[: len(head) // RECORD.itemsize * RECORD.itemsize], RECORD)
    if not len(records) or head.startswith(b"\x93NUMPY"):
        return False
    return bool((np.diff(records["time"].astype(np.int64)) >= 0).all() and (records["size"] < 2**30).all()) and bool(
        ((records["next"] >= -1) & (records["next"] < 2**62) | (records["next"] == 2**63 - 1)).all()
    )


def read(path: Path, ignore_size: bool) -> np.ndarray:
    """uint64 objects in order. Raises DataError for a cut file, or sizes that differ unless ``ignore_size``."""
    from flashsim.interop.packed import data_of

    data = data_of(path)
    if len(data) % RECORD.itemsize:
        raise DataError(
            f"{path}: {len(data)} bytes are not whole records of {RECORD.itemsize}: truncated? get it again"
        )
    records = np.frombuffer(data, RECORD)
    sizes = records["size"]
    if len(records) and not ignore_size and int(sizes.min()) != int(sizes.max()):
        raise DataError(
            f"{path}: objects of {sizes.min()} to {sizes.max()} bytes, a page cache has one size: "
            "--ignore-size counts each as one page"
        )
    return records["object"].copy()
