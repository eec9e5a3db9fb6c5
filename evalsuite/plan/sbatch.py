"""The script for sbatch: one allocation for a whole evaluation, to be read, changed and submitted.

sbatch(1) of Slurm 22.05. Comments have their own lines: sbatch takes what follows an option for its value.
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

from evalsuite.errors import EvalsuiteError

WARNED_S = 120  # for agents to end their trees and write files
_TIME = re.compile(r"(?:\d+-)?\d{1,3}(?::\d{2}){0,2}")  # sbatch(1): minutes, h:mm:ss, d-hh, d-hh:mm:ss


@dataclass(frozen=True, kw_only=True)
class Allocation:
    nodes: int
    spare: int = 0
    account: str | None = None
    partition: str | None = None
    time: str | None = None  # "8:00:00"; None: the partition's own limit
    gres: str | None = None  # "gpu:8"
    constraint: str | None = None
    options: tuple[str, ...] = field(default=())  # more of sbatch's own, as "--mail-type=END"


def script(
    allocation: Allocation,
    command: Sequence[str],
    *,
    folder: str,
    runs: str,
    before: Sequence[str] = (),
    variables: Sequence[tuple[str, str]] = (),
) -> str:
    """*command*: the evaluation's; *folder*: where it runs; *before*: shell lines that come first (`module load …`)."""
    return "\n".join(
        [
            "#!/bin/bash",
            "# One allocation for a whole evaluation; every run is a step in it. Change what you like, then give it to",
            "# sbatch. Submitted again it goes on where it stopped: no run that is finished is made again.",
            *_options(allocation, folder, runs),
            "",
            "set -u",
            *before,
            *(f"export {name}={shlex.quote(value)}" for name, value in variables),
            "",
            f"# SIGTERM comes {WARNED_S} s before the time is up: the run that goes on is given up, and what is",
            "# finished stays.",
            "trap 'kill -TERM \"$evaluation\"' TERM",
            f"{_wrapped(command)} &",
            "evaluation=$!",
            'wait "$evaluation"; code=$?',
            'while kill -0 "$evaluation" 2>/dev/null; do wait "$evaluation"; code=$?; done',
            'exit "$code"',
            "",
        ]
    )


def _options(allocation: Allocation, folder: str, runs: str) -> list[str]:
    total = allocation.nodes + allocation.spare
    spare = f"{allocation.nodes} for the largest scale and {allocation.spare} to take the place of one that fails"
    asked = {
        "account": allocation.account,
        "partition": allocation.partition,
        "time": _checked_time(allocation.time),
        "gres": allocation.gres,
        "constraint": allocation.constraint,
    }
    return [
        "#SBATCH --job-name=evalsuite",
        *(f"#SBATCH --{name}={_one_line(name, value)}" for name, value in asked.items() if value),
        *((f"# {spare}:",) if allocation.spare else ()),
        f"#SBATCH --nodes={total}",
        "#SBATCH --ntasks-per-node=1",
        "# nobody else's work beside the measurement:",
        "#SBATCH --exclusive",
        "# a node that dies ends one run and not the job; if the first one dies, the job starts anew and goes on:",
        "#SBATCH --no-kill",
        "#SBATCH --requeue",
        "#SBATCH --open-mode=append",
        f"#SBATCH --signal=B:TERM@{WARNED_S}",
        f"#SBATCH --chdir={_one_line('chdir', folder)}",
        f"#SBATCH --output={_one_line('runs', f'{runs}/slurm-%j.txt')}",
        *(f"#SBATCH {_option(option)}" for option in allocation.options),
    ]


def _checked_time(text: str | None) -> str | None:
    if text is not None and not _TIME.fullmatch(text):
        raise EvalsuiteError.of("plan.sbatch_time", text=text)
    return text


def _option(text: str) -> str:
    if not text.startswith("-"):
        raise EvalsuiteError.of("plan.sbatch_option", text=text)
    return _one_line("sbatch", text)


def _one_line(name: str, value: str) -> str:
    if not value.isprintable() or '"' in value:
        raise EvalsuiteError.of("plan.one_line", name=name, text=repr(value[:60]))
    return f'"{value}"' if re.search(r"\s", value) and not value.startswith("-") else value


def _wrapped(command: Sequence[str], width: int = 110) -> str:
    """An option with its values on each line."""
    lines: list[str] = []
    for word in map(shlex.quote, command):
        fresh = word.startswith("--") or not lines
        if fresh or len(lines[-1]) + len(word) > width:
            lines.append(word)
        else:
            lines[-1] += f" {word}"
    return " \\\n    ".join(lines)
