"""Tensors of a weights file: rows, format and the byte at which they begin, from the header alone.

GGUF is read by the library ``gguf``, safetensors by ``safetensors``; both are the extra ``weights``.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from flashsim.errors import DataError, UsageError
from flashsim.layouts.formats import part_bytes
from flashsim.layouts.spec import LayoutSpec

NEEDS_WEIGHTS = "pip install 'flashsim[weights]' (in a clone: '.[weights]')"

# dtype in the file -> row format, where a tensor of it is whole rows
_GGUF_FORMATS = {
    "F32": "fp32", "F16": "fp16", "BF16": "bf16", "Q8_0": "q8_0", "Q4_0": "q4_0", "IQ4_NL": "iq4_nl", "Q4_K": "q4_k",
    "IQ4_XS": "iq4_xs", "Q2_K": "q2_k", "MXFP4": "mxfp4",
}  # fmt: skip
_SAFETENSORS_FORMATS = {"F32": "fp32", "F16": "fp16", "BF16": "bf16", "F8_E4M3": "fp8", "F8_E5M2": "fp8"}


class Tensor(NamedTuple):
    """A matrix in a file. rows, width: its shape. dtype: as the file calls it. row_format: ours, None where there is
    none. row_bytes: of one row. offset: byte of the file at which row 0 begins."""

    name: str
    rows: int
    width: int
    dtype: str
    row_format: str | None
    row_bytes: int
    offset: int


def tensors_of(path: str | Path) -> dict[str, Tensor]:
    """Every matrix in ``path`` (.gguf or .safetensors) by name. Raises UsageError or DataError."""
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"--weights {path}: 0 files of that name: give a .gguf or .safetensors file")
    with open(path, "rb") as file:
        magic = file.read(4)
    try:
        return _gguf(path) if magic == b"GGUF" else _safetensors(path)
    except ImportError as error:
        raise UsageError(f"--weights needs 1 more package, {error.name!r}: {NEEDS_WEIGHTS}") from None


def _gguf(path: Path) -> dict[str, Tensor]:
    from gguf import GGUFReader

    try:
        reader = GGUFReader(path)
    except Exception as error:  # the library raises what its parsing runs into
        raise _unreadable(path, error) from None
    found = {}
    for tensor in reader.tensors:
        if len(tensor.shape) != 2:
            continue
        width, rows = map(int, tensor.shape)  # the fastest dimension comes first
        dtype = tensor.tensor_type.name
        found[tensor.name] = Tensor(
            tensor.name, rows, width, dtype, _GGUF_FORMATS.get(dtype), int(tensor.n_bytes) // rows,
            int(tensor.data_offset),
        )  # fmt: skip
    return found


def _safetensors(path: Path) -> dict[str, Tensor]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "numpy"):  # checks the header against the size of the file
            pass
    except (SafetensorError, OSError) as error:
        raise _unreadable(path, error) from None
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
    header.pop("__metadata__", None)
    found = {}
    for name, entry in header.items():
        if len(entry["shape"]) != 2 or not entry["shape"][0]:
            continue
        (rows, width), (begin, end) = entry["shape"], entry["data_offsets"]
        dtype = entry["dtype"]
        found[name] = Tensor(
            name, rows, width, dtype, _SAFETENSORS_FORMATS.get(dtype), (end - begin) // rows, 8 + size + begin
        )
    return found


def _unreadable(path: Path, error: Exception) -> DataError:
    reason = " ".join(str(error).split())[:120]
    return DataError(f"--weights {path}: {path.stat().st_size} bytes that are no GGUF or safetensors file ({reason})")


def based_on(spec: LayoutSpec, path: str | Path, names: Sequence[str], layer_rows: Sequence[int]) -> LayoutSpec:
    """``spec`` with the bases, and the row format, of the tensors ``names`` in ``path``: one for the whole table or one
    for each layer and, of a planar table, one for each part of each layer, its parts side by side.

    layer_rows: rows of each layer. Raises UsageError where a tensor is not what the spec says, with both numbers.
    """
    found = tensors_of(path)
    for name in names:
        if name not in found:
            known = ", ".join(list(found)[:8]) + (", ..." if len(found) > 8 else "")
            raise UsageError(f"--tensor {name}: {path} holds {len(found)} matrices: {known or 'none'}")
    tensors = [found[name] for name in names]
    rows, planar = spec.rows, spec.placement.rule == "planar"
    parts = list(part_bytes(rows.format, rows.width).items()) if planar else [("rows", None)]
    layers = len(layer_rows)
    counts = {1, layers, layers * len(parts)}
    if len(tensors) not in counts:
        raise UsageError(
            f"--tensor given {len(tensors)} times for {spec.name}: "
            f"give it {' or '.join(map(str, sorted(counts)))} times"
        )
    whole = len(tensors) == 1
    each = len(tensors) // layers if not whole else 1
    for at, tensor in enumerate(tensors):
        expected = sum(layer_rows) if whole else layer_rows[at // each]
        accepted = {expected, rows.padded} if whole and rows.padded else {expected}
        if tensor.rows not in accepted:
            raise UsageError(
                f"--tensor {tensor.name}: {tensor.rows:,} rows, {spec.name} has "
                f"{' or '.join(f'{count:,}' for count in sorted(accepted))}: take the tensor of its table"
            )
        if planar:
            part, size = parts[at % each]
            if tensor.row_bytes != size:
                raise UsageError(
                    f"--tensor {tensor.name}: rows of {tensor.row_bytes} B ({tensor.dtype}), the {part} of "
                    f"{spec.name} have {size} B: give the tensors part by part, or another --row-format"
                )
        elif tensor.width != rows.width:
            raise UsageError(f"--tensor {tensor.name}: {tensor.width} numbers a row, {spec.name} has {rows.width}")
    bases = tuple(tensor.offset for tensor in tensors)
    placement = msgspec.structs.replace(spec.placement, base=bases[0] if whole else bases)
    if planar:
        return msgspec.structs.replace(spec, placement=placement)
    dtypes = {tensor.dtype for tensor in tensors}
    if len(dtypes) > 1 or tensors[0].row_format is None:
        raise UsageError(f"--tensor {names[0]}: type {', '.join(sorted(dtypes))}: rows of 1 known format are needed")
    return msgspec.structs.replace(
        spec, placement=placement, rows=msgspec.structs.replace(rows, format=tensors[0].row_format)
    )
