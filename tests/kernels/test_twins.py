"""The two back ends have the same kernels with the same signatures; none can hide without a twin."""

import inspect

import pytest

from flashsim.errors import UsageError
from flashsim.kernels import BACKENDS, KERNELS, backend


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
