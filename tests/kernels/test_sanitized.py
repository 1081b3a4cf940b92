"""The C kernels under AddressSanitizer and UndefinedBehaviorSanitizer, on every vector path this CPU has."""

import shutil
import subprocess
from pathlib import Path

import pytest

CSIM = Path(__file__).parents[2] / "csim"
COMPILER = shutil.which("gcc") or shutil.which("cc")


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@pytest.mark.parametrize("isa", [0, 1, 2])
def test_kernels_run_clean(isa, tmp_path):
    program = tmp_path / f"check{isa}"
    sources = sorted([*CSIM.glob("*.c"), *CSIM.glob("check/*.c")])
    flags = ["-O1", "-g", "-std=c11", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-Wall", "-Wextra"]
    built = subprocess.run(
        [COMPILER, *flags, "-Werror", f"-DFS_ISA_LIMIT={isa}", "-I", CSIM, *sources, "-o", program, "-lm"],
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([program], capture_output=True, text=True)
    assert ran.returncode == 0 and "0 failed" in ran.stdout, ran.stdout + ran.stderr
