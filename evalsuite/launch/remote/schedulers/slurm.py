"""Slurm: steps in its allocation, and its queue; srun(1), sbatch(1), squeue(1), scontrol(1) of Slurm 22.05."""

import re
import time
from collections.abc import Sequence
from pathlib import Path

from evalsuite.agent import platforms
from evalsuite.errors import EvalsuiteError
from evalsuite.launch.programs import Program, ask_program
from evalsuite.launch.remote.schedulers.scheduler import Environment, QueuedJob, Scheduler
from evalsuite.messages import Message
from evalsuite.plan import sbatch
from evalsuite.plan.engines import Argv, Engine, refuse_more_nodes

NAME = "slurm"
ANSWER_S = 30.0
QUEUED = "%i|%T|%j|%D|%S|%e|%R"  # squeue(1): job, state, name, nodes, start, end, reason or nodes
TIMES = {"SLURM_TIME_FORMAT": "standard"}


def engine(names: Sequence[str]) -> Engine:
    """On the nodes *names* of an allocation: every framework gets the first of them."""
    return Engine(
        name=NAME,
        wrap=lambda nodes, agent: _step(nodes, agent, names),
        refusal=refuse_more_nodes(names) if names else lambda case: None,
        unready=_outside_an_allocation,
        nodes=tuple(names),
        on=engine,
    )


def _step(nodes: int, agent: Argv, names: Sequence[str]) -> Argv:
    """One task a node, with all of the node's share, bound to no core. *names*: (): Slurm chooses."""
    return (
        "srun",
        f"--nodes={nodes}",
        f"--ntasks={nodes}",
        *((f"--nodelist={','.join(names[:nodes])}",) if names else ()),
        "--ntasks-per-node=1",
        "--cpu-bind=none",  # by default a task has one core
        "--overlap",  # also from a step, as of `srun --pty`
        "--kill-on-bad-exit=1",
        "--no-kill=off",  # a run must not outlive a dead node, as the job does (SLURM_NO_KILL)
        "--export=ALL",
        *agent,
    )


def _outside_an_allocation(environment: Environment) -> str | None:
    if job_id(environment):
        return None
    return Message("launch.no_allocation")


def submit(script: Path) -> str:
    """The number of the job. Raises EvalsuiteError in sbatch's own words."""
    said = ask_program(("sbatch", "--parsable", str(script)), ANSWER_S)
    if said is None:
        raise EvalsuiteError.of("launch.sbatch_absent", file=script)
    if said.returncode:
        lines = [
            line.removeprefix("sbatch: ").removeprefix("error: ") for line in said.stderr.splitlines() if line.strip()
        ]
        raise EvalsuiteError.of(
            "launch.sbatch_refused",
            text=" ".join(lines)[:300] or Message("launch.run_exit", code=said.returncode),
            file=script,
        )
    return said.stdout.strip().partition(";")[0]


def jobs() -> tuple[QueuedJob, ...] | None:
    """This user's; None where Slurm does not answer."""
    said = ask_program(("squeue", "--me", "--noheader", f"--format={QUEUED}"), ANSWER_S, TIMES)
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


def job_id(environment: Environment) -> str | None:
    return environment.get("SLURM_JOB_ID")


def nodes(environment: Environment) -> tuple[str, ...]:
    """The names of the allocation's nodes."""
    nodelist = environment.get("SLURM_JOB_NODELIST") or environment.get("SLURM_NODELIST") or ""
    return platforms.unroll_nodelist(nodelist)


def left_s(environment: Environment) -> float | None:
    """Seconds that this job may still take; None if it has no end, or it is unknown."""
    end = environment.get("SLURM_JOB_END_TIME", "")
    if end.isdigit():
        return float(end) - time.time()
    job = job_id(environment)
    said = ask_program(("scontrol", "show", "job", job), ANSWER_S, TIMES) if job else None
    found = re.search(r"\bEndTime=(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)", said.stdout) if said else None
    if not found:
        return None
    return time.mktime(time.strptime(found[1], "%Y-%m-%dT%H:%M:%S")) - time.time()


SCHEDULER = Scheduler(
    name=NAME,
    engine=engine,
    job_id=job_id,
    nodes=nodes,
    left_s=left_s,
    jobs=jobs,
    script=sbatch.script,
    submit=submit,
    submitter="sbatch",
    client=Program(
        name="srun",
        purpose=Message("launch.engine_slurm"),
        remedy=Message("launch.slurm_client_remedy"),
        alive=("scontrol", "ping"),
        dead=Message("launch.slurm_silent"),
    ),
)
