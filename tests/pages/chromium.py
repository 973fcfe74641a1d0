"""A headless Chromium, spoken to over its DevTools protocol with the WebSocket library that is here anyway."""

import base64
import json
import os
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

SECONDS_MAX = 90.0
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
OPTIONS = (
    "--headless=new", "--remote-debugging-port=0", "--no-first-run", "--no-default-browser-check", "--disable-gpu",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
    "--disable-dev-shm-usage", "--force-color-profile=srgb",
)
KEYS = {"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, " ": 32, "Tab": 9}


def program() -> str:
    """The browser to test with. Skips the test, aloud, where there is none; on CI a skip fails the run."""
    named = os.environ.get("MARIAS_TEST_BROWSER")
    found = named or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("NO CHROMIUM ON THIS MACHINE: apt install chromium")
    return found


class Chromium:
    """One browser process; `with Chromium(folder) as browser` leaves nothing behind."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lines = ExitStack()
        options = [*OPTIONS, *(["--no-sandbox"] if os.geteuid() == 0 else []), f"--user-data-dir={folder}"]
        self._log = (folder.parent / "chromium.log").open("ab")
        self._process = subprocess.Popen(
            [program(), *options, "about:blank"], stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log,
        )

    def __enter__(self) -> "Chromium":
        told = self._folder / "DevToolsActivePort"
        end = time.monotonic() + SECONDS_MAX
        while not (told.exists() and told.read_text().count("\n")):
            assert self._process.poll() is None, "the browser ended at once; its log is beside its folder"
            assert time.monotonic() < end, "the browser does not start"
            time.sleep(0.02)
        self._port = int(told.read_text().split("\n")[0])
        with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/json/version", timeout=60) as answer:
            address = json.load(answer)["webSocketDebuggerUrl"]
        self._line = Line(self._lines.enter_context(connect(address, max_size=None)))
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.close()
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def page(self) -> "Tab":
        """A tab with cookies of its own."""
        context = self._line.send("Target.createBrowserContext")["browserContextId"]
        target = self._line.send("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        address = f"ws://127.0.0.1:{self._port}/devtools/page/{target}"
        return Tab(Line(self._lines.enter_context(connect(address, max_size=None))))


class Line:
    """Questions and answers of the protocol; what comes unasked is kept in `events`."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def send(self, method: str, **words: Any) -> dict[str, Any]:
        """Ask and wait for the answer."""
        self._number += 1
        self._connection.send(json.dumps({"id": self._number, "method": method, "params": words}))
        while True:
            message = self._hear()
            if message.get("id") == self._number:
                assert "error" not in message, (method, message)
                return message["result"]

    def wait_for(self, method: str, since: int) -> None:
        """Until an event of this name has come after the first `since` events."""
        while not any(event["method"] == method for event in self.events[since:]):
            self._hear()

    def _hear(self) -> dict[str, Any]:
        message = json.loads(self._connection.recv(timeout=SECONDS_MAX))
        if "method" in message:
            self.events.append(message)
        return message


class Tab:
    """One page, with all it asked the network for and all it complained of."""

    def __init__(self, line: Line) -> None:
        self._line = line
        for domain in ("Page", "Network", "Runtime", "Log"):
            line.send(f"{domain}.enable")
        self.size(1280, 900)

    def size(self, width: int, height: int, scale: float = 1.0) -> None:
        """Look through a window of this size, as on a phone where it is narrow."""
        self._line.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                        mobile=width < 600)

    def media(self, **features: str) -> None:
        """Prefer something, as `prefers_color_scheme="dark"`."""
        self._line.send("Emulation.setEmulatedMedia", features=[
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def without_scripts(self) -> None:
        self._line.send("Emulation.setScriptExecutionDisabled", value=True)

    def go(self, address: str) -> None:
        """Load a page and all its parts."""
        since = len(self._line.events)
        loads = "loaderId" in self._line.send("Page.navigate", url=address)
        if loads:
            self._line.wait_for("Page.loadEventFired", since)

    def leads(self, act: Callable[[], object]) -> None:
        """Do what loads another page, and wait for that."""
        since = len(self._line.events)
        act()
        self._line.wait_for("Page.loadEventFired", since)

    def ask(self, script: str) -> Any:
        """The value of an expression in the page."""
        said = self._line.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in said, said
        return said["result"].get("value")

    def until(self, script: str) -> None:
        """Wait until an expression in the page is true."""
        end = time.monotonic() + SECONDS_MAX
        while not self.ask(script):
            assert time.monotonic() < end, script
            time.sleep(0.02)

    def press(self, key: str) -> None:
        """Press a key and let it go."""
        words = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": KEYS[key]}
        self._line.send("Input.dispatchKeyEvent", type="keyDown", **words, **({"text": " "} if key == " " else {}))
        self._line.send("Input.dispatchKeyEvent", type="keyUp", **words)

    def click(self, selector: str) -> None:
        """Click in the middle of an element, where the page has it now."""
        where = self.ask(f"""(() => {{
            const found = document.querySelector({json.dumps(selector)});
            found.scrollIntoView({{block: "center", behavior: "instant"}});
            const box = found.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self._line.send("Input.dispatchMouseEvent", type=kind, x=where[0], y=where[1], button="left", clickCount=1)

    def photograph(self, file: Path) -> None:
        """Write what is in the window as a PNG."""
        file.write_bytes(base64.b64decode(self._line.send("Page.captureScreenshot", format="png")["data"]))

    def requests(self) -> list[str]:
        """Every address that was asked for."""
        return [event["params"]["request"]["url"] for event in self._line.events
                if event["method"] == "Network.requestWillBeSent"]

    def complaints(self) -> list[str]:
        """Exceptions, what was written to the console, and what the browser refused to do."""
        self.ask("0")  # Whatever was said before comes before this answer.
        kinds = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [json.dumps(event["params"])[:600] for event in self._line.events if event["method"] in kinds]

    def forgive(self) -> None:
        """Take it that what was refused until now was meant to be."""
        self.ask("0")
        self._line.events = [event for event in self._line.events if event["method"] != "Log.entryAdded"]

    def close(self) -> None:
        self._line.send("Page.close")
