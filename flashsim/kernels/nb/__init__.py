"""The numba twins of the C kernels: same names, same signatures, same results. One file for each file of ``csim/``."""

from flashsim.kernels.nb.address import mix_address
from flashsim.kernels.nb.clock import clock2_run, clock_run
from flashsim.kernels.nb.fifo import fifo_run
from flashsim.kernels.nb.lru import Lru
from flashsim.kernels.nb.random import random_run
from flashsim.kernels.nb.s3fifo import s3fifo_run
from flashsim.kernels.nb.sieve import sieve_run
from flashsim.kernels.nb.slru import slru_run
from flashsim.kernels.nb.stack import StackDistances

__all__ = [
    "Lru",
    "StackDistances",
    "clock2_run",
    "clock_run",
    "fifo_run",
    "mix_address",
    "random_run",
    "s3fifo_run",
    "sieve_run",
    "slru_run",
]
