"""The kernels: address arithmetic and cache simulation, in C and, as their twin, in numba.

``c/`` and ``nb/`` have the same names with the same signatures and give the same results to the last bit;
``backend`` picks one. A new kernel is a function in both and a row in KERNELS, which the agreement tests loop over.
"""

import importlib
from types import ModuleType

from flashsim.errors import UsageError

BACKENDS = {"c": "flashsim.kernels.c", "numba": "flashsim.kernels.nb"}
KERNELS = (
    "mix_address",
    "table_rows",
    "place",
    "match",
    "weave",
    "Lru",
    "StackDistances",
    "next_use",
    "stamp_check",
    "stamp_fill",
    "arc_run",
    "clock2_run",
    "clock_run",
    "drive_run",
    "fifo_run",
    "lfu_run",
    "min_run",
    "random_run",
    "s3fifo_run",
    "sieve_run",
    "slru_run",
    "twoq_run",
    "wtinylfu_run",
)


def backend(name: str = "c") -> ModuleType:
    """The module with the kernels of ``name``: "c" or "numba". Raises UsageError where it cannot be had."""
    if name not in BACKENDS:
        raise UsageError(f"{name!r} is none of the {len(BACKENDS)} back ends: {', '.join(BACKENDS)}")
    try:
        return importlib.import_module(BACKENDS[name])
    except ImportError as error:
        other = next(other for other in BACKENDS if other != name)
        raise UsageError(
            f"the {name} kernels do not load ({error}): install flashsim again, or --backend {other}"
        ) from None
