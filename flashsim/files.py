"""Files that flashsim writes: all-or-nothing replacement, ``.npy`` written in pieces, and the facts beside a result."""

import errno
import fcntl
import glob
import hashlib
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from flashsim.errors import UsageError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # what only writing runs into, and then no file is named


@contextmanager
def replacing(path: str | os.PathLike) -> Iterator[BinaryIO]:
    """A binary file that becomes ``path`` when the block ends well, and leaves no trace when it does not.

    The data is written beside ``path`` under a temporary name and renamed, so a run killed at any moment leaves
    either the old file or the new one. Missing parent folders are made. Raises UsageError where it cannot be written;
    an OSError of a full disk gets the name of the file.
    """
    target, temporary = Path(os.path.realpath(path)), None  # a link stays one
    new_folders = [folder for folder in target.parents if not os.path.exists(folder)]
    try:
        handle, temporary = _temporary_beside(target)
        with os.fdopen(handle, "w+b") as file:
            yield file
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException as error:
        if isinstance(error, OSError) and error.errno in _FULL and error.filename is None:
            error.filename = os.fspath(path)
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        for folder in new_folders:
            with suppress(OSError):  # somebody else's file is in it by now
                folder.rmdir()
        raise


def _temporary_beside(target: Path) -> tuple[int, str]:
    try:
        if target.is_symlink():  # still, with all links followed
            raise UsageError(f"{target} is 1 link that leads back to itself: remove it, or choose another name")
        if target.is_dir():
            raise UsageError(f"{target} is a folder (1 name, 2 meanings): give the name of a file")
        if target.exists() and not target.is_file():
            raise UsageError(f"{target} is 1 device or pipe, which would be replaced: give the name of a file")
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(target)
        made = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
        with suppress(OSError):  # a file system without locks
            fcntl.flock(made[0], fcntl.LOCK_EX)
        return made
    except OSError as error:
        reason = f"{error.strerror} (errno {error.errno})"
        raise UsageError(f"cannot write {target}: {reason}; choose another name or folder") from None


