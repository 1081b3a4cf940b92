"""TOML and JSON files of a fixed form, a ``msgspec.Struct``; what is wrong in one is named with its place."""

import re
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import inspect

from flashsim.errors import UsageError

_Form = TypeVar("_Form", bound=msgspec.Struct)
_SEE = "see the presets for the form"


def read_form(path: Path, form: type[_Form]) -> _Form:
    """What the ``.toml`` or ``.json`` file ``path`` holds, as a ``form``. Raises UsageError."""
    kind = path.suffix[1:]
    decode = msgspec.json.decode if kind == "json" else msgspec.toml.decode
    try:
        return decode(path.read_bytes(), type=form)
    except msgspec.ValidationError as error:
        raise UsageError(f"{path}: {_located(str(error), form)} (1 field wrong): {_SEE}") from None
    except (ValueError, RecursionError) as error:  # also of the encoding, of a number with thousands of digits
        raise UsageError(f"{path}: not {kind.upper()} ({error}), 0 fields read: {_SEE}") from None


def _located(message: str, form: type[msgspec.Struct]) -> str:
    """msgspec's message in lower case, with the place at the root named too, and the values where only a few may be."""
    what, _, place = (message[0].lower() + message[1:]).partition(" - at `")
    place = place.rstrip("`") or "$"
    legal = f": one of {', '.join(map(str, _legal(form, place)))}" if what.startswith("invalid enum value") else ""
    return f"{what} at {place}{legal}"


def _legal(form: type[msgspec.Struct], place: str) -> tuple[str | int, ...]:
    """The values that may stand at ``place``, such as $.hash.family, which is a Literal."""
    at = inspect.type_info(form)
    for name in re.findall(r"\.(\w+)|\[", place):
        if name:
            at = next(field.type for field in at.fields if field.encode_name == name)
        else:  # of an array, or of a table with any keys
            at = at.value_type if isinstance(at, inspect.DictType) else at.item_type
    return at.values
