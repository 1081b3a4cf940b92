"""Plain text: one page id a line; and CSV, where the id is in the column named page, id, obj_id, object or lba, or the
only one. Read with or without a header."""

import io
from pathlib import Path
from typing import BinaryIO

import numpy as np

from flashsim.errors import DataError

NAME, ABOUT, SUFFIXES = "text", "one page id a line, or CSV", (".txt", ".csv")
_ID_COLUMNS = ("page", "page_id", "id", "obj_id", "object", "lba", "key")
_SIZE_COLUMNS = ("size", "obj_size", "length", "len")
_STEP = 1 << 20


def write(file: BinaryIO, pages: np.ndarray, page_bytes: int, target: str) -> None:
    """Write ``pages`` to ``file``, a line each."""
    for at in range(0, len(pages), _STEP):
        file.write(("\n".join(map(str, pages[at : at + _STEP].tolist())) + "\n").encode())


def sniff(head: bytes, size: int | None) -> bool:
    """Printable ASCII, with a digit in its first lines."""
    return (
        bool(head)
        and all(byte in b"\t\n\r" or 32 <= byte < 127 for byte in head)
        and any(c in b"0123456789" for c in head)
    )


def read(path: Path, ignore_size: bool) -> np.ndarray:
    """int64 ids in order. Raises DataError naming the line that is not an id, or sizes that differ."""
    import pandas as pd

    from flashsim.interop.packed import data_of

    data = bytes(data_of(path))
    first = data.split(b"\n", 1)[0].decode("ascii", "replace").strip()
    names = [name.strip().strip('"').lower() for name in first.split(",")]
    header = 0 if any(name and not name.lstrip("-").isdigit() for name in names) else None
    try:
        table = pd.read_csv(io.BytesIO(data), header=header, dtype=str, skip_blank_lines=True, keep_default_na=False)
    except ValueError as error:
        raise DataError(f"{path}: not CSV ({' '.join(str(error).split())}): give 1 id a line") from None
    column = _column(path, table, names, header)
    values = pd.to_numeric(table[column].str.strip(), errors="coerce")
    bad = np.flatnonzero(values.isna() | (values < 0) | (values != np.floor(values)))
    if len(bad):
        line = int(bad[0]) + 1 + (header is not None)
        raise DataError(
            f"{path}: line {line} has {table[column].iloc[int(bad[0])]!r} where a page id >= 0 belongs: mend it"
        )
    sizes = next((table[name] for name in table.columns if str(name).lower() in _SIZE_COLUMNS), None)
    if sizes is not None and not ignore_size and sizes.nunique() > 1:
        raise DataError(
            f"{path}: objects of {sizes.nunique()} sizes, a page cache has one: --ignore-size counts each as one page"
        )
    return table[column].str.strip().astype(np.int64).to_numpy()


def _column(path: Path, table, names: list[str], header: int | None):
    if len(table.columns) == 1:
        return table.columns[0]
    if header is None:
        raise DataError(
            f"{path}: {len(table.columns)} columns and no header: name the id's column {' or '.join(_ID_COLUMNS)}"
        )
    for wanted in _ID_COLUMNS:
        if wanted in names:
            return table.columns[names.index(wanted)]
    raise DataError(
        f"{path}: none of the {len(names)} columns ({', '.join(names)}) is {' or '.join(_ID_COLUMNS)}: rename one"
    )
