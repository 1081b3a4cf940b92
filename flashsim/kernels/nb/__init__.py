"""The numba twins of the C kernels: same names, same signatures, same results. One file for each file of
``csim/``; ``counting.py``, ``loads.py``, ``ngrams.py``, ``pairs.py`` and ``schedule.py`` have no twin: they make and
change no trace."""

import os
import tempfile
from pathlib import Path

if "NUMBA_CACHE_DIR" not in os.environ and not os.access(Path(__file__).parent, os.W_OK):
    # a system-wide install: numba looks at this when it is first imported, which is below
    os.environ["NUMBA_CACHE_DIR"] = str(Path(tempfile.gettempdir()) / f"flashsim-numba-{os.getuid()}")

from flashsim.kernels.nb.address import mix_address
from flashsim.kernels.nb.arc import arc_run
from flashsim.kernels.nb.belady import min_run, next_use
from flashsim.kernels.nb.clock import clock2_run, clock_run
from flashsim.kernels.nb.drive import drive_run
from flashsim.kernels.nb.fifo import fifo_run
from flashsim.kernels.nb.lfu import lfu_run
from flashsim.kernels.nb.lru import Lru
from flashsim.kernels.nb.match import match
from flashsim.kernels.nb.place import place
from flashsim.kernels.nb.random import random_run
from flashsim.kernels.nb.s3fifo import s3fifo_run
from flashsim.kernels.nb.sieve import sieve_run
from flashsim.kernels.nb.slru import slru_run
from flashsim.kernels.nb.stack import StackDistances
from flashsim.kernels.nb.stamp import stamp_check, stamp_fill
from flashsim.kernels.nb.tables import table_rows
from flashsim.kernels.nb.twoq import twoq_run
from flashsim.kernels.nb.weave import weave
from flashsim.kernels.nb.wtinylfu import wtinylfu_run

__all__ = [
    "Lru",
    "StackDistances",
    "arc_run",
    "clock2_run",
    "clock_run",
    "drive_run",
    "fifo_run",
    "lfu_run",
    "match",
    "min_run",
    "mix_address",
    "next_use",
    "place",
    "random_run",
    "s3fifo_run",
    "sieve_run",
    "slru_run",
    "stamp_check",
    "stamp_fill",
    "table_rows",
    "twoq_run",
    "weave",
    "wtinylfu_run",
]
