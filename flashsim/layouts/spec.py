"""The TOML form of a layout: schema, loading, and errors that name the place.

A layout is data: n-grams, hash family, rows and placement. ``presets/`` holds the ones that come with flashsim; a path
to a file of the same form stands wherever a name does.
"""

import re
from pathlib import Path
from typing import Literal

import msgspec

from flashsim.errors import UsageError
from flashsim.forms import read_form

_PRESETS = Path(__file__).parent / "presets"


class Ngrams(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Which n-grams, and what happens to one that reaches back too far.

    orders: n of each n-gram, increasing.
    boundary: what no n-gram reaches past: "document" = its document's start, "sequence" = the start of the stream only
        (documents leak into each other).
    missing: "skip" = an order that reaches too far reads nothing; "filler" = each of its tokens out of reach counts as
        the token ``filler``; "reserved" = it reads its table's reserved row.
    first_as: by order, the id that a sequence's first token has as the oldest of the n-gram, for one published table.
    """

    orders: tuple[int, ...]
    boundary: Literal["document", "sequence"] = "document"
    missing: Literal["skip", "filler", "reserved"] = "skip"
    filler: int = 0
    first_as: dict[int, int] = {}


class Vocabulary(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The ids that are hashed. size: how many there are, 0 = not known. mapped: they are not the tokenizer's own but a
    map's (``--vocab-map``), as Engram's compressed ones; raw: how many the tokenizer's own are, where that is known."""

    size: int = 0
    mapped: bool = False
    raw: int = 0


class Hash(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """From n-grams to rows.

    family "mix64": Stafford's Mix13 over the n-gram, seeded per order and per head (csim/csim.h).
    family "xor-multiply": XOR over k of (token k back * multiplier k), modulo the table's rows; csim/csim.h has it and
        the next two.
    family "polynomial": (token 0 + SUM over k of (token k back * (radix^k mod rows))) modulo the table's rows.
    family "identity": the token is the row.
    family "longest-match": the row of the longest n-gram of a set (``--ngram-set``), if there is one.
    layers: numbers of the model's layers that have tables of their own; () = one set of tables.
    multipliers: one list a layer or, where the orders have their own, one an order; () = drawn by Engram's rule
        (derive.py) for each layer, from ``seed``.
    word: bits of the arithmetic, 64 or 32.
    """

    family: Literal["mix64", "xor-multiply", "polynomial", "identity", "longest-match"] = "mix64"
    seed: int = 0
    layers: tuple[int, ...] = ()
    multipliers: tuple[tuple[int, ...], ...] = ()
    radix: int = 0
    word: Literal[32, 64] = 64


class Rows(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Which rows an n-gram reads.

    addressing: "whole" = one row an order; "heads" = one row in each of ``heads`` tables with a prime number of rows;
        "bucket" = one row for each head, all in one of a prime number of buckets, which gives each head ``slots`` rows.
    width: numbers a row. format: see formats.py.
    How many rows, in one of three ways: params = parameters of all tables together, such as "20B"; sizes = rows of each
        table, order-major; primes_from = each order takes the primes at or above it that no table before has.
    padded: rows on the drive, those that are never read at the end included; 0 = as many as there are.
    """

    addressing: Literal["whole", "heads", "bucket"]
    width: int
    format: str
    params: str | None = None
    sizes: tuple[int, ...] = ()
    primes_from: int = 0
    padded: int = 0
    heads: int = 1
    slots: int | None = None


class Placement(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Where the rows lie.

    rule: "page-aligned" = a row (or a bucket that fits) never straddles pages; "packed" = rows back to back; "planar" =
        each part of the rows (weights, scales, biases) in a region of its own.
    page: the unit of a read. base: byte at which the table begins in its file, or one for each layer or, planar, for
        each part of each layer.
    shards: equal parts, each of which begins on a page. resident: parts that are kept in RAM (planar).
    """

    rule: Literal["page-aligned", "packed", "planar"] = "page-aligned"
    page: str = "4KiB"
    base: int | tuple[int, ...] = 0
    shards: int = 1
    resident: tuple[str, ...] = ()


class LayoutSpec(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One layout as its TOML file says it. uncertain: what is not sure about it, for people."""

    name: str
    ngrams: Ngrams
    rows: Rows
    hash: Hash = Hash()
    vocabulary: Vocabulary = Vocabulary()
    placement: Placement = Placement()
    title: str = ""
    source: str = ""
    uncertain: tuple[str, ...] = ()

    @property
    def fixed(self) -> bool:
        """True where the spec itself says how many rows there are, and not a number of parameters."""
        return bool(self.rows.sizes or self.rows.primes_from) or self.hash.family == "longest-match"


def preset_names() -> list[str]:
    """Names of the layouts that come with flashsim."""
    return sorted(path.stem for path in _PRESETS.glob("*.toml"))


def load_spec(name: str) -> LayoutSpec:
    """The spec called ``name``: a preset's name, or the path of a TOML file. Raises UsageError."""
    path = _PRESETS / f"{name}.toml"
    if not path.is_file():
        path = Path(name)
        if path.suffix == ".toml" and not path.is_file():
            raise UsageError(f"no layout file {name!r} (0 files of that name): give its path, or a preset's name")
        if not path.is_file() or path.suffix != ".toml":
            names = preset_names()
            raise UsageError(
                f"no layout {name!r}: take one of the {len(names)} presets, {', '.join(names)}, or a .toml file"
            )
    spec = read_form(path, LayoutSpec)
    if not re.fullmatch(r"[A-Za-z0-9._+-]+", spec.name):
        raise UsageError(
            f"{path}: name {spec.name!r} goes into file names: use letters, digits, '.', '_', '+', '-' only (1 or more)"
        )
    if path.parent != _PRESETS and spec.name in preset_names() and spec != load_spec(spec.name):
        raise UsageError(f"{path}: name {spec.name!r} is a preset's (1 name, 2 layouts): give yours another")
    return spec