def _remove_leftovers(target: Path) -> None:
    """Remove the temporary files of ``target`` that nobody holds: runs that were killed left them."""
    for left in target.parent.glob(f".{glob.escape(target.name)}.????????.tmp"):
        with suppress(OSError), open(left, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()


def same_name(path: str | os.PathLike, other: str | os.PathLike) -> bool:
    """Whether two names are of one file, there or not; links are followed, also those that lead nowhere."""
    return os.path.realpath(path) == os.path.realpath(other)


def refuse_inputs(outputs: Iterable[str | os.PathLike], inputs: Iterable[str | os.PathLike | None]) -> None:
    """Raise UsageError where an output is the same file as an input, which would be lost, or a new one that would be
    taken for the JSON beside an input."""
    read = [Path(path) for path in inputs if path is not None and os.path.exists(path)]
    files = [path for path in read if path.is_file()]
    jsons = [path.with_name(path.name.removesuffix(".zst")).with_suffix(".json") for path in files]
    beside = {os.path.realpath(json): path for json, path in zip(jsons, files, strict=True)}
    for output in outputs:
        if not os.path.exists(output) and (of := beside.get(os.path.realpath(output))):
            raise UsageError(f"{output} belongs to another file, {of} (1 name, 2 meanings): choose another name")
        if os.path.exists(output) and any(os.path.samefile(output, path) for path in read):
            raise UsageError(f"{output} is 1 of the files that are read: choose another name")


def check_result(csv: Path, kind: str, inputs: Iterable[str | os.PathLike | None]) -> None:
    """Raise UsageError before anything runs where ``csv``, or the .json of this ``kind`` and the figure beside it,
    could not be written, or is one of ``inputs``."""
    if csv.suffix != ".csv":
        raise UsageError(f"-o {csv}: 1 CSV and the files beside it are written: let the name end in .csv")
    written = [csv, *(csv.with_suffix(ending) for ending in (".json", ".svg", ".png"))]
    refuse_inputs(written, inputs)
    facts_path(csv, kind)
    for path in written:
        require_writable(path)


class _Tried(Exception):
    pass


def require_writable(path: str | os.PathLike) -> None:
    """Raise UsageError before a long run where :func:`replacing` would raise it after; leaves no trace."""
    with suppress(_Tried), replacing(path):
        raise _Tried


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_text(path: str | os.PathLike, text: str) -> None:
    """Replace ``path`` by ``text`` (UTF-8), all or nothing. File names that are not UTF-8 are written as JSON can."""
    with replacing(path) as file:
        file.write(text.encode(errors="backslashreplace"))


class NpyWriter:
    """A one-dimensional ``.npy`` file whose length is known only at its end.

    ``file`` is open for binary writing at position 0; ``write`` appends, ``close`` puts the true shape into the
    header. The header has the fixed length that numpy's format 1.0 allows, so data starts 64-byte aligned.
    """

    HEADER_BYTES = 128

    def __init__(self, file: BinaryIO, dtype: np.dtype | type) -> None:
        self._file, self.dtype, self.count = file, np.dtype(dtype), 0
        file.write(bytes(self.HEADER_BYTES))

    def write(self, values: np.ndarray) -> None:
        """Append ``values`` (1-D, already of this file's dtype)."""
        if values.dtype != self.dtype or values.ndim != 1:
            raise TypeError(f"expected a 1-D {self.dtype} array, got {values.ndim}-D {values.dtype}")
        self._file.write(memoryview(np.ascontiguousarray(values)).cast("B"))
        self.count += len(values)

    def close(self) -> None:
        """Write the header. The file stays open: it is the caller's."""
        fields = f"{{'descr': '{self.dtype.str}', 'fortran_order': False, 'shape': ({self.count},), }}"
        text = fields.encode().ljust(self.HEADER_BYTES - 11) + b"\n"
        self._file.seek(0)
        self._file.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text)
        self._file.seek(0, os.SEEK_END)


def sha256_of(path: str | os.PathLike) -> str:
    """Hexadecimal SHA-256 of a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def run_facts() -> dict[str, Any]:
    """What has to stand beside a result for it to be made again: versions, command, machine, time (UTC)."""
    from importlib.metadata import version

    return {
        "flashsim": version("flashsim"),
        "argv": [os.path.basename(sys.argv[0]), *sys.argv[1:]],
        "python": platform.python_version(),
        "numpy": np.__version__,
        "kernel": f"{platform.system()} {platform.release()}",
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "written": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def parse_json(text: str | bytes) -> Any:
    """What a JSON text holds. Raises ValueError, in one line, where it is none or is nested too deeply to be read."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(" ".join(str(error).split())) from None


def facts_path(beside: str | os.PathLike, kind: str | None) -> Path:
    """The ``.json`` beside a result whose facts have this ``kind``.

    Raises UsageError where that name is taken by a JSON of another kind: the one beside a token file or another
    result, which would be lost; or by what is no file.
    """
    path = Path(beside).with_suffix(".json")
    if os.path.exists(path) and not os.path.isfile(path):
        require_writable(path)  # says what it is
    if os.path.isfile(path):
        try:
            held = parse_json(path.read_bytes())
        except ValueError:
            held = None
        if not isinstance(held, dict) or held.get("kind") != kind:
            raise UsageError(
                f"{path} is there already and belongs to another file (1 name, 2 meanings): choose another name"
            )
    return path


def write_facts(beside: str | os.PathLike, facts: dict[str, Any]) -> Path:
    """Write ``facts`` with :func:`run_facts` as the ``.json`` beside a result; returns its path. Raises UsageError as
    :func:`facts_path` does."""
    path = facts_path(beside, facts.get("kind"))
    write_text(path, json.dumps(facts | {"run": run_facts()}, indent=1, ensure_ascii=False) + "\n")
    return path
