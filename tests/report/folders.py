"""What lies in a folder of results, written by hand."""

import contextlib
import io
import json
from pathlib import Path

import flashsim.cli as cli

RUN = {"flashsim": "9.9.9", "argv": ["flashsim", "x"], "written": "2026-01-02T03:04:05Z"}
NASTY = "<img src=x onerror=alert(1)>&\"'"  # as a name, a label, a kind
NASTY_SVG = """<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 100 50" onload="alert(2)">
<style>@import url(http://127.0.0.1:9/style); text { fill: url(http://127.0.0.1:9/fill) }</style>
<script>alert(3)</script><foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><p>HTML</p></body></foreignObject>
<image href="http://127.0.0.1:9/image"/><use xlink:href="http://127.0.0.1:9/use#a"/>
<a xlink:href="javascript:alert(4)"><text x="0" y="20">a link</text></a>
<rect width="100" height="50" style="fill: url(http://127.0.0.1:9/paint)"/>
<rect width="9" height="9" style="fill: u\\72l(http://127.0.0.1:9/escaped)"/>
<text x="5" y="30" onclick="alert(5)">drawn &lt;b&gt;</text></svg>
"""  # noqa: E501


def run(*arguments) -> None:
    """A command line that has to work."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as told:
        assert cli.main([str(argument) for argument in arguments]) == 0, told.getvalue()


def put(folder: Path, name: str, csv: str | None = "label,value\na,1\n", svg: str | None = None, **facts) -> None:
    """Write a result as its files."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps({"kind": "a kind", "run": RUN} | facts))
    if csv is not None:
        (folder / f"{name}.csv").write_text(csv)
    if svg is not None:
        (folder / f"{name}.svg").write_text(svg)


def put_nasty(folder: Path) -> None:
    """Write a result whose every text would be markup, or load what is elsewhere, if it were let."""
    csv = f"corpus,label,cache_bytes,reads_per_token,{NASTY}\n".replace('"', "'")
    rows = "".join(f'"{NASTY.replace(chr(34), chr(34) * 2)}",</td><b>{at},4096,1.5,{NASTY[:-2]}\n' for at in range(2))
    run_facts = RUN | {"argv": ["flashsim", NASTY], "written": NASTY, "flashsim": "</p>"}
    flag = {"name": NASTY, "value": None, "text": NASTY}
    put(folder, NASTY, csv + rows, NASTY_SVG, kind=NASTY, run=run_facts, notes=[NASTY], points=[{"flags": [flag]}],
        sources=[{"path": NASTY, "sha256": NASTY}], more={NASTY: NASTY})  # fmt: skip
