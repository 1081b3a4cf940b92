"""The JSON beside a token file: ``NAME.json`` for ``NAME.bin`` and ``NAME.bin.zst``.

Four keys of an object count, and each may be missing or null; whatever else it holds is left alone.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from flashsim.errors import DataError
from flashsim.files import parse_json

_KINDS = {"eot": int, "vocabulary": int, "tokens": int, "synthetic": bool}
_MAX_BYTES = 1 << 24


@dataclass(frozen=True)
class Sidecar:
    """What the JSON at ``path`` says; nothing where there is no such file, or no object in it.

    eot: id of the token that ends its document. vocabulary: number of ids. tokens: how many the file holds.
    synthetic: whether a generator made it.
    """

    path: Path
    eot: int | None = None
    vocabulary: int | None = None
    tokens: int | None = None
    synthetic: bool = False

    @classmethod
    def beside(cls, path: Path) -> "Sidecar":
        """Read ``NAME.json`` for ``NAME.bin`` or ``NAME.bin.zst``. Raises DataError where it is broken."""
        path = path.with_name(path.name.removesuffix(".zst")).with_suffix(".json")
        if not path.is_file():
            return cls(path)
        size = path.stat().st_size
        if size > _MAX_BYTES:
            raise DataError(f"{path}: {size} bytes, over the {_MAX_BYTES} of a JSON about a token file: rename it")
        try:
            facts = parse_json(path.read_bytes())
        except ValueError as error:
            raise DataError(f"{path}: broken JSON beside the token file ({error}): mend, rename or remove it") from None
        if not isinstance(facts, dict):
            return cls(path)
        if facts.get("kind") == "trace":
            count = facts.get("ids")
            raise DataError(f"{path.with_suffix('.npy')} is a trace of {count} ids, not tokens: give it to sweep-cache")
        if facts.get("kind") == "cache state":
            count = facts.get("pages")
            raise DataError(
                f"{path.with_suffix('.npy')} is a cache of {count} pages, not tokens: give it to --warm-from"
            )
        known = {key: facts[key] for key in _KINDS if facts.get(key) is not None}
        for key, value in known.items():
            kind = _KINDS[key]
            if type(value) is not kind or value < (key == "vocabulary"):
                wanted = "true or false" if kind is bool else "a whole number"
                raise DataError(f'{path}: "{key}" is {json.dumps(value)[:40]}, {wanted} expected: mend or rename it')
        return cls(path, **known)
