"""The queue of Slurm: gives it a script, and asks it what it knows of this job and of this user's."""

import os
import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalsuite.agent import rendezvous
from evalsuite.errors import EvalsuiteError

ANSWER_S = 30.0
QUEUED = "%i|%T|%j|%D|%S|%e|%R"  # squeue(1): job, state, name, nodes, start, end, reason or nodes


@dataclass(frozen=True, kw_only=True)
class QueuedJob:
    """A job as squeue shows it."""

    id: str
    state: str
    name: str
    nodes: int | None
    start: str | None
    end: str | None
    why: str  # it waits, or where it runs


def submit(script: Path) -> str:
    """Gives *script* to sbatch; the number of the job. Raises EvalsuiteError in sbatch's own words if it is refused."""
    said = _answer(["sbatch", "--parsable", str(script)])
    if said is None:
        raise EvalsuiteError(
            "sbatch: no such program, or no answer; expected Slurm's, on a node that may submit. The script is "
            f"{script}: give it to sbatch there."
        )
    if said.returncode:
        lines = [
            line.removeprefix("sbatch: ").removeprefix("error: ") for line in said.stderr.splitlines() if line.strip()
        ]
        raise EvalsuiteError(
            f"sbatch: {' '.join(lines)[:300] or f'exit code {said.returncode}'}; expected a job that Slurm takes. "
            f"Try other --partition, --account, --time or --gres; `sinfo` shows what there is. The script is {script}."
        )
    return said.stdout.strip().partition(";")[0]


def jobs() -> tuple[QueuedJob, ...] | None:
    """This user's jobs; None where there is no Slurm, or it does not answer."""
    said = _answer(["squeue", "--me", "--noheader", f"--format={QUEUED}"])
    if said is None or said.returncode:
        return None
    return tuple(_job(line) for line in said.stdout.splitlines() if line.count("|") >= QUEUED.count("|"))


def _job(line: str) -> QueuedJob:
    job, state, name, nodes, start, end, why = line.split("|", QUEUED.count("|"))
    known = {text: None if text in ("N/A", "NONE", "") else text for text in (start, end)}
    return QueuedJob(
        id=job,
        state=state,
        name=name,
        nodes=int(nodes) if nodes.isdigit() else None,
        start=known[start],
        end=known[end],
        why=why,
    )


def nodes(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the allocation's nodes, as Slurm unrolls them; by ourselves where scontrol does not answer."""
    nodelist = environment.get("SLURM_JOB_NODELIST") or environment.get("SLURM_NODELIST") or ""
    if not nodelist:
        return ()
    said = _answer(["scontrol", "show", "hostnames", nodelist])
    if said is not None and said.returncode == 0 and said.stdout.split():
        return tuple(said.stdout.split())
    return rendezvous.hosts_of(nodelist)


def left_s(environment: Mapping[str, str]) -> float | None:
    """The seconds that this job may still take; None if it has no end, or nobody says when."""
    end = environment.get("SLURM_JOB_END_TIME", "")
    if end.isdigit():
        return float(end) - time.time()
    job = environment.get("SLURM_JOB_ID")
    said = _answer(["scontrol", "show", "job", job]) if job else None
    found = re.search(r"\bEndTime=(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)", said.stdout) if said else None
    if not found:
        return None
    return time.mktime(time.strptime(found[1], "%Y-%m-%dT%H:%M:%S")) - time.time()


def _answer(line: Sequence[str]) -> "subprocess.CompletedProcess[str] | None":
    """What a program of Slurm says; None if there is none, or it does not end."""
    try:
        return subprocess.run(
            line,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=ANSWER_S,
            env={**os.environ, "SLURM_TIME_FORMAT": "standard"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
