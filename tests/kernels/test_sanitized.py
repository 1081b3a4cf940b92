"""The C kernels under AddressSanitizer and UndefinedBehaviorSanitizer, on every vector path this CPU has."""

import shutil
import subprocess
from pathlib import Path

import pytest

CSIM = Path(__file__).parents[2] / "csim"
COMPILER = shutil.which("gcc") or shutil.which("cc")


@pytest.fixture(scope="module")
def liburing(tmp_path_factory) -> list[str]:
    """Flags that build the engine io_uring, or none where liburing is not installed."""
    flags = ["-DFS_HAVE_LIBURING", "-luring"]
    probe = "#include <liburing.h>\nint main(void) { return io_uring_submit_and_get_events(0); }"
    output = tmp_path_factory.mktemp("liburing") / "probe"
    command = [COMPILER, "-x", "c", "-", "-o", output, *flags]
    return flags if subprocess.run(command, input=probe, text=True, capture_output=True).returncode == 0 else []


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@pytest.mark.parametrize("isa", [0, 1, 2])
def test_kernels_run_clean(isa, liburing, tmp_path):
    program = tmp_path / f"check{isa}"
    sources = sorted([*CSIM.glob("*.c"), *CSIM.glob("check/*.c")])
    flags = ["-O1", "-g", "-std=c11", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-Wall", "-Wextra"]
    built = subprocess.run(
        [
            COMPILER,
            *flags,
            "-Werror",
            f"-DFS_ISA_LIMIT={isa}",
            "-I",
            CSIM,
            *sources,
            "-o",
            program,
            "-lm",
            "-pthread",
            *liburing,
        ],
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([program], capture_output=True, text=True)
    assert ran.returncode == 0 and "0 failed" in ran.stdout, ran.stdout + ran.stderr
