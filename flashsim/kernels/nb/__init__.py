"""The numba twins of the C kernels: same names, same signatures, same results. One file for each file of ``csim/``."""

from flashsim.kernels.nb.address import mix_address
from flashsim.kernels.nb.fifo import fifo_run
from flashsim.kernels.nb.lru import Lru
from flashsim.kernels.nb.stack import StackDistances

__all__ = ["Lru", "StackDistances", "fifo_run", "mix_address"]
