"""The page: results in, one HTML text out, which needs no other file, no network and no script."""

import json
import shlex
from collections.abc import Iterable, Iterator
from html import escape
from importlib.resources import files
from typing import Any

from flashsim.report.answers import answers
from flashsim.report.doubts import dicts_in
from flashsim.report.results import Folder, Result
from flashsim.report.tables import View, pivot_of, rows_of
from flashsim.units import number_of

_LIST_MAX = 50  # items of a list in the facts
_DARK = (0x1C, 0xE6)  # what white and black become
# Nothing in the page may load or run, whatever stands in the files that it was made from.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(folder: Folder) -> str:
    """The HTML page of the results in ``folder``. The same folder gives the same text."""
    title = escape(f"flashsim report: {folder.name}")
    greys = set().union(*(result.figure.greys for result in folder.results if result.figure))
    parts = [
        "<!DOCTYPE html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{title}</title>", f"<style>\n{_style(greys)}</style>", "</head>", "<body>",
        "<header>", f"<h1>{title}</h1>", *_contents(folder), "</header>", "<main>",
        *(line for at, result in enumerate(folder.results, 1) for line in _section(at, result)),
        "</main>", "</body>", "</html>",
    ]  # fmt: skip
    return "\n".join(parts) + "\n"


def _style(greys: Iterable[str]) -> str:
    """The style sheet, with the greys of the figures; in the dark white becomes dark, and black light."""
    white, black = _DARK
    dark = {grey: f"{round(black + (white - black) * int(grey, 16) / 255):02x}" for grey in sorted(greys)}
    light = ";".join(f"--g{grey}:#{grey * 3}" for grey in dark)
    turned = ";".join(f"--g{grey}:#{other * 3}" for grey, other in dark.items())
    sheet = files("flashsim.report").joinpath("page.css").read_text()
    return f"{sheet}:root{{{light}}}\n@media (prefers-color-scheme:dark){{:root{{{turned}}}}}\n"


def _contents(folder: Folder) -> Iterator[str]:
    yield f"<p>{number_of(len(folder.results), 'result', ',')}.</p>"
    yield "<nav><ul>"
    for at, result in enumerate(folder.results, 1):
        said = dict.fromkeys(doubt.mark for doubt in result.doubts)
        marks = " ".join(f'<b class="mark">{escape(mark)}</b>' for mark in said)
        yield f'<li><a href="#r{at}">{escape(result.name)}</a> {escape(result.facts["kind"])} {marks}</li>'
    yield "</ul></nav>"
    if folder.left_out:
        count = number_of(len(folder.left_out), "file", ",")
        yield f'<section class="doubts"><h2>{count} left out</h2><ul>'
        yield from (f"<li>{escape(why)}</li>" for why in folder.left_out)
        yield "</ul></section>"


def _section(at: int, result: Result) -> Iterator[str]:
    facts, run = result.facts, result.facts["run"]
    yield f'<section id="r{at}">'
    yield f"<h2>{escape(result.name)} <small>{escape(facts['kind'])}</small></h2>"
    yield f"<p>Written {escape(_said(run.get('written')))} by flashsim {escape(_said(run.get('flashsim')))}.</p>"
    if result.doubts:
        yield '<ul class="doubts">'
        yield from (f'<li><b class="mark">{escape(mark)}</b> {escape(text)}</li>' for mark, text in result.doubts)
        yield "</ul>"
    if said := list(answers(facts)):
        yield "<ul>"
        yield from (f"<li>{escape(line)}</li>" for line in said)
        yield "</ul>"
    if result.figure:
        width = result.figure.width
        size = f"min-width:{width:.0f}px;max-width:{width * 4 / 3:.0f}px"
        yield f'<figure class="box" tabindex="0"><div style="{size}">{result.figure.markup}</div></figure>'
    if result.table is not None:
        rows, pivot = rows_of(result.table, f"{result.name}.csv"), pivot_of(result.table, facts["kind"])
        if pivot:
            yield f'<p class="quiet">{escape(pivot.caption)}</p>'
            yield from _table(pivot)
            yield f"<details><summary>{escape(rows.caption)}</summary>"
            yield from _table(rows)
            yield "</details>"
        else:
            yield f'<p class="quiet">{escape(rows.caption)}</p>'
            yield from _table(rows)
    yield "<details><summary>Run facts</summary>"
    yield from _facts(facts, run)
    yield "</details></section>"


def _table(view: View) -> Iterator[str]:
    if view.same:
        yield f'<p class="quiet">The same in all rows: {escape(view.same)}.</p>'
    yield f'<div class="box" role="region" tabindex="0" aria-label="{escape(view.caption)}"><table>'
    word = [' class="word"' if at in view.words else "" for at in range(len(view.head))]
    head = [
        f'<th scope="col"{kind}>{escape(name).replace("_", "_<wbr>")}</th>'
        for kind, name in zip(word, view.head, strict=True)
    ]
    yield f"<thead><tr>{''.join(head)}</tr></thead><tbody>"
    for row in view.rows:
        cells = [f"<td{kind}>{escape(text)}</td>" for kind, text in zip(word, row, strict=True)]
        if view.named:
            cells[0] = f'<th scope="row">{escape(row[0])}</th>'
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table></div>"


def _facts(facts: dict[str, Any], run: dict[str, Any]) -> Iterator[str]:
    """The command line, the inputs with their digests, and then everything."""
    argv = map(_said, run["argv"] if isinstance(run.get("argv"), list) else ["unknown"])
    yield f"<p>Command: <code>{escape(shlex.join(argv))}</code></p>"
    inputs = dict.fromkeys(_inputs(facts))
    if inputs:
        yield "<p>Read, with its SHA-256:</p><ul>"
        yield from (f"<li>{escape(name)} <code>{escape(digest)}</code></li>" for name, digest in inputs)
        yield "</ul>"
    yield f"<pre>{escape(chr(10).join(_outline({'run': run} | facts)))}</pre>"


def _inputs(facts: Any) -> Iterator[tuple[str, str]]:
    """(name, SHA-256) of all that ``facts`` says was read."""
    for one in dicts_in(facts):
        if isinstance(one.get("sha256"), str):
            name = next((one[key] for key in ("path", "trace", "name") if one.get(key)), "a file")
            yield _said(name), one["sha256"]


def _outline(facts: dict | list, depth: int = 0) -> Iterator[str]:
    """A JSON value as indented lines, lists of plain values in one."""
    for key, value in facts.items() if isinstance(facts, dict) else enumerate(facts, 1):
        name = f"{'  ' * depth}{key}:"
        if not isinstance(value, dict | list):
            yield f"{name} {_said(value)}"
        elif len(value) > _LIST_MAX:
            yield f"{name} {len(value):,} items, left out here"
        elif isinstance(value, dict) or any(isinstance(each, dict | list) for each in value):
            yield name
            yield from _outline(value, depth + 1)
        else:
            yield f"{name} {', '.join(map(_said, value))}"


def _said(value: Any) -> str:
    """A plain JSON value as text."""
    return value if isinstance(value, str) else json.dumps(value)
