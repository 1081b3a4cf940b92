"""A figure as markup for a page: only what draws, ids of its own, greys as variables."""

from xml.etree import ElementTree

import pytest

from flashsim.errors import DataError
from flashsim.report.svg import read_figure
from tests.report.folders import NASTY_SVG

PLAIN = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="2in" height="1in"
 viewBox="0 0 144 72.5"><metadata>when</metadata><defs><path id="m1" d="M 0 0
L 3 3"/><clipPath id="p1"><rect width="9" height="9"/></clipPath></defs><g id="figure_1">
<use xlink:href="#m1" x="4" style="fill: #ffffff; stroke: #0072b2"/><g clip-path="url(#p1)"><path d="M 1 1"
 style="stroke: #DDDDDD; fill: url(#p1)" fill="#ffffff"/></g>
<text x="1"> two <tspan>words</tspan> and</text></g></svg>"""


def figure(tmp_path, text, prefix="f1-"):
    (tmp_path / "a.svg").write_text(text)
    return read_figure(tmp_path / "a.svg", prefix, 'a <figure> of "a"')


def test_what_draws_is_kept(tmp_path):
    made = figure(tmp_path, PLAIN)
    assert (made.width, made.greys) == (144, {"ff", "dd"})
    root = ElementTree.fromstring(made.markup)
    assert root.attrib == {"viewBox": "0 0 144 72.5", "role": "img", "aria-label": 'a <figure> of "a"'}
    tags = [element.tag for element in root.iter()]
    assert tags == ["svg", "defs", "path", "clipPath", "rect", "g", "use", "g", "path", "text", "tspan"]
    assert "".join(root.find("g/text").itertext()) == " two words and"
    assert root.find("defs/path").attrib == {"d": "M 0 0 L 3 3", "id": "f1-m1"}
    use = {"href": "#f1-m1", "x": "4", "style": "fill: var(--gff); stroke: #0072b2"}
    assert root.find("g/use").attrib == use and root.find("g").attrib == {}  # nothing points to figure_1
    assert root.find("g/g").attrib == {"clip-path": "url(#f1-p1)"}
    path = {"d": "M 1 1", "style": "stroke: var(--gdd); fill: url(#f1-p1)", "fill": "#ffffff"}
    assert root.find("g/g/path").attrib == path
    assert "f7-m1" in figure(tmp_path, PLAIN, "f7-").markup


def test_what_runs_or_loads_is_not(tmp_path):
    made = figure(tmp_path, NASTY_SVG)
    root = ElementTree.fromstring(made.markup)
    assert [element.tag for element in root.iter()] == ["svg", "image", "use", "rect", "rect", "text"]
    assert [element.attrib for element in root] == [
        {}, {}, {"width": "100", "height": "50"}, {"width": "9", "height": "9"}, {"x": "5", "y": "30"},
    ]  # fmt: skip
    assert not any(word in made.markup for word in ("127.0.0.1", "alert", "HTML", "import"))
    kept = figure(tmp_path, PLAIN.replace("#m1", "data:image/png;base64,AA")).markup
    assert 'href="data:image/png;base64,AA"' in kept


@pytest.mark.parametrize(
    "text",
    ["", "no XML", PLAIN[:-20], PLAIN.replace("viewBox", "box"), PLAIN.replace("144", "0"), PLAIN.replace("72.5", "x"),
     PLAIN.replace("2000/svg", "2001/svg"), "<html/>", PLAIN.replace("144", "nan")],
)  # fmt: skip
def test_no_figure(tmp_path, text):
    with pytest.raises(DataError, match=r"a\.svg: 0 figures read .*draw it again"):
        figure(tmp_path, text)
