"""The TOML form of a drive: what a model of it needs to know, and where each figure is from.

``presets/`` holds the drives that come with flashsim; a path to a file of the same form stands wherever a name does. A
drive without parameters is a *template*: its figures are not known well enough, and it waits for a calibration.
"""

import json
import math
import re
from pathlib import Path
from typing import Any, Literal

import msgspec

from flashsim.errors import UsageError
from flashsim.forms import read_form
from flashsim.kernels.drive import NS_MAX, Stations

_PRESETS = Path(__file__).parent / "presets"

# parameter -> (the field of Stations that it is, what it is); those that end in _us are times in microseconds
PARAMETERS = {
    "dies": ("dies", "reads that the flash serves at a time; effective where fitted, not the drive's geometry"),
    "channels": ("channels", "channels that the dies share"),
    "c_us": (
        "cpu",
        "the sender's CPU, for a read: one at a time; of reads sent together none goes before all are through",
    ),
    "z_us": ("delay", "firmware, link and host: a delay, for any number of reads at once"),
    "s_us": ("sense", "a die, for a read"),
    "s_jitter_us": ("jitter", "either way of s_us, evenly"),
    "b_us": ("bus", "a channel, for a read"),
    "l_us": ("link", "controller or link, for a read: one at a time"),
    "w_us": ("wake", "host or queue: to begin with a batch of the reads that are waiting"),
    "h_us": ("read", "host or queue, for a read: one at a time"),
    "hl_us": ("group", "host, for what is sent and waited for together: a lookup, or a chunk in prefill"),
}
FLAGGED = "flags: "  # so begins the note of a measured point whose figures are doubtful; their names follow
_BY_THE_BYTE = ("b_us", "l_us", "h_us")
CONFIDENCES = {
    "A": "from source code, or measured with its conditions",
    "B": "a vendor's figure, or a single one of a review",
    "C": "fitted or derived",
}


