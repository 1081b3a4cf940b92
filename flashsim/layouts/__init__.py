"""Layouts: what each table is, exactly. A TOML spec (``spec.py``, ``presets/``) becomes numbers in ``mixed.py`` (the
report's layouts) or ``tables.py`` (published tables), both of the form in ``geometry.py``."""

import operator
from pathlib import Path
from typing import Any

import msgspec

from flashsim.errors import UsageError
from flashsim.layouts import matched, mixed, tables
from flashsim.layouts.geometry import UNITS, Layout, check_spec
from flashsim.layouts.spec import LayoutSpec, load_spec, preset_names
from flashsim.layouts.vocabulary import load_map
from flashsim.layouts.weights import based_on
from flashsim.units import format_count, parse_bytes, parse_count

__all__ = ["UNITS", "Layout", "LayoutSpec", "layout", "load_spec", "preset_names"]

# option -> (section of the spec, field, letter that marks it in a label)
_OPTIONS = {
    "heads": ("rows", "heads", "K"),
    "width": ("rows", "width", "w"),
    "orders": ("ngrams", "orders", "n"),
    "row_format": ("rows", "format", ""),
    "seed": ("hash", "seed", "seed"),
    "placement": ("placement", "rule", ""),
    "page": ("placement", "page", "page"),
    "base": ("placement", "base", "base"),
    "resident": ("placement", "resident", "ram-"),
}
# option -> (what makes two values the same, how a label writes one): so that no two layouts share a label
_COMPARED = {
    "orders": (tuple, lambda orders: "+".join(map(str, orders))),
    "page": (parse_bytes, lambda size: str(parse_bytes(size))),
    "base": (lambda base: base, lambda base: "+".join(map(str, base)) if isinstance(base, tuple) else str(base)),
    "resident": (tuple, "+".join),
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
    placement: str | None = None,
    base: int | tuple[int, ...] | None = None,
    resident: tuple[str, ...] | None = None,
    vocab_map: str | Path | None = None,
    raw_ids: bool | None = None,
    ngram_set: str | Path | None = None,
    weights: str | Path | None = None,
    tensor: tuple[str, ...] | None = None,
) -> Layout:
    """The layout called ``name`` (a preset or a TOML file) with some of its values replaced.

    S: slots a head in a bucket. params: parameters of all tables ("20B" or a number). heads: K. width: numbers a row.
    orders: n of each n-gram. row_format: see formats.py. seed: of the hash. page: "4KiB". Integers may be numpy's.
    placement: "page-aligned", "packed" or "planar". base: byte at which the table begins in its file, or one a layer.
    resident: parts of a planar table that are kept in RAM. vocab_map: .npy with the id that is hashed for each token
    id, where a layout hashes ids of its own. raw_ids: hash the token ids there all the same. ngram_set: .npy with the
    n-grams that have rows (longest-match). weights: a .gguf or .safetensors file, whose matrices ``tensor`` (one, or
    one a layer) say where the table begins and in which format.
    Raises UsageError where the values do not make a table.
    """
    spec = load_spec(name)
    asked = {
        "heads": heads, "width": width, "orders": orders, "row_format": row_format, "seed": seed, "page": page,
        "placement": placement, "base": base, "resident": resident,
    }  # fmt: skip
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
        spec = _replaced(spec, section, **{field: tuple(value) if option == "resident" else value})
    if S is not None:
        spec = _replaced(spec, "rows", slots=_whole("S", S))
    if params is not None:
        if spec.fixed:
            raise UsageError(f"--params {params}: {spec.name} has the rows that it was published with: leave it out")
        count = parse_count(params) if isinstance(params, str) else params
        spec = _replaced(spec, "rows", params=str(count))
    check_spec(spec)
    slots = [f"S{spec.rows.slots}"] if spec.rows.slots is not None else []
    size = [] if spec.fixed else [format_count(parse_count(spec.rows.params))]
    label = "-".join([spec.name, *slots, *size, *marks, *(["raw-ids"] if raw_ids else [])])
    if ngram_set is not None and spec.hash.family != "longest-match":
        raise UsageError(f"--ngram-set: {spec.name} hashes any n-gram, 1 set is no use to it: leave it out")
    if (vocab_map is not None or raw_ids) and not spec.vocabulary.mapped:
        option = "--vocab-map" if vocab_map is not None else "--raw-ids"
        raise UsageError(f"{option}: {spec.name} hashes the tokenizer's own ids, with 0 maps of them: leave it out")
    if spec.hash.family == "longest-match":
        made = matched.work_out(spec, label, ngram_set)
    elif spec.hash.family != "mix64":
        made = tables.work_out(spec, label, None if vocab_map is None else load_map(vocab_map), bool(raw_ids))
    else:
        made = mixed.work_out(spec, label)
    if weights is None and not tensor:
        return made
    if weights is None or not tensor or base is not None:
        raise UsageError("--weights, --tensor and no --base: 1 file and its tensors say where the table begins")
    based = based_on(spec, weights, tensor, made.layer_rows)
    if row_format is not None and based.rows.format != row_format:
        raise UsageError(f"--row-format {row_format}: {tensor[0]} is {based.rows.format}: 2 formats, leave it out")
    asked |= {"base": based.placement.base, "row_format": based.rows.format}
    return layout(name, S=S, params=params, vocab_map=vocab_map, raw_ids=raw_ids, ngram_set=ngram_set, **asked)


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
