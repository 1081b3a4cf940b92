"""libCacheSim (PyPI ``libcachesim``) over one of our traces."""

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
