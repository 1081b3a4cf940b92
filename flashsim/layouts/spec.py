"""The TOML form of a layout: schema, loading, and errors that name the place.

A layout is data: n-grams, hash family, rows and placement. ``presets/`` holds the ones that come with flashsim; a path
to a file of the same form stands wherever a name does.
"""

import re
from pathlib import Path
from typing import Literal

import msgspec

from flashsim.errors import UsageError

_PRESETS = Path(__file__).parent / "presets"


class Ngrams(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """orders: n of each n-gram, increasing. boundary "document": an n-gram never reaches past its document's start."""

    orders: tuple[int, ...]
    boundary: Literal["document"] = "document"


class Hash(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """family "mix64": Stafford's Mix13 over the n-gram, seeded per order and per head (csim/csim.h)."""

    family: Literal["mix64"] = "mix64"
    seed: int = 0


class Rows(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Which rows an n-gram reads.

    addressing: "whole" = one row an order; "heads" = one row in each of ``heads`` tables with a prime number of rows;
        "bucket" = one row for each head, all in one of a prime number of buckets, which gives each head ``slots`` rows.
    params: parameters of all tables together, such as "20B". width: numbers a row. format: see formats.py.
    """

    addressing: Literal["whole", "heads", "bucket"]
    params: str
    width: int
    format: str
    heads: int = 1
    slots: int | None = None


class Placement(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """rule "page-aligned": a row (or a bucket that fits) never straddles pages. page: the unit of a read."""

    rule: Literal["page-aligned"] = "page-aligned"
    page: str = "4KiB"


class LayoutSpec(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One layout as its TOML file says it."""

    name: str
    ngrams: Ngrams
    rows: Rows
    hash: Hash = Hash()
    placement: Placement = Placement()
    title: str = ""
    source: str = ""


def preset_names() -> list[str]:
    """Names of the layouts that come with flashsim."""
    return sorted(path.stem for path in _PRESETS.glob("*.toml"))


def load_spec(name: str) -> LayoutSpec:
    """The spec called ``name``: a preset's name, or the path of a TOML file. Raises UsageError."""
    path = _PRESETS / f"{name}.toml"
    if not path.is_file():
        path = Path(name)
        if path.suffix != ".toml" or not path.is_file():
            names = preset_names()
            raise UsageError(
                f"no layout {name!r}: take one of the {len(names)} presets, {', '.join(names)}, or a .toml file"
            )
    try:
        spec = msgspec.toml.decode(path.read_bytes(), type=LayoutSpec)
    except msgspec.ValidationError as error:
        raise UsageError(f"{path}: {_located(str(error))} (1 field wrong): see the presets for the form") from None
    except ValueError as error:  # of msgspec, of the encoding, of a number with thousands of digits
        raise UsageError(f"{path}: not TOML ({error}): see the {len(preset_names())} presets for the form") from None
    if not re.fullmatch(r"[A-Za-z0-9._+]+", spec.name):
        raise UsageError(
            f"{path}: name {spec.name!r} goes into file names: use letters, digits, '.', '_' and '+' only (1 or more)"
        )
    if path.parent != _PRESETS and spec.name in preset_names() and spec != load_spec(spec.name):
        raise UsageError(f"{path}: name {spec.name!r} is a preset's (1 name, 2 layouts): give yours another")
    return spec


def _located(message: str) -> str:
    """msgspec's message in lower case, with the place at the root named too."""
    message = message[0].lower() + message[1:]
    return message.replace(" - at `", " at ").rstrip("`") if " - at `" in message else f"{message} at $"
