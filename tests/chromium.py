"""A headless Chromium for tests, spoken to over its DevTools protocol: no driver, no further dependency. The protocol
is JSON (chromedevtools.github.io/devtools-protocol), here over two pipes: a zero byte ends each message."""

import contextlib
import json
import os
import selectors
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe"),
)
PIPES = 'exec "$@" 3<&0 4>&1 </dev/null >/dev/null'  # where the browser looks for them
START_S = 60.0  # beside trainings, on a slow machine
ANSWER_S = 240.0  # a check of a whole page on a busy machine
LEFT = ("navigated or closed", "context was destroyed", "Cannot find context")  # asked of a page that was being left
# a page has gone to its place, some frames after its script ran, and its idle work has had its turn
SETTLED = """
  matchMedia("(scripting: none)").matches || new Promise(done => {
    const frame = left => left ? requestAnimationFrame(() => frame(left - 1))
      : requestIdleCallback(done, {timeout: 300});
    frame(6);
  })
"""
WATCHED = ("Page", "Runtime", "Log", "Network")
COMPLAINTS = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")


def executable() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def require() -> None:
    """Ends the file of tests that calls it where no browser is installed."""
    if executable() is None:
        lacking("no Chromium here: apt-get install chromium (tools/prepare_tests.py does it)")


def lacking(reason: str) -> None:
    """Ends a test, or a file of tests, without what it needs: skipped with the reason, failed where CI=true."""
    import pytest  # a benchmark drives the browser without it

    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason, allow_module_level=True)


class Tab:
    """One page of a browser."""

    def __init__(self, process: subprocess.Popen) -> None:
        self.events: list[dict] = []
        self._count = 0
        self._buffer = b""
        self._session: dict[str, str] = {}
        self._process = process
        os.set_blocking(process.stdout.fileno(), False)
        self._answers = selectors.DefaultSelector()
        self._answers.register(process.stdout, selectors.EVENT_READ)
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page, flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
        for domain in WATCHED:
            self.call(f"{domain}.enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)  # a headless page has no focus of its own

    def call(self, method: str, **parameters) -> dict:
        """The result of one command; events that arrive meanwhile are kept."""
        self._count += 1
        asked = {"id": self._count, "method": method, "params": parameters, **self._session}
        self._process.stdin.write(json.dumps(asked).encode() + b"\0")
        self._process.stdin.flush()
        while True:
            message = json.loads(self._receive())
            if message.get("id") != self._count:
                self.events.append(message)
                continue
            if "error" in message:
                raise RuntimeError(f"{method}: {message['error']['message']}")
            return message["result"]

    def evaluate(self, expression: str):
        """The value of a JavaScript expression in the page. Raises what it throws."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"].get("exception", {}).get("description", expression))
        return found["result"].get("value")

    def visit(self, address: str) -> None:
        """Loads *address* anew and waits until it is there."""
        self.call("Page.navigate", url="about:blank")
        self.events.clear()
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")
        self.evaluate(SETTLED)

    def press(self, key: str, modifiers: int = 0) -> None:
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowRight": 39, "ArrowDown": 40}
        about = {"key": key, "code": key, "windowsVirtualKeyCode": codes[key], "modifiers": modifiers}
        text = {"text": "\r"} if key == "Enter" else {"text": " "} if key == " " else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **about, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **about)

    def complaints(self) -> list[str]:
        """What the console was told since the last visit, uncaught errors among it."""
        self.evaluate("1")  # lets pending events arrive
        return [json.dumps(event["params"])[:500] for event in self.events if event["method"] in COMPLAINTS]

    def requests(self) -> list[str]:
        """Every address asked for since the last visit."""
        self.evaluate("1")
        wanted = (event for event in self.events if event["method"] == "Network.requestWillBeSent")
        return [event["params"]["request"]["url"].partition("#")[0] for event in wanted]

    def wait(self, condition: str) -> None:
        """Returns once the JavaScript *condition* holds. Raises TimeoutError if it does not come to."""
        until = time.monotonic() + START_S
        while not self._holds(condition):
            if time.monotonic() > until:
                raise TimeoutError(condition)
            time.sleep(0.05)

    def _holds(self, condition: str) -> bool:
        try:
            return bool(self.evaluate(condition))
        except RuntimeError as error:  # the page is on its way to another one: asked again there
            if any(part in str(error) for part in LEFT):
                return False
            raise

    def _receive(self) -> bytes:
        while b"\0" not in self._buffer:
            if not self._answers.select(ANSWER_S):
                raise TimeoutError("the browser does not answer")
            received = self._process.stdout.read()
            if not received:
                raise ConnectionError("the browser has gone")
            self._buffer += received
        message, _, self._buffer = self._buffer.partition(b"\0")
        return message


@contextlib.contextmanager
def browser(profile: Path, environment: Mapping[str, str] | None = None) -> Iterator[Tab]:
    """A browser with a new profile in *profile*; ended and gone on leaving. *environment* adds to that of the tests."""
    process = subprocess.Popen(
        ["sh", "-c", PIPES, "sh", executable(), *FLAGS, f"--user-data-dir={profile}", "about:blank"],
        env={**os.environ, **(environment or {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with process:
        try:
            yield Tab(process)
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
