"""Machine operations that numba does not name."""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

AHEAD = 64  # references ahead to prefetch: the latency of memory over the time of an access


@intrinsic
def trailing_zeros(_, word):
    """Count of trailing zero bits of a uint64 that is not zero."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], cgutils.true_bit)

    return types.uint64(types.uint64), generate


@intrinsic
def popcount(_, word):
    """Count of set bits of a uint64."""

    def generate(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


@intrinsic
def leading_zeros(_, word):
    """Count of leading zero bits of a uint64 that is not zero."""

    def generate(context, builder, signature, args):
        return builder.ctlz(args[0], cgutils.true_bit)

    return types.uint64(types.uint64), generate


@intrinsic
def double_of(_, bits):
    """The float64 with the bits of an int64; bits_of goes back."""

    def generate(context, builder, signature, args):
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), generate


@intrinsic
def bits_of(_, real):
    """The int64 with the bits of a float64."""

    def generate(context, builder, signature, args):
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def prefetch(_, array, index):
    """Start to load array[index] (first axis, C order) for writing. No bounds are checked: nothing is read."""

    def generate(context, builder, signature, args):
        made = make_array(signature.args[0])(context, builder, args[0])
        stride = builder.extract_value(made.strides, 0)
        offset = builder.mul(builder.sext(args[1], stride.type) if args[1].type.width < 64 else args[1], stride)
        byte = ir.IntType(8).as_pointer()
        address = builder.gep(builder.bitcast(made.data, byte), [offset])
        integer = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, integer, integer, integer])
        function = get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [address, integer(1), integer(3), integer(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


def require_trace(array) -> None:
    """Raise TypeError unless ``array`` is a 1-D uint32 array: other ids would wrap, not fail."""
    if array.dtype != "uint32" or array.ndim != 1:
        raise TypeError(f"expected a 1-D uint32 array, got {array.ndim}-D {array.dtype}")
