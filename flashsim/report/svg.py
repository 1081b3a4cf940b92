"""A figure's SVG as markup that may stand in a page among others.

Only what draws is kept: no scripts, styles of the whole page, metadata, or links to the outside. Ids get a prefix, as
matplotlib gives the same ones to every figure. Greys become CSS variables, so that the page can turn them in the dark.
"""

import re
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from flashsim.errors import DataError

_SVG, _XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
_DRAWS = {
    "svg", "g", "defs", "use", "symbol", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text",
    "tspan", "image", "clipPath", "mask", "pattern", "marker", "linearGradient", "radialGradient", "stop",
}  # fmt: skip
_GREY = re.compile(r"#([0-9a-f]{2})\1\1\b", re.IGNORECASE)
_TARGET = re.compile(r"url\(\s*[\"']?#([^\"')]+)[\"']?\s*\)")


class Figure(NamedTuple):
    """markup: an ``<svg>``. width: of its drawing, in its own units, which are CSS pixels at scale 1. greys: the two
    hexadecimal digits of each grey in it, which is the variable ``--gXX``."""

    markup: str
    width: float
    greys: frozenset[str]


def read_figure(path: Path, prefix: str, label: str) -> Figure:
    """The figure in the SVG file ``path``. prefix: of its ids. label: what a screen reader says of it. Raises DataError
    where it is no SVG with a view box."""
    try:
        if not path.is_file():
            raise ValueError("not a regular file")
        root = ElementTree.fromstring(path.read_bytes())
    except (OSError, ValueError, ElementTree.ParseError, RecursionError) as error:
        raise DataError(f"{path}: 0 figures read ({' '.join(str(error).split())}): draw it again") from None
    try:
        width, height = map(float, root.get("viewBox", "").replace(",", " ").split()[2:])
    except ValueError:
        width = height = 0
    if root.tag != f"{_SVG}svg" or not (0 < width < 1e5 and 0 < height < 1e5):
        raise DataError(f"{path}: 0 figures read (no <svg> with a viewBox): draw it again")
    _keep_what_draws(root)
    used = {name for element in root.iter() for each in element.items() for name in _targets(*each)}
    greys: set[str] = set()
    for element in root.iter():
        attributes = {name: _prefixed(name, value, prefix) for name, value in element.items()}
        if attributes.pop("id", None) in used:
            attributes["id"] = prefix + element.get("id")
        style = attributes.get("style", "")
        if found := _GREY.findall(style):
            greys.update(grey.lower() for grey in found)
            attributes["style"] = _GREY.sub(lambda grey: f"var(--g{grey[1].lower()})", style)
        _set(element, attributes)
    _set(root, {"viewBox": root.get("viewBox"), "role": "img", "aria-label": label})
    return Figure(ElementTree.tostring(root, encoding="unicode"), width, frozenset(greys))


def _keep_what_draws(element: ElementTree.Element) -> None:
    """Take everything else out, and the namespaces, which HTML knows by itself."""
    for child in list(element):
        if not isinstance(child.tag, str) or child.tag.removeprefix(_SVG) not in _DRAWS:
            element.remove(child)
        else:
            _keep_what_draws(child)
    element.tag = element.tag.removeprefix(_SVG)
    if element.tag not in ("text", "tspan"):  # white space between elements
        element.text = None
        for child in element:
            child.tail = None
    plain = {name.removeprefix(_XLINK): " ".join(value.split()) for name, value in element.items()}
    _set(element, {name: value for name, value in plain.items() if _is_harmless(name, value)})


def _set(element: ElementTree.Element, attributes: dict[str, str]) -> None:
    element.attrib.clear()
    element.attrib.update(attributes)


def _is_harmless(name: str, value: str) -> bool:
    if name == "href":
        return value.startswith(("#", "data:image/png;base64,"))
    outside = value.lower().count("url(") > len(_TARGET.findall(value)) or "\\" in value
    return not name.startswith(("on", "{")) and not outside


def _targets(name: str, value: str) -> list[str]:
    """The ids that an attribute points to."""
    return [value[1:]] if name == "href" else _TARGET.findall(value)


def _prefixed(name: str, value: str, prefix: str) -> str:
    if name == "href" and value.startswith("#"):
        return f"#{prefix}{value[1:]}"
    return _TARGET.sub(lambda target: f"url(#{prefix}{target[1]})", value)
