"""Token files in: one module a format, and :func:`open_tokens`, which tells them apart by their content.

A format is a module with ``NAME``; ``MAGICS``, the first bytes that are its alone; ``sniff(source) -> bool``;
and ``read(source, dtype, vocab_size) -> Payload``. A new one is that module and its row in ``FORMATS``.
"""

import os
from pathlib import Path
from typing import Literal

import numpy as np

from flashsim.errors import DataError, UsageError
from flashsim.tokens import llmc, megatron, npy, raw
from flashsim.tokens.boundaries import find_boundaries
from flashsim.tokens.sidecar import Sidecar
from flashsim.tokens.source import Source, opened
from flashsim.tokens.stream import Chunk, TokenStream

__all__ = ["FORMATS", "Chunk", "TokenStream", "open_tokens"]

FORMATS = (llmc, npy, megatron, raw)  # asked in this order; raw takes anything, so it is the last


def open_tokens(
    path: str | os.PathLike,
    *,
    format: str | None = None,
    dtype: str | None = None,
    eot: int | Literal["none"] | None = None,
    documents: str | os.PathLike | None = None,
    vocab_size: int | None = None,
) -> TokenStream:
    """The token file ``path`` (or Megatron prefix) as a memory-mapped stream.

    format: name of one of ``FORMATS``; None tells by content.
    dtype: of the ids; None tells by header or content. One that header or content contradicts is refused.
    eot: id of the token that ends its document; "none" for no boundaries at all; None takes what the format
        holds, else what the JSON beside the file says, else none.
    documents: ``.npy`` of document starts (1-D integers, increasing, first 0), instead of ``eot``.
    vocab_size: ids have to be below it; None takes it from the JSON beside the file, where there is one.

    ``NAME.json`` beside ``NAME.bin`` or ``NAME.bin.zst`` is read for "eot", "vocabulary", "synthetic" and
    "tokens". Raises UsageError for a request that contradicts itself, DataError for files that are not what
    they should be.
    """
    path = Path(path)
    reader = _named_format(format)
    wanted = _named_dtype(dtype)
    if eot is not None and documents is not None:
        raise UsageError(f"--eot {eot} and --documents {documents} are 2 boundary rules: give 1 of them")
    if vocab_size is not None and vocab_size < 1:
        raise UsageError(f"--vocab-size {vocab_size}: a vocabulary has at least 1 id")
    if reader in (None, megatron):
        path = megatron.data_path(path)
    with opened(path) as source:
        if source.size == 0:
            raise source.error("0 tokens (0 bytes): write it again")
        reader = reader or next(module for module in FORMATS if module.sniff(source))
        if reader is raw:
            _refuse_headers(source)
        sidecar = Sidecar.beside(path)
        size_from = "" if vocab_size else f" ({sidecar.path.name})"
        vocab_size = vocab_size or sidecar.vocabulary
        payload = reader.read(source, wanted, vocab_size)
    ids = payload.ids
    if len(ids) == 0:
        raise DataError(f"{path}: 0 tokens behind its {reader.NAME} header: write it again")
    if wanted is not None and wanted.name != ids.dtype.name:
        raise DataError(f"{path}: its {reader.NAME} header says {ids.dtype.name}, --dtype {wanted.name}: drop --dtype")
    if vocab_size is not None and vocab_size - 1 > np.iinfo(ids.dtype).max:
        raise DataError(
            f"{path}: a vocabulary of {vocab_size}{size_from} does not fit {ids.dtype.name}, which ends at "
            f"{np.iinfo(ids.dtype).max}: larger ids wrapped when it was written. Write it as uint32, or pass "
            "the --vocab-size of the tokenizer that made it"
        )
    if sidecar.tokens not in (None, len(ids)):
        raise DataError(
            f"{path}: {len(ids)} tokens, but {sidecar.path.name} beside it says {sidecar.tokens}: the two "
            "are from different builds; write both again, or move the .json away"
        )
    eot_id, starts, boundary = find_boundaries(payload, eot, documents, sidecar, vocab_size)
    return TokenStream(
        ids=ids,
        format=reader.NAME,
        eot=eot_id,
        starts=starts,
        boundary=boundary,
        vocab_size=vocab_size,
        synthetic=sidecar.synthetic,
        path=path,
        notes=payload.notes,
    )


def _named_format(name: str | None):
    by_name = {module.NAME: module for module in FORMATS}
    if name is not None and name not in by_name:
        raise UsageError(f"--format {name}: not one of the {len(FORMATS)} formats {', '.join(by_name)}")
    return by_name.get(name)


def _named_dtype(name: str | None) -> np.dtype | None:
    try:
        return None if name is None else np.dtype(name)
    except TypeError:
        raise UsageError(f"--dtype {name}: not one of the 2 dtypes {', '.join(raw.DTYPES)}") from None


def _refuse_headers(source: Source) -> None:
    """Raise DataError where raw is forced on a file that begins with another format's header, not ids."""
    for module in FORMATS:
        if module.MAGICS and source.head.startswith(module.MAGICS):
            raise source.error(
                f"--format raw, but it begins with the header of {module.NAME}, which would be read as junk "
                "tokens (llm.c: 512 of them): drop --format"
            )
