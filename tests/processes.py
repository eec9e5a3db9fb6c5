"""Processes of this machine that a test waits for, or that must be gone."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from evalsuite.runs.store import RunFolder
from tests import runfolders

POLL_S = 0.1


def soon(happened: Callable[[], object], seconds: float = 60) -> bool:
    """Whether *happened* becomes true within *seconds*."""
    deadline = time.monotonic() + seconds
    while not (found := happened()) and time.monotonic() < deadline:
        time.sleep(POLL_S)
    return bool(found)


def lives(pid: int) -> bool:
    """Whether *pid* is a process that still runs (a zombie has ended)."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


def program(pid: int) -> str | None:
    """The name of what *pid* runs; None if it has ended."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).name()
    return None


def family(pid: int) -> list[int]:
    """*pid* and all below it."""
    return [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]


def running(words: str) -> list[str]:
    """The command lines that hold *words*: tests beside this one start such processes, too."""
    return [found for file in Path("/proc").glob("[0-9]*/cmdline") if words in (found := line(file))]


def line(file: Path) -> str:
    with contextlib.suppress(OSError):
        return file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""


COMPILER = shutil.which("cc") or shutil.which("gcc")


def with_library(name, source, folder):
    """The environment of a process that finds a library of this C *source*."""
    file = Path(tempfile.mkdtemp(dir=folder)) / name
    compiled = [COMPILER, "-shared", "-fPIC", "-x", "c", "-", "-o", str(file)]
    subprocess.run(compiled, input=source.encode(), check=True)
    return os.environ | {"LD_LIBRARY_PATH": str(file.parent)}


def sampled(environment, folder, seconds):
    """Header, samples and environment that the agent writes of a sleep."""
    run = Path(tempfile.mkdtemp(dir=folder)) / "run"
    line = ["env", "EVALSUITE_HOST=n", sys.executable, "-m", "evalsuite", "sample", "-o", str(run), "--hz", "4"]
    subprocess.run([*line, "--", "sleep", seconds], env=environment, check=True, timeout=180)
    samples = RunFolder(run).samples("n")
    return samples.header, runfolders.readings(samples), RunFolder(run).environments()["n"]
