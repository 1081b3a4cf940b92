"""A headless Chromium to look at a page with, driven over the DevTools protocol by a pair of pipes."""

import base64
import json
import os
import select
import shutil
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PATIENCE_S = 60
_EXEC = "import os, sys; [os.dup2(int(sys.argv[at]), at + 2) for at in (1, 2)]; os.execv(sys.argv[3], sys.argv[3:])"


def find_chromium() -> str | None:
    """The Chromium of this machine, if it has one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def chromium(program: str):
    """A running :class:`Browser`."""
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    with TemporaryDirectory() as profile:
        # the protocol's ends are descriptors 3 and 4, where Popen cannot put them
        command = [
            sys.executable, "-c", _EXEC, str(to_read), str(from_write), program, "--headless", "--no-sandbox",
            "--remote-debugging-pipe", "--disable-gpu", "--no-first-run", "--disable-background-networking",
            f"--user-data-dir={profile}",
        ]  # fmt: skip
        running = subprocess.Popen(
            command, pass_fds=(to_read, from_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_read)
        os.close(from_write)
        try:
            browser = Browser(to_write, from_read)
            yield browser
            with suppress(OSError):
                browser.call("Browser.close")
            running.wait(_PATIENCE_S)
        finally:
            running.kill()
            running.wait()
            os.close(to_write)
            os.close(from_read)


class Browser:
    """One tab. events: (method, params) of all that the protocol told, such as requests and errors."""

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read, self._held, self._last = write, read, b"", 0
        self._session: str | None = None
        self.events: list[tuple[str, dict]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params) -> dict:
        """The result of a method of the protocol."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            told = self._message()
            if told.get("id") == self._last:
                assert "error" not in told, (method, told["error"])
                return told["result"]
            self.events.append((told.get("method"), told.get("params", {})))

    def open(self, path: Path, width: int, dark: bool = False) -> None:
        """Load a file into a window ``width`` CSS pixels wide, in a light or dark scheme; forgets earlier events."""
        self.events.clear()
        phone = width < 600
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=2 if phone else 1,
            mobile=phone,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=path.resolve().as_uri())
        while not any(method == "Page.loadEventFired" for method, _ in self.events):
            told = self._message()
            self.events.append((told.get("method"), told.get("params", {})))

    def evaluate(self, script: str):
        """The JSON-able value of a JavaScript expression in the page."""
        made = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in made, made["exceptionDetails"]
        return made["result"].get("value")

    def screenshot(self, path: Path) -> None:
        """Write the whole page as a PNG."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))

    def _message(self) -> dict:
        until = monotonic() + _PATIENCE_S
        while b"\0" not in self._held:
            ready, _, _ = select.select([self._read], [], [], max(0, until - monotonic()))
            assert ready, f"Chromium said nothing for {_PATIENCE_S} s"
            some = os.read(self._read, 1 << 16)
            assert some, "Chromium ended"
            self._held += some
        message, _, self._held = self._held.partition(b"\0")
        return json.loads(message)
