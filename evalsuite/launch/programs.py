"""Programs of the system: asked, started with what they inherit, and ended."""

import contextlib
import importlib.metadata
import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from evalsuite.core import paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.machine import interfaces, process_tree
from evalsuite.machine.environment import KNOWN


@dataclass(frozen=True, kw_only=True)
class Program:
    name: str
    purpose: str
    remedy: str
    version: tuple[str, ...] = ("--version",)
    alive: tuple[str, ...] = ()
    dead: str = ""  # what a failing *alive* means


def ask_program(
    line: Sequence[str], timeout_s: float, variables: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str] | None":
    """What *line* prints; None if there is no such program, or it does not end."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        return _run(line, timeout_s, variables, capture_output=True)
    return None


def run_joined(
    line: Sequence[str | Path], folder: Path, timeout_s: float, variables: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str] | None":
    """Output and errors of *line* as one text; None if it does not end. Raises OSError."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        return _run(line, timeout_s, variables, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return None


def _run(
    line: Sequence[str | Path], timeout_s: float, variables: Mapping[str, str] | None, **how: Any
) -> "subprocess.CompletedProcess[str]":
    known = {**os.environ, **(variables or {})}
    return subprocess.run(
        line, stdin=subprocess.DEVNULL, text=True, errors="replace", timeout=timeout_s, env=known, **how
    )


TERMINATE_S = 15.0  # between asking the agent to end and killing it


def start_process(
    line: Sequence[str], environment: Mapping[str, str], output: IO[bytes], folder: Path | None = None
) -> subprocess.Popen[bytes]:
    """Raises OSError if there is no such program."""
    return subprocess.Popen(
        line,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # Ctrl-C reaches us alone; we end the agent in order
        preexec_fn=partial(_end_with, os.getpid()),
    )


def end_process(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
    if process.poll() is not None:
        return
    import psutil

    with contextlib.suppress(psutil.NoSuchProcess):
        descendants = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGTERM)  # the agent ends its own tree
        try:
            process.wait(TERMINATE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for descendant in descendants:
            with contextlib.suppress(psutil.NoSuchProcess):
                descendant.kill()


def _end_with(evaluator: int) -> None:
    """In the engine's process: asks for SIGTERM when *evaluator* dies, since mpirun and mpiexec would go on."""
    process_tree.be_told_of_parents_death(signal.SIGTERM)
    if os.getppid() != evaluator:  # it died before the signal was asked for
        os._exit(128 + signal.SIGTERM)


OPEN_MPI = "openmpi"
VERSION_TIMEOUT_S = 20.0
ALSO = ("PATH", interfaces.VARIABLE, "LD_LIBRARY_PATH", "PYTHONPATH", "EVALSUITE_DATA", "EVALSUITE_CACHE", "LC_ALL")


def forwarded_variables(environment: Mapping[str, str]) -> dict[str, str]:
    wanted = [name for name in sorted(environment) if name in KNOWN or name in ALSO]
    values = {name: environment[name] for name in wanted}
    return {interfaces.VARIABLE: interfaces.AUTO, **values, **python_path(environment)}


def python_path(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What lets `python -m evalsuite` start from any folder; {} where it is installed."""
    try:
        importlib.metadata.distribution("evalsuite")
    except importlib.metadata.PackageNotFoundError:
        inherited = environment.get("PYTHONPATH")
        return {"PYTHONPATH": os.pathsep.join(filter(None, [inherited, str(paths.PACKAGE.parent)]))}
    return {}


def with_version(transport: str) -> str:
    """*transport*, Open MPI with its version: "openmpi4". Raises EvalsuiteError where that is absent or unknown."""
    if transport != OPEN_MPI:
        return transport
    answer = ask_program(("mpirun", "--version"), VERSION_TIMEOUT_S)
    if answer is None:
        raise EvalsuiteError.of("launch.no_openmpi")
    match = re.search(r"\(Open MPI\) (\d+)", answer.stdout)
    if match is None or match[1] not in ("4", "5"):
        raise EvalsuiteError.of("launch.other_mpirun", text=answer.stdout.strip().partition("\n")[0][:60])
    return f"{OPEN_MPI}{match[1]}"
