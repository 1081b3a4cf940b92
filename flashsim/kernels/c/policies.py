"""The other policies: one ``csim/`` file each, all of one form."""

import numpy as np

from flashsim.kernels.c.binding import ffi, lib, pointer, trace_pointer
from flashsim.kernels.state import PolicyState


def _policy(name: str):
    """The ``NAME_run(state, trace, missed=None)`` of the policy ``name``."""
    function = getattr(lib, f"fs_{name}_run")

    def run(state: PolicyState, trace: np.ndarray, missed: np.ndarray | None = None) -> None:
        """Go on with ``trace`` (uint32 page ids) over ``state``. missed: uint8, same length, or None: receives 1 for
        each miss. Raises ValueError on an id that is outside ``state.page``."""
        if missed is not None and len(missed) != len(trace):
            raise ValueError(f"missed has room for {len(missed)} of {len(trace)} references")
        policy = {
            "capacity": state.capacity,
            "pages": len(state.page),
            "slots": len(state.slot),
            "page": pointer("uint32_t[]", state.page, np.uint32, writable=True),
            "slot": pointer("uint32_t[]", state.slot, np.uint32, writable=True),
            "reg": pointer("int64_t[]", state.reg, np.int64, writable=True),
        }
        code = function(
            ffi.new("struct fs_policy *", policy),
            trace_pointer(trace),
            len(trace),
            pointer("uint8_t[]", missed, np.uint8, writable=True),
        )
        if code:
            raise ValueError(f"{name}: errno {-code}; ids below {len(state.page)} expected, capacity {state.capacity}")

    return run


def next_use(trace: np.ndarray, last: np.ndarray, uses: np.ndarray, first: int) -> None:
    """Write the next uses of the references ``trace`` (uint32 page ids), numbered from ``first``, to ``uses``.

    uses: uint32, room for all references so far (2^32 - 2 at most); uses[t] becomes the number of the next reference to
    the page of t, 2^32 - 1 = none so far. last: uint32, one a page, 1 + the page's last reference; zeros at first.
    Raises ValueError on an id that is outside ``last``, or where the room is too small.
    """
    if first < 0 or first + len(trace) > min(len(uses), 2**32 - 2):
        raise ValueError(f"room for {min(len(uses), 2**32 - 2)} of {first + len(trace)} references")
    code = lib.fs_next_use(
        trace_pointer(trace),
        len(trace),
        len(last),
        pointer("uint32_t[]", last, np.uint32, writable=True),
        pointer("uint32_t[]", uses, np.uint32, writable=True),
        first,
    )
    if code:
        raise ValueError(f"next_use: errno {-code}; ids below {len(last)} expected, the largest is {trace.max()}")


fifo_run = _policy("fifo")
clock_run = _policy("clock")
clock2_run = _policy("clock2")
sieve_run = _policy("sieve")
s3fifo_run = _policy("s3fifo")
slru_run = _policy("slru")
random_run = _policy("random")
min_run = _policy("min")
twoq_run = _policy("twoq")
arc_run = _policy("arc")
lfu_run = _policy("lfu")
wtinylfu_run = _policy("wtinylfu")
