"""The C kernels, called through cffi: one file for each group of them; ``binding.py`` has the compiled part."""

from flashsim.kernels.c.address import mix_address
from flashsim.kernels.c.drive import drive_run
from flashsim.kernels.c.lru import Lru
from flashsim.kernels.c.match import match
from flashsim.kernels.c.place import place
from flashsim.kernels.c.policies import (
    arc_run,
    clock2_run,
    clock_run,
    fifo_run,
    lfu_run,
    min_run,
    next_use,
    random_run,
    s3fifo_run,
    sieve_run,
    slru_run,
    twoq_run,
    wtinylfu_run,
)
from flashsim.kernels.c.stack import StackDistances
from flashsim.kernels.c.stamp import stamp_check, stamp_fill
from flashsim.kernels.c.tables import table_rows
from flashsim.kernels.c.weave import weave

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