class Source(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """date: when it was published, or seen."""

    text: str
    date: str
    url: str = ""


class Figure(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """source: a key of the drive's sources. confidence: see CONFIDENCES."""

    value: float
    source: str
    confidence: Literal["A", "B", "C"]


class Point(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """What was measured, or promised. in_flight: None where a rated peak says no more. in_flight_unit, mode: as in a
    replay. lookups_per_group: of what is waited for together. cpu_us_per_read: of the one thread that sent the reads.
    model_reads_per_s: what the fitted model says."""

    source: str
    confidence: Literal["A", "B", "C"]
    in_flight: int | None = None
    reads_per_s: float | None = None
    read_mean_us: float | None = None
    in_flight_unit: str = "reads"
    mode: str = "stream"
    reads_per_lookup: float = 1
    lookups_per_group: int = 1
    page_bytes: int = 4096
    cpu_us_per_read: float | None = None
    model_reads_per_s: float | None = None
    note: str = ""


class Drive(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """One drive as its TOML file says it. parameters: of PARAMETERS; times that are left out are 0, numbers 1.
    page_bytes: of the reads that they are of."""

    name: str
    title: str
    sources: dict[str, Source] = {}
    parameters: dict[str, Figure] = {}
    points: tuple[Point, ...] = ()
    note: str = ""
    page_bytes: int = 4096

    def value(self, parameter: str) -> float:
        """The value of one of PARAMETERS."""
        if parameter in self.parameters:
            return self.parameters[parameter].value
        return 0.0 if parameter.endswith("_us") else 1.0

    @property
    def calibrated(self) -> bool:
        """Whether there is anything to model: templates have no parameters."""
        return bool(self.parameters)

    def require_calibrated(self) -> None:
        """Raise UsageError for a template."""
        if not self.calibrated:
            raise UsageError(
                f"drive {self.name} is a template with 0 of {len(PARAMETERS)} parameters: measure it at depths 1 and "
                f"64, then 'flashsim device calibrate FIO.json -o my.toml' and --device my.toml"
            )

    def stations(self, seed: int = 0, page_bytes: int | None = None) -> Stations:
        """What the kernels simulate, in whole ns. seed: of where pages lie, and of the jitter. page_bytes: of a read,
        None = the drive's own; of a larger one every byte takes as long on its way, and its page's sense no longer."""
        self.require_calibrated()
        values, longer = {}, (page_bytes or self.page_bytes) / self.page_bytes
        for name, (station, _) in PARAMETERS.items():
            value = self.value(name) * (longer if name in _BY_THE_BYTE else 1)
            values[station] = round(value * (1000 if name.endswith("_us") else 1))
        return Stations(**values, seed=seed)

    def facts(self) -> dict[str, Any]:
        """All of it, for the JSON beside a result."""
        return msgspec.to_builtins(self)


def drive_names() -> list[str]:
    """Names of the drives that come with flashsim."""
    return sorted(path.stem for path in _PRESETS.glob("*.toml"))


def load_drive(name: str) -> Drive:
    """The drive called ``name``: a preset's name, or the path of a TOML or JSON file. Raises UsageError."""
    path = _PRESETS / f"{name}.toml"
    if not path.is_file():
        path = Path(name)
        if path.suffix not in (".toml", ".json") or not path.is_file():
            names = drive_names()
            raise UsageError(
                f"no drive {name!r}: take one of the {len(names)} presets, {', '.join(names)}, or a .toml file"
            )
    drive = read_form(path, Drive)
    if wrong := _wrong(drive):
        raise UsageError(f"{path}: {wrong}: see the {len(drive_names())} presets for the form")
    return drive


def _wrong(drive: Drive) -> str | None:
    if not re.fullmatch(r"[A-Za-z0-9._+-]+", drive.name):
        return f"name {drive.name!r}: letters, digits, '.', '_', '+' and '-' only (1 or more)"
    if unknown := [name for name in drive.parameters if name not in PARAMETERS]:
        return f"{unknown[0]!r} is none of the {len(PARAMETERS)} parameters, {', '.join(PARAMETERS)}"
    named = {each.source for each in (*drive.parameters.values(), *drive.points)}
    if unsaid := sorted(named - drive.sources.keys()):
        return f"source {unsaid[0]!r} is none of the {len(drive.sources)} in [sources]"
    for name, figure in drive.parameters.items():  # nan is in no range
        whole, value = not name.endswith("_us"), figure.value
        if whole and not (1 <= value <= 1 << 20 and value == round(value)):
            return f"{name} = {value:g}: a whole number from 1 to {1 << 20} is needed"
        if not whole and not 0 <= value * 1000 <= NS_MAX:
            return f"{name} = {value:g}: 0 to {NS_MAX / 1e3:g} are possible"
    for at, point in enumerate(drive.points, 1):
        for name, value in msgspec.structs.asdict(point).items():
            if isinstance(value, (int, float)) and not 0 <= value < math.inf:
                return f"point {at}: {name} = {value:g}: 0 or more is needed, and finite"
    if drive.value("s_jitter_us") > drive.value("s_us"):
        return f"s_jitter_us = {drive.value('s_jitter_us'):g} is over s_us = {drive.value('s_us'):g}"
    if drive.calibrated and not any(round(drive.value(name) * 1000) for name in PARAMETERS if name.endswith("_us")):
        return "a read would take 0 ns"
    return None


def to_toml(drive: Drive) -> str:
    """``drive`` as a TOML file, from which :func:`load_drive` reads the same again."""
    built = msgspec.to_builtins(drive)
    lines = [f"{key} = {_toml(built[key])}" for key in ("name", "title", "note") if built.get(key)]
    for key, source in built.get("sources", {}).items():
        lines += ["", f"[sources.{json.dumps(key)}]", *(f"{name} = {_toml(value)}" for name, value in source.items())]
    if drive.parameters:
        lines += ["", "[parameters]", *(f"{name} = {_toml(figure)}" for name, figure in built["parameters"].items())]
    for point in built.get("points", ()):
        lines += ["", "[[points]]", *(f"{name} = {_toml(value)}" for name, value in point.items())]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, str):  # JSON's escapes are TOML's, but for DEL; of file names that are not UTF-8, the bytes
        text = value.encode(errors="backslashreplace").decode()
        return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
