"""Runs uv, which makes every environment, with the settings of this machine's pip."""

import contextlib
import functools
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from evalsuite.core import paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message

Progress = Callable[[str], None]

LAST_LINES = 12
FINDING_UV = threading.Lock()  # it asks sysconfig, which Python 3.11 fills while another thread reads


class CannotInstall(EvalsuiteError):
    """The framework cannot be used on this machine; *last_lines* are what the failing command said."""

    def __init__(self, reason: str, last_lines: Iterable[str] = ()) -> None:
        self.reason = reason
        self.last_lines = tuple(last_lines)
        super().__init__(
            Message("launch.with_last_lines", reason=reason, lines="".join(f"\n  {line}" for line in self.last_lines))
        )


def uv_variables() -> dict[str, str]:
    """It may not fetch interpreters, finds pyenv's, and gets pip's settings (docs.astral.sh/uv/pip/compatibility)."""
    foreign = {"VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME"}
    kept = {name: value for name, value in os.environ.items() if name not in foreign}
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    path = os.pathsep.join([os.environ.get("PATH", ""), *(str(folder) for folder in sorted(pyenv.glob("*/bin")))])
    return {**_of_pip(_pip_config_list()), **kept, "PATH": path, "UV_PYTHON_DOWNLOADS": "never", "NO_COLOR": "1"}


OF_PIP = paths.read_data("pip_settings.toml")


def _of_pip(listing: str) -> dict[str, str]:
    """The environment wins over [install], and that over [global] (pip.pypa.io/en/stable/topics/configuration)."""
    variables: dict[str, str] = {}
    lines = [line.partition("=") for line in listing.splitlines()]
    for place in ("global", "install", ":env:"):
        for name, _, value in lines:
            where, _, setting = name.rpartition(".")
            if where == place and setting in OF_PIP:
                variable, between = OF_PIP[setting]
                variables[variable] = between.join(value.strip("'\"").replace("\\n", " ").split())
    if "UV_INDEX" in variables:
        variables["UV_INDEX_STRATEGY"] = "unsafe-best-match"  # pip's own way: the best version of all indexes
    return variables


@functools.cache
def _pip_config_list() -> str:
    """By the first interpreter that has pip; evalsuite's own may have none."""
    base = getattr(sys, "_base_executable", sys.executable)
    for python in (sys.executable, base, "python3"):
        with contextlib.suppress(OSError):
            answer = subprocess.run([python, "-m", "pip", "config", "list"], capture_output=True, text=True)
            if answer.returncode == 0:
                return answer.stdout
    return ""


def run_installer(
    arguments: tuple[str, ...],
    progress: Progress,
    doing: str,
    variables: Mapping[str, str] | None = None,
    stdin: str = "",
) -> str:
    place = paths.cache() / "environments"  # no project's uv settings apply there
    place.mkdir(parents=True, exist_ok=True)
    last_lines: deque[str] = deque(maxlen=LAST_LINES)
    with tempfile.TemporaryFile("w+", errors="replace") as printed:  # a pipe that nobody reads yet would fill
        process = subprocess.Popen(
            [uv_program(), *arguments],
            stdin=subprocess.PIPE,
            stdout=printed,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env={**uv_variables(), **(variables or {})},
            cwd=place,
        )
        assert process.stdin and process.stderr  # both are pipes
        with process:
            try:
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.write(stdin)
                    process.stdin.close()
                for line in process.stderr:
                    last_lines.append(re.sub(r"//[^/@\s]+@", "//***@", line.rstrip()))
                    if line.lstrip().startswith("Downloading "):  # the rest is chatter
                        progress(line.strip())
            except BaseException:
                process.terminate()
                raise
        printed.seek(0)
        answer = printed.read()
    if process.returncode != 0:
        said = last_lines or answer.splitlines()[-LAST_LINES:]
        raise CannotInstall(Message("launch.installer_failed", doing=doing, code=process.returncode), said)
    return answer


def uv_program() -> str:
    import uv

    with FINDING_UV:
        return uv.find_uv_bin()
