"""File systems of all kinds for tests, on loop devices. What a machine cannot give is skipped, with the reason."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from flashsim.kernels.target import dio_align

LEAST_MIB = {"ext4": 48, "xfs": 320, "btrfs": 128}  # images are sparse


def direct_folder(tmp_path: Path) -> Path:
    """A folder on a file system with true direct I/O."""
    with tempfile.NamedTemporaryFile(dir=tmp_path) as file:
        told = dio_align(file.fileno())
    if told is None or not told[1]:
        pytest.skip(f"no direct I/O in {tmp_path} (statx says {told}): set TMPDIR to a folder on ext4 or XFS")
    return tmp_path


def run(*command: str | Path) -> str:
    """The output of a command that takes root."""
    if os.getuid() != 0:
        pytest.skip(f"{command[0]} takes root")
    if shutil.which(str(command[0])) is None:
        pytest.skip(f"no {command[0]} here")
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode:
        pytest.skip(f"{' '.join(map(str, command))}: {ran.stderr.strip()}")
    return ran.stdout.strip()


@contextmanager
def loop_device(folder: Path, mib: int, *, direct: bool = True) -> Iterator[Path]:
    """A block device of ``mib`` MiB over a sparse file in ``folder``; with ``direct``, read past the page cache."""
    image = folder / "disk.img"
    image.touch()
    os.truncate(image, mib << 20)
    device = run("losetup", "--find", "--show", f"--direct-io={'on' if direct else 'off'}", "--partscan", image)
    try:
        yield Path(device)
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)
        image.unlink()


@contextmanager
def mounted(kind: str, folder: Path, mib: int = 0) -> Iterator[Path]:
    """A new file system of ``kind`` (ext4, xfs, btrfs), mounted in ``folder``."""
    with loop_device(folder, mib or LEAST_MIB[kind]) as device:
        run(f"mkfs.{kind}", "-q", device)
        with _mount(folder, "-t", kind, device) as point:
            yield point


@contextmanager
def overlaid(lower: Path, folder: Path, upper: Path | None = None) -> Iterator[Path]:
    """An overlay over ``lower``, whose upper layer is in ``upper`` (``folder``)."""
    upper = (upper or folder) / "layers"
    (upper / "upper").mkdir(parents=True)
    (upper / "work").mkdir()
    options = f"lowerdir={lower},upperdir={upper / 'upper'},workdir={upper / 'work'}"
    try:
        with _mount(folder, "-t", "overlay", "-o", options, "overlay") as point:
            yield point
    finally:
        shutil.rmtree(upper)


@contextmanager
def in_memory(kind: str, folder: Path, mib: int = 64) -> Iterator[Path]:
    """A tmpfs or ramfs."""
    size = ("-o", f"size={mib}m") if kind == "tmpfs" else ()
    with _mount(folder, "-t", kind, *size, kind) as point:
        yield point


@contextmanager
def fused(source: Path, folder: Path) -> Iterator[Path]:
    """``source`` again through FUSE (bindfs)."""
    point = folder / "fused"
    point.mkdir()
    run("bindfs", source, point)
    try:
        yield point
    finally:
        subprocess.run(["umount", point], check=True)


@contextmanager
def _mount(folder: Path, *arguments: str | Path) -> Iterator[Path]:
    point = folder / "mounted"
    point.mkdir()
    try:
        run("mount", *arguments, point)
        try:
            yield point
        finally:
            subprocess.run(["umount", point], check=True)
    finally:
        with suppress(OSError):
            point.rmdir()


class Os:
    """The module os with some functions of its own, to stand in for it in one module."""

    def __init__(self, **functions) -> None:
        vars(self).update(functions)

    def __getattr__(self, name: str):
        return getattr(os, name)
