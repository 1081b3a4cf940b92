"""Writes the C source of the cffi binding: ``binding.py csim.h _csim.c``. Run by CMake."""

import sys
from pathlib import Path

from cffi import FFI


def main(header: str, output: str) -> None:
    declarations = Path(header).read_text().split("/* BINDING BEGIN */")[1].split("/* BINDING END */")[0]
    ffi = FFI()
    ffi.cdef(declarations)
    ffi.set_source("flashsim.kernels._csim", '#include "csim.h"')
    ffi.emit_c_code(output)


if __name__ == "__main__":
    main(*sys.argv[1:])
