"""Strict parsing and printing of sizes and counts.

A size is a whole or decimal number and a *required* unit (``4KiB``, ``1.5GiB``, ``2GB``); a count is a number
with an optional decimal suffix (``20M``, ``3.2B``, ``65536``). The whole text has to match: ``1GiB/s``, ``4K``
and ``12 parsecs`` are refused rather than read halfway.
"""

import re
from decimal import Decimal

from flashsim.errors import UsageError

_BYTE_UNITS = {
    "B": 1,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
    "kB": 10**3,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
}
_COUNT_UNITS = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9, "G": 10**9, "T": 10**12}
_TIME_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s?([A-Za-z]*)")


def _parse(text: str, units: dict[str, int], kind: str, example: str) -> int:
    match = _NUMBER.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None or match[2] not in units:
        raise UsageError(f"{text!r} is not a {kind}: write it like {example} (units: {', '.join(filter(None, units))})")
    value = Decimal(match[1]) * units[match[2]]
    if value != int(value):
        raise UsageError(f"{text!r} comes to {value}, not a whole number: write it like {example}")
    if value >= 2**63:
        raise UsageError(f"{text!r} is over 2^63: write it like {example}")
    return int(value)


def parse_bytes(text: str) -> int:
    """Bytes in ``text``, such as ``"4KiB"`` (4096) or ``"1.5GiB"``. Raises UsageError for anything else."""
    return _parse(text, _BYTE_UNITS, "size in bytes", "4096B, 64MiB or 1.5GiB")


def parse_count(text: str) -> int:
    """The number in ``text``, such as ``"20B"`` (2e10), ``"3.2B"`` or ``"65536"``. Raises UsageError."""
    return _parse(text, _COUNT_UNITS, "count", "20000, 200M or 3.2B")


def parse_time(text: str) -> int:
    """Nanoseconds in ``text``, such as ``"80us"`` (80000) or ``"1.5ms"``. Raises UsageError for anything else."""
    return _parse(text, _TIME_UNITS, "time", "80us, 1.5ms or 2s")


def format_bytes(size: int) -> str:
    """``size`` bytes in the largest binary unit that it reaches, to four digits: ``1 GiB``, ``127.1 MiB``."""
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        if size >= _BYTE_UNITS[unit]:
            value = size / _BYTE_UNITS[unit]
            return f"{value:.0f} {unit}" if value >= 1000 else f"{value:.4g} {unit}"
    return f"{size} B"


def exact_bytes(size: int) -> str:
    """``size`` bytes, 1 or more, in the largest binary unit that it is a whole number of: ``68 KiB``, ``4160 B``. It is
    never rounded, so :func:`parse_bytes` has it back."""
    unit = next(unit for unit in ("TiB", "GiB", "MiB", "KiB", "B") if size % _BYTE_UNITS[unit] == 0)
    return f"{size // _BYTE_UNITS[unit]} {unit}"


def number_of(count: int, what: str, spec: str = "") -> str:
    """``1 cell``, ``2 cells``. spec: of the format of ``count``, "," where thousands are told apart."""
    return f"{count:{spec}} {what}{'' if count == 1 else 's'}"


def format_count(count: int) -> str:
    """``count`` as it would be typed: ``20B``, ``3.2B``, ``200M``; exact, so what no suffix fits stays whole."""
    for unit in ("T", "B", "M", "k"):
        whole, rest = divmod(count, _COUNT_UNITS[unit])
        thousandths, inexact = divmod(rest * 1000, _COUNT_UNITS[unit])
        if whole and not inexact and (unit != "k" or not rest):
            return f"{whole}.{thousandths:03}".rstrip("0").rstrip(".") + unit
    return str(count)
