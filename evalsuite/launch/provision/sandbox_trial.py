"""What the sandbox of this machine holds: tried inside it, and never by what would do harm where it does not."""

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from evalsuite.core import paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.files import scratch
from evalsuite.core.messages import Message, message_of
from evalsuite.launch.programs import ask_program
from evalsuite.plan import sandbox
from evalsuite.runs.store import SCRATCH

TRY_S = 10.0
TRIED = paths.DATA / "sandbox_trial.py"
HELD = ("files", "network", "processes", "name", "kernel", "rights")


@dataclass(frozen=True, kw_only=True)
class Trial:
    escaped: tuple[str, ...]  # of HELD
    readable: tuple[str, ...]  # files and folders of people


def missing() -> str | None:
    outcome = trial()
    return None if isinstance(outcome, Trial) else outcome


def trial() -> Trial | str:
    if not shutil.which(sandbox.PROGRAM):
        return Message("launch.sandbox_absent", name=sandbox.PROGRAM, package=sandbox.PACKAGE)
    people = [str(path) for path in (Path.home(), Path.home() / ".ssh", Path("/etc/shadow"), *Path("/home").glob("*"))]
    try:
        with scratch("sandbox") as folder:
            (folder / SCRATCH).mkdir()
            tried = (sys.executable, "-I", "-c", TRIED.read_text("utf-8"), *people)
            line = sandbox.argv(tried, folder=str(folder), readable=(sandbox.prefix(sys.executable),), gpus=False)
            done = ask_program(line, TRY_S)
    except EvalsuiteError as error:
        return message_of(error)
    if done is None:
        return f"{sandbox.PROGRAM}: no answer in {TRY_S:g} s; try without --sandbox"
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["it failed"])[0]
        return Message("launch.sandbox_forbidden", error=said)
    escaped, readable = json.loads(done.stdout)
    return Trial(escaped=tuple(escaped), readable=tuple(dict.fromkeys(readable)))
