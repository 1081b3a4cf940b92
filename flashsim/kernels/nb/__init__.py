"""The numba twins of the C kernels: same names, same signatures, same results. One file for each file of ``csim/``."""

from flashsim.kernels.nb.address import mix_address
from flashsim.kernels.nb.arc import arc_run
from flashsim.kernels.nb.belady import min_run, next_use
from flashsim.kernels.nb.fifo import fifo_run
from flashsim.kernels.nb.lfu import lfu_run
from flashsim.kernels.nb.lru import Lru
from flashsim.kernels.nb.twoq import twoq_run
from flashsim.kernels.nb.wtinylfu import wtinylfu_run

__all__ = [
    "Lru",
    "arc_run",
    "fifo_run",
    "lfu_run",
    "min_run",
    "mix_address",
    "next_use",
    "twoq_run",
    "wtinylfu_run",
]
