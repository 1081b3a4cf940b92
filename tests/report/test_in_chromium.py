"""The page in a real browser: a headless Chromium, on a phone and a desktop, in light and dark."""

import csv
import json
import re

import pytest
from browser import NAMES, chromium, find_chromium

from tests.report.folders import put, put_nasty, run

pytestmark = pytest.mark.skipif(not find_chromium(), reason=f"0 of {', '.join(NAMES)} found")
VIEWS = [(width, dark) for width in (360, 1280) for dark in (False, True)]
OPEN_ALL = "document.querySelectorAll('details').forEach(each => { each.open = true })"
DARKEST = """
(() => {
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const mix = (paint, under) => {
    pen.fillStyle = `rgb(${under.join(" ")})`; pen.fillRect(0, 0, 1, 1);
    pen.fillStyle = paint; pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const under = (element) => element === null ? [255, 255, 255]
    : mix(getComputedStyle(element).backgroundColor, under(element.parentElement));
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement, text = texts.currentNode.data.trim();
    if (!text || !element.checkVisibility()) continue;
    const style = getComputedStyle(element), paper = under(element);
    const [a, b] = [light(mix(element.closest("svg") ? style.fill : style.color, paper)), light(paper)];
    found.push([(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), text.slice(0, 40)]);
  }
  return { texts: found.length, least: found.sort((a, b) => a[0] - b[0])[0] };
})()
"""


@pytest.fixture(scope="module")
def browser():
    with chromium(find_chromium()) as running:
        yield running


@pytest.fixture(scope="module")
def page(results, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    run("report", results, "-o", path)
    return path


@pytest.mark.parametrize(("width", "dark"), VIEWS)
def test_it_can_be_read_without_a_network(browser, page, width, dark):
    browser.open(page, width, dark)
    assert browser.evaluate("document.querySelectorAll('details[open]').length") == 0
    for opened in (False, True):
        if opened:
            browser.evaluate(OPEN_ALL)
        # a phone's window grows with what is too wide for it: the width asked for counts
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
        contrast = browser.evaluate(DARKEST)
        assert contrast["least"][0] >= 4.5 and contrast["texts"] > 500, contrast
    requests = [params["request"]["url"] for method, params in browser.events if method == "Network.requestWillBeSent"]
    assert requests == [page.resolve().as_uri()]
    assert not [each for each in browser.events if each[0] in ("Log.entryAdded", "Runtime.exceptionThrown")]


def test_dark_is_dark_and_light_is_light(browser, page):
    for dark in (False, True):
        browser.open(page, 1280, dark)
        for paper in ("getComputedStyle(document.body).backgroundColor",
                      "getComputedStyle(document.querySelector('svg path')).fill"):  # fmt: skip
            shade = int(re.findall(r"\d+", browser.evaluate(paper))[0])
            assert shade < 64 if dark else shade == 255
        ink = browser.evaluate("getComputedStyle(document.querySelector('svg text')).fill")
        assert (int(re.findall(r"\d+", ink)[0]) > 192) == dark


def test_figures(browser, page, results):
    browser.open(page, 360)
    boxes = browser.evaluate(
        "[...document.querySelectorAll('svg')].map(each => [...['width', 'height'].map("
        "side => each.getBoundingClientRect()[side]), each.viewBox.baseVal.width, each.getAttribute('aria-label')])"
    )
    drawn = sorted(path.stem for path in results.glob("*.svg"))
    assert len(drawn) == 8 and [re.findall(r"figure of ([^,]+),", label) for *_, label in boxes] == [[n] for n in drawn]
    for width, height, own, _ in boxes:
        assert width >= own > 400 and height > 200  # no smaller than drawn: letters can be read, the box scrolls
    ids = browser.evaluate("[...document.querySelectorAll('[id]')].map(each => each.id)")
    assert len(set(ids)) == len(ids) > 8
    lost = "[...document.querySelectorAll('use')].filter(each => !document.querySelector(each.getAttribute('href')))"
    assert browser.evaluate(f"[document.querySelectorAll('use').length > 50, {lost}.length]") == [True, 0]
    # what is clipped to the axes is there: a path of the data that points to no clip path would not be
    clips = "[...document.querySelectorAll('[clip-path]')].map(each => each.getAttribute('clip-path').slice(5, -1))"
    assert browser.evaluate(f"{clips}.length > 50 && {clips}.every(each => document.getElementById(each))")


def test_figures_of_the_csv_are_in_the_text(browser, page, results):
    browser.open(page, 360)
    with open(results / "sweep.csv") as file:
        rows = list(csv.DictReader(file))
    of_sweep = "[...document.querySelectorAll('section')].find(each => each.innerText.startsWith('sweep ')).innerText"
    text = browser.evaluate(of_sweep)
    assert len(rows) == 6 and "SYNTHETIC" in text and "no cache" in text
    for label in {row["label"] for row in rows}:
        told = next(line for line in text.splitlines() if line.startswith(label)).split()
        held = [f"{float(row['reads_per_token']):.3f}" for row in rows if row["label"] == label]
        assert told[2:] == held
    assert "sha" not in text.lower()  # run facts are closed until they are asked for
    browser.evaluate(OPEN_ALL)
    every = browser.evaluate("document.body.innerText")
    facts = json.loads((results / "sweep.json").read_text())
    for told in (facts["run"]["cpu"], facts["run"]["kernel"], facts["sources"][0]["sha256"]):
        assert told in every


def test_heads_of_tables_stay(browser, page):
    browser.open(page, 360)
    browser.evaluate(OPEN_ALL)
    gone = browser.evaluate(
        "[...document.querySelectorAll('div.box')].map(box => { box.scrollTo(90, 90);"
        " const [all, head, name] = [box, box.querySelector('thead th'), box.querySelector('tbody th') ?? box]"
        ".map(each => each.getBoundingClientRect());"
        " return [box.scrollTop, head.top - all.top, box.scrollLeft, name.left - all.left] })"
    )
    assert sum(down > 0 for down, *_ in gone) >= 2 and sum(right > 0 for _, _, right, _ in gone) >= 6
    assert all(abs(top) < 1 and abs(left) < 1 for _, top, _, left in gone)


def test_nothing_of_the_files_becomes_markup_or_loads(browser, tmp_path):
    put_nasty(tmp_path / "study")
    put(tmp_path / "study", "plain")
    run("report", tmp_path / "study", "-o", tmp_path / "report.html")
    browser.open(tmp_path / "report.html", 360)
    browser.evaluate(OPEN_ALL)
    assert browser.evaluate("document.documentElement.scrollWidth") <= 360
    assert (
        browser.evaluate("document.querySelectorAll('script, img, image[href], foreignObject, svg a, td b').length")
        == 0
    )
    assert browser.evaluate("document.querySelector('svg').textContent.trim()") == "drawn <b>"
    text = browser.evaluate("document.body.innerText")
    assert text.count("<img src=x onerror=alert(1)>") > 8 and "</td><b>1" in text
    methods = [method for method, _ in browser.events]
    assert methods.count("Network.requestWillBeSent") == 1
    assert not {"Page.javascriptDialogOpening", "Log.entryAdded", "Runtime.exceptionThrown"} & set(methods)
