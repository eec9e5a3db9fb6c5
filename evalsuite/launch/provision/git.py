"""Runs git, and nothing else that a repository or this machine could have it start."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from evalsuite.core.errors import EvalsuiteError

LAST_LINES = 6
# no hook, no watcher of files, no transport helper that is a shell
SETTINGS = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "protocol.ext.allow=never", "core.quotePath=off",
    "core.autocrlf=false", "submodule.recurse=false", "core.fileMode=false",
)  # fmt: skip
# no filter for large files, no question to the user, no object in the place of another
VARIABLES = {
    "GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1", "GIT_NO_REPLACE_OBJECTS": "1", "LC_ALL": "C",
}  # fmt: skip


class CannotFetch(EvalsuiteError):
    """git failed, or the repository cannot be had from there."""


def run_git(*arguments: str, folder: Path, stdin: bytes = b"", variables: Mapping[str, str] | None = None) -> bytes:
    """What git prints; *variables* None: those of this process. Raises CannotFetch with git's last lines."""
    settings = [word for setting in SETTINGS for word in ("-c", setting)]
    try:
        answer = subprocess.run(
            ["git", *settings, "-C", str(folder), *arguments],
            capture_output=True,
            input=stdin,
            env={**(os.environ if variables is None else variables), **VARIABLES},
        )
    except FileNotFoundError as error:
        raise CannotFetch.of("launch.git_absent") from error
    if answer.returncode != 0:
        last_lines = "\n  ".join(answer.stderr.decode(errors="replace").strip().splitlines()[-LAST_LINES:])
        raise CannotFetch.of(
            "launch.git_failed", command=arguments[0], code=answer.returncode, folder=folder.name, text=last_lines
        )
    return answer.stdout


def read_git(*arguments: str, folder: Path) -> str:
    return run_git(*arguments, folder=folder).decode(errors="replace").strip()
