"""A headless Chromium for tests, spoken to over its DevTools protocol: no driver, no further dependency.

The protocol is JSON over one WebSocket (chromedevtools.github.io/devtools-protocol); of WebSocket (RFC 6455)
only what a client needs to send and receive text is written here.
"""

import base64
import contextlib
import json
import os
import shutil
import socket
import struct
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-port=0"),
)
START_S = 60.0  # beside trainings, on a slow machine
ANSWER_S = 240.0  # a check of a whole page on a busy machine
SETTLE_S = 0.3
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

    def __init__(self, host: str, port: int, path: str) -> None:
        self.events: list[dict] = []
        self._count = 0
        self._buffer = b""
        self._socket = socket.create_connection((host, port), timeout=ANSWER_S)
        self._open(host, port, path)
        for domain in WATCHED:
            self.call(f"{domain}.enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)  # a headless page has no focus of its own

    def call(self, method: str, **parameters) -> dict:
        """The result of one command; events that arrive meanwhile are kept."""
        self._count += 1
        self._send(json.dumps({"id": self._count, "method": method, "params": parameters}).encode())
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
        time.sleep(SETTLE_S)

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
        while not self.evaluate(condition):
            if time.monotonic() > until:
                raise TimeoutError(condition)
            time.sleep(0.05)

    def _open(self, host: str, port: int, path: str) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        self._socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        while b"\r\n\r\n" not in self._buffer:
            self._buffer += self._socket.recv(4096)
        self._buffer = self._buffer.partition(b"\r\n\r\n")[2]

    def _send(self, text: bytes) -> None:
        mask = os.urandom(4)
        size = len(text)
        if size < 126:
            head = bytes([0x81, 0x80 | size])
        elif size < 65536:
            head = bytes([0x81, 0x80 | 126]) + struct.pack(">H", size)
        else:
            head = bytes([0x81, 0x80 | 127]) + struct.pack(">Q", size)
        self._socket.sendall(head + mask + bytes(byte ^ mask[place % 4] for place, byte in enumerate(text)))

    def _receive(self) -> bytes:
        message, last = b"", False
        while not last:
            first, size = self._take(2)
            last, size = bool(first & 0x80), size & 0x7F
            if size == 126:
                (size,) = struct.unpack(">H", self._take(2))
            elif size == 127:
                (size,) = struct.unpack(">Q", self._take(8))
            message += self._take(size)
        return message

    def _take(self, size: int) -> bytes:
        while len(self._buffer) < size:
            received = self._socket.recv(65536)
            if not received:
                raise ConnectionError("the browser has gone")
            self._buffer += received
        taken, self._buffer = self._buffer[:size], self._buffer[size:]
        return taken


@contextlib.contextmanager
def browser(profile: Path, environment: Mapping[str, str] | None = None) -> Iterator[Tab]:
    """A browser with a new profile in *profile*; ended and gone on leaving. *environment* adds to that of the tests."""
    process = subprocess.Popen(
        [executable(), *FLAGS, f"--user-data-dir={profile}", "about:blank"],
        env={**os.environ, **(environment or {})},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield _tab(profile / "DevToolsActivePort")
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _tab(port_file: Path) -> Tab:
    until = time.monotonic() + START_S
    while not (port_file.is_file() and port_file.stat().st_size):
        if time.monotonic() > until:
            raise TimeoutError("Chromium did not say its port")
        time.sleep(0.1)
    port = int(port_file.read_text().splitlines()[0])
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=START_S) as answer:
        page = next(target for target in json.load(answer) if target["type"] == "page")
    return Tab("127.0.0.1", port, "/" + page["webSocketDebuggerUrl"].split("/", 3)[3])
