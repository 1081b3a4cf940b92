"""Layouts: what each table is, exactly. A TOML spec (``spec.py``, ``presets/``) becomes numbers in ``geometry.py``."""

import operator
from typing import Any

import msgspec

from flashsim.errors import UsageError
from flashsim.layouts.geometry import UNITS, Layout, work_out
from flashsim.layouts.spec import LayoutSpec, load_spec, preset_names
from flashsim.units import format_count, parse_bytes, parse_count

__all__ = ["UNITS", "Layout", "LayoutSpec", "layout", "load_spec", "preset_names"]

# option -> (section of the spec, field, letter that marks it in a label)
_OPTIONS = {
    "heads": ("rows", "heads", "K"),
    "width": ("rows", "width", "w"),
    "orders": ("ngrams", "orders", "n"),
    "row_format": ("rows", "format", ""),
    "seed": ("hash", "seed", "seed"),
    "page": ("placement", "page", "page"),
}
# option -> (what makes two values the same, how a label writes one): so that no two layouts share a label
_COMPARED = {
    "orders": (tuple, lambda orders: "+".join(map(str, orders))),
    "page": (parse_bytes, lambda size: str(parse_bytes(size))),
}


def layout(
    name: str,
    *,
    S: int | None = None,
    params: str | int | None = None,
    heads: int | None = None,
    width: int | None = None,
    orders: tuple[int, ...] | None = None,
    row_format: str | None = None,
    seed: int | None = None,
    page: str | None = None,
) -> Layout:
    """The layout called ``name`` (a preset or a TOML file) with some of its values replaced.

    S: slots a head in a bucket. params: parameters of all tables ("20B" or a number). heads: K. width: numbers a row.
    orders: n of each n-gram. row_format: see formats.py. seed: of the hash. page: "4KiB". Integers may be numpy's.
    Raises UsageError where the values do not make a table.
    """
    spec = load_spec(name)
    asked = {"heads": heads, "width": width, "orders": orders, "row_format": row_format, "seed": seed, "page": page}
    marks = []
    for option, value in asked.items():
        if value is None:
            continue
        if option in ("heads", "width", "orders", "seed"):
            value = _whole(option, value)
        section, field, letter = _OPTIONS[option]
        read, write = _COMPARED.get(option, (lambda given: given, str))
        if read(value) != read(getattr(getattr(spec, section), field)):
            marks.append(letter + write(value))
        spec = _replaced(spec, section, **{field: value})
    if S is not None:
        spec = _replaced(spec, "rows", slots=_whole("S", S))
    if params is not None:
        count = parse_count(params) if isinstance(params, str) else params
        spec = _replaced(spec, "rows", params=str(count))
    slots = [f"S{spec.rows.slots}"] if spec.rows.slots is not None else []
    label = "-".join([spec.name, *slots, format_count(parse_count(spec.rows.params)), *marks])
    return work_out(spec, label)


def _whole(option: str, value: Any) -> int | tuple[int, ...]:
    """``value`` in Python's integers: msgspec and the hash take no others."""
    several = option == "orders"
    try:
        return tuple(map(operator.index, value)) if several else int(operator.index(value))
    except TypeError:
        wanted = "whole numbers, like (2, 3)" if several else "a whole number, like 4"
        raise UsageError(f"{option} {value!r}: give {wanted}") from None


def _replaced(spec: LayoutSpec, section: str, **values: Any) -> LayoutSpec:
    changed = msgspec.structs.replace(getattr(spec, section), **values)
    return msgspec.structs.replace(spec, **{section: changed})
