"""Processes of this machine that a test waits for, or that must be gone."""

import time
from collections.abc import Callable
from pathlib import Path

import psutil

POLL_S = 0.1


def soon(happened: Callable[[], object], seconds: float = 60) -> bool:
    """Whether *happened* becomes true within *seconds*."""
    deadline = time.monotonic() + seconds
    while not (found := happened()) and time.monotonic() < deadline:
        time.sleep(POLL_S)
    return bool(found)


def lives(pid: int) -> bool:
    """Whether *pid* is a process that still runs (a zombie has ended)."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def program(pid: int) -> str | None:
    """The name of what *pid* runs; None if it has ended."""
    try:
        return psutil.Process(pid).name()
    except psutil.NoSuchProcess:
        return None


def family(pid: int) -> list[int]:
    """*pid* and all below it."""
    return [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]


def running(words: str) -> list[str]:
    """The command lines that hold *words*: tests beside this one start such processes, too."""
    return [found for file in Path("/proc").glob("[0-9]*/cmdline") if words in (found := line(file))]


def line(file: Path) -> str:
    try:
        return file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
