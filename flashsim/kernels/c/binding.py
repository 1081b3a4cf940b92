"""The only module that imports the compiled part. A buffer crosses into C as a bare pointer: its dtype and layout are
checked here first, shapes and limits where a kernel is called."""

import numpy as np

from flashsim.kernels import _csim

ffi, lib = _csim.ffi, _csim.lib


def trace_pointer(array: np.ndarray):
    if array.ndim != 1:
        raise TypeError(f"a trace is 1-D, got {array.ndim}-D of shape {array.shape}")
    return pointer("uint32_t[]", array, np.uint32)


def pointer(kind: str, array: np.ndarray | None, dtype: type, writable: bool = False):
    if array is None:
        return ffi.NULL
    if array.dtype != dtype or not array.flags.c_contiguous:
        raise TypeError(f"expected a contiguous {np.dtype(dtype)} array, got {array.dtype}, strides {array.strides}")
    return ffi.from_buffer(kind, array, require_writable=writable)


def stream_arguments(ids: np.ndarray, first: int, starts: np.ndarray, out: np.ndarray) -> tuple:
    """The arguments that every kernel from tokens to ids has in the middle."""
    return (
        pointer("uint32_t[]", ids, np.uint32),
        len(ids),
        first,
        pointer("int64_t[]", starts, np.int64),
        len(starts),
        pointer("uint32_t[]", out, np.uint32, writable=True),
        len(out),
    )
