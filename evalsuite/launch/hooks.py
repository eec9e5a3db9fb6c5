"""Commands that people have started when an evaluation has ended: a message, a copy, an alarm."""

import os
import shlex
import shutil
import subprocess
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.messages import Message

MOST_S, INTERRUPTED = 600, 128 + 2  # as shells have it


def around(evaluate: Callable[[], int], asked: Namespace, place: Path, tell: Callable[[str], None]) -> int:
    """Gives what *evaluate* does; then starts the hooks with *place*, the report or the runs, as their last word."""
    words = _words(asked.on_end)
    code = int(Exit.DEFECT)
    try:
        code = evaluate()
    except (EvalsuiteError, KeyboardInterrupt) as error:
        code = error.exit_code if isinstance(error, EvalsuiteError) else INTERRUPTED
        raise
    finally:
        if words:
            try:
                variables = {**os.environ, "EVALSUITE_EXIT_CODE": str(int(code))}
                subprocess.run([*words, str(place.resolve())], env=variables, timeout=MOST_S, check=True)
            except (OSError, subprocess.SubprocessError) as error:
                tell(Message("launch.hook_failed", command=shlex.join(words), error=error))
    return code


def _words(command: str | None) -> list[str]:
    """Raises EvalsuiteError for what could not be started, before hours are spent."""
    try:
        words = shlex.split(command or "")
    except ValueError:
        words = []
    if command is not None and (not words or shutil.which(words[0]) is None):
        raise EvalsuiteError.of("launch.hook_unknown", command=command)
    return words
