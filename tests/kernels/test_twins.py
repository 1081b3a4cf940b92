"""The two back ends have the same kernels with the same signatures; none can hide without a twin."""

import inspect

import numpy as np
import pytest

from flashsim.errors import UsageError
from flashsim.kernels import BACKENDS, KERNELS, backend
from flashsim.kernels.state import PolicyState


@pytest.mark.parametrize("kernel", KERNELS)
def test_signatures_are_equal(kernel):
    c, numba = (getattr(backend(name), kernel) for name in BACKENDS)
    assert inspect.signature(c) == inspect.signature(numba)
    if inspect.isclass(c):
        source = inspect.getsource(numba)  # a property of one may be an attribute of the other
        for name in (name for name, _ in inspect.getmembers(c) if not name.startswith("_")):
            assert hasattr(numba, name) or f"self.{name} = " in source
        assert inspect.signature(c.run) == inspect.signature(numba.run)


def test_every_public_kernel_is_listed():
    for name in BACKENDS:
        module = backend(name)
        public = {
            key for key, value in vars(module).items()
            if not key.startswith("_") and getattr(value, "__module__", "").startswith(module.__name__)
        }  # fmt: skip
        assert public == set(KERNELS)


def test_unknown_back_end():
    with pytest.raises(UsageError, match="none of the 2 back ends: c, numba"):
        backend("cuda")


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize("kernel", ["Lru", "StackDistances", "fifo_run"])
@pytest.mark.parametrize("bad", [np.array([-1]), np.zeros((2, 2), np.uint32), np.zeros(3, np.int32)])
def test_a_trace_of_another_type_is_refused(name, kernel, bad):
    module = backend(name)
    run = {
        "Lru": lambda: module.Lru([1], 10).run(bad),
        "StackDistances": lambda: module.StackDistances(10).run(bad),
        "fifo_run": lambda: module.fifo_run(PolicyState.zeroed(1, 10, 1), bad),
    }[kernel]
    with pytest.raises(TypeError):
        run()


def test_numbers_that_numba_needs_too_are_those_of_the_header():
    from flashsim.kernels import drive, plan, stamps
    from flashsim.kernels.c.binding import lib

    assert (drive.MAX_READS, drive.BINS) == (lib.FS_REPLAY_READS, lib.FS_HISTOGRAM_BINS)
    assert (plan.WHOLE, plan.HEADS, plan.BUCKET) == (lib.FS_WHOLE, lib.FS_HEADS, lib.FS_BUCKET)
    assert (plan.XOR, plan.SUM, plan.FILLER, plan.RESERVED) == (lib.FS_XOR, lib.FS_SUM, lib.FS_FILLER, lib.FS_RESERVED)
    assert (plan.PLACE_COLUMNS, plan.PLACE_REGIONS) == (lib.FS_PLACE_COLUMNS, lib.FS_PLACE_REGIONS)
    assert (stamps.STAMP_BYTES, stamps.OTHER_PAGE) == (lib.FS_STAMP_BYTES, lib.FS_STAMP_OTHER_PAGE)
