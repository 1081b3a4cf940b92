"""The peers of the benchmarks: libCacheSim (PyPI ``libcachesim``), and in C a Fenwick tree and LRU's floor."""

import ctypes
import subprocess
from pathlib import Path

import numpy as np

from flashsim.interop import export


def write_oracle_general(path: Path, trace: np.ndarray) -> None:
    """``trace`` (page ids) in libCacheSim's oracleGeneral format, every object of size 1."""
    export(path, "oracleGeneral", np.asarray(trace, np.uint32), int(trace.max()) + 1)


def misses(path: Path, policy: str, capacity: int, references: int, **options) -> int:
    """Misses of libCacheSim's ``policy`` at ``capacity`` objects over the trace in ``path``."""
    import libcachesim

    reader = libcachesim.TraceReader(str(path), libcachesim.TraceType.ORACLE_GENERAL_TRACE)
    cache = getattr(libcachesim, policy)(cache_size=capacity, **options)
    ratio, _ = cache.process_trace(reader)
    return round(ratio * references)


def compiled(folder: Path, source: str) -> ctypes.CDLL:
    """The C file ``source`` beside this one, as a library in ``folder``."""
    library = folder / Path(source).with_suffix(".so")
    subprocess.run(["cc", "-O3", "-shared", "-fPIC", Path(__file__).with_name(source), "-o", library], check=True)
    return ctypes.CDLL(str(library))


def fenwick(library: ctypes.CDLL, trace: np.ndarray, pages: int) -> np.ndarray:
    """References at each stack distance, as ``StackDistances.histogram``."""
    tree, last = np.zeros(len(trace) + 1, np.uint32), np.zeros(pages, np.uint32)
    counts = np.zeros(pages + 1, np.uint64)
    buffers = [ctypes.c_void_p(array.ctypes.data) for array in (trace, tree, last, counts)]
    library.fenwick_distances(buffers[0], ctypes.c_int64(len(trace)), *buffers[1:])
    return counts.astype(np.int64)


def gather(library: ctypes.CDLL, trace: np.ndarray, pages: int) -> None:
    """Read and write a word a page for each reference: the least that LRU has to do."""
    last = np.zeros(pages, np.uint32)
    library.gather(ctypes.c_void_p(trace.ctypes.data), ctypes.c_int64(len(trace)), ctypes.c_void_p(last.ctypes.data))
