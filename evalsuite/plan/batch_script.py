"""The script of a batch job: one allocation for a whole evaluation, to be read, changed and submitted."""

import shlex
from collections.abc import Sequence


def script(
    directives: Sequence[str],
    command: Sequence[str],
    *,
    submitter: str,
    before: Sequence[str] = (),
    variables: Sequence[tuple[str, str]] = (),
) -> str:
    """*directives*: what asks the scheduler for nodes; *before*: shell lines that come first (`module load …`)."""
    return "\n".join(
        [
            "#!/bin/bash",
            "# One allocation for a whole evaluation; every run is a step in it. Change what you like, then give it to",
            f"# {submitter}. Submitted again it goes on where it stopped: no run that is finished is made again.",
            *directives,
            "",
            "set -u",
            *before,
            *(f"export {name}={shlex.quote(value)}" for name, value in variables),
            "",
            "# SIGTERM comes before the time is up: the run that goes on is given up, and what is finished stays.",
            "trap 'kill -TERM \"$evaluation\"' TERM",
            f"{_wrapped(command)} &",
            "evaluation=$!",
            'wait "$evaluation"; code=$?',
            'while kill -0 "$evaluation" 2>/dev/null; do wait "$evaluation"; code=$?; done',
            'exit "$code"',
            "",
        ]
    )


def _wrapped(command: Sequence[str], width: int = 110) -> str:
    lines: list[str] = []
    for word in map(shlex.quote, command):
        fresh = word.startswith("--") or not lines
        if fresh or len(lines[-1]) + len(word) > width:
            lines.append(word)
        else:
            lines[-1] += f" {word}"
    return " \\\n    ".join(lines)
