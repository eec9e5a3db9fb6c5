"""Slurm: steps in its allocation; srun(1), sbatch(1), scontrol(1) of Slurm 22.05."""

import math
import re
from collections.abc import Sequence

from evalsuite.core.decode import instant, whole
from evalsuite.core.errors import EvalsuiteError
from evalsuite.schedulers import contract

PLAIN_TIMES = ("env", "SLURM_TIME_FORMAT=standard")
WARNED_S = 120  # for agents to end their trees and write files


def place(environment: contract.Environment) -> contract.NodePlace:
    return contract.NodePlace(
        rank=environment["SLURM_NODEID"],
        nodes=environment.get("SLURM_STEP_NUM_NODES") or environment.get("SLURM_NNODES"),
        host=environment.get("SLURMD_NODENAME"),
        hosts=hosts_of_step(environment),
        job=environment.get("SLURM_JOB_ID"),
        step=environment.get("SLURM_STEP_ID"),
    )


def hosts_of_step(environment: contract.Environment) -> tuple[str, ...]:
    return contract.unroll_nodelist(
        environment.get("SLURM_STEP_NODELIST") or environment.get("SLURM_JOB_NODELIST") or ""
    )


def nodes(environment: contract.Environment, ask: contract.Ask) -> tuple[str, ...]:
    return contract.unroll_nodelist(environment.get("SLURM_JOB_NODELIST") or environment.get("SLURM_NODELIST") or "")


def left_s(environment: contract.Environment, ask: contract.Ask, now_s: float) -> float | None:
    end = whole(environment.get("SLURM_JOB_END_TIME", ""))
    if end is not None:
        return end - now_s
    printed = ask(*PLAIN_TIMES, "scontrol", "show", "job", environment["SLURM_JOB_ID"])
    match = re.search(r"\bEndTime=(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)", printed or "")
    ends = instant(match[1]) if match else None
    return ends.timestamp() - now_s if ends else None


def step(nodes: int, argv: contract.Argv, hosts: Sequence[contract.Host]) -> contract.Argv:
    """One task a node, with all of the node's share, bound to no core."""
    return (
        "srun",
        f"--nodes={nodes}",
        f"--ntasks={nodes}",
        *((f"--nodelist={','.join(host.name for host in hosts[:nodes])}",) if hosts else ()),
        "--ntasks-per-node=1",
        "--cpu-bind=none",  # by default a task has one core
        "--overlap",  # also from a step, as of `srun --pty`
        "--kill-on-bad-exit=1",
        "--no-kill=off",  # a run must not outlive a dead node, as the job does (SLURM_NO_KILL)
        "--export=ALL",
        *argv,
    )


def size(ask: contract.Ask, partition: str | None) -> int | None:
    """sinfo(1) marks the default partition with an asterisk."""
    printed = ask("sinfo", "--noheader", "--format=%P %D", *((f"--partition={partition}",) if partition else ()))
    rows = [line.split() for line in (printed or "").splitlines() if partition or "* " in line]
    counts = [whole(row[-1]) or 0 for row in rows]
    return sum(counts) if counts else None


def seconds(text: str) -> float | None:
    """sbatch(1): minutes, mm:ss, h:mm:ss, d-hh, d-hh:mm, d-hh:mm:ss; a part of one digit, or more than 59, is taken."""
    match = re.fullmatch(r"(?:(\d{1,4})-)?(\d{1,6})(?::(\d{1,6}))?(?::(\d{1,6}))?", text)
    if match is None:
        return math.inf if text.lower() in ("unlimited", "infinite") else None
    parts = [int(part) for part in match.groups()[1:] if part]
    padded = [0, *parts] if match[1] is None and len(parts) < 3 else parts
    hours, minutes, rest = (*padded, 0, 0)[:3]
    return 86400 * int(match[1] or 0) + 3600 * hours + 60 * minutes + rest


def directives(allocation: contract.Allocation, folder: str, runs: str) -> list[str]:
    """Comments have their own lines: sbatch takes what follows an option for its value."""
    if allocation.time and seconds(allocation.time) is None:
        raise EvalsuiteError.of("plan.sbatch_time", text=allocation.time)
    spare = f"{allocation.nodes} for the largest scale and {allocation.spare} to take the place of one that fails"
    asked = {
        "account": allocation.account,
        "partition": allocation.partition,
        "time": allocation.time,
        "gres": allocation.gres,
        "constraint": allocation.constraint,
    }
    return [
        "#SBATCH --job-name=evalsuite",
        *(f"#SBATCH --{name}={contract.one_line(name, value)}" for name, value in asked.items() if value),
        *((f"# {spare}:",) if allocation.spare else ()),
        f"#SBATCH --nodes={allocation.nodes + allocation.spare}",
        "#SBATCH --ntasks-per-node=1",
        "# nobody else's work beside the measurement:",
        "#SBATCH --exclusive",
        "#SBATCH --mem=0",
        "# a node that dies ends one run and not the job; if the first one dies, the job starts anew and goes on:",
        "#SBATCH --no-kill",
        "#SBATCH --requeue",
        "#SBATCH --open-mode=append",
        f"# SIGTERM comes {WARNED_S} s before the time is up:",
        f"#SBATCH --signal=B:TERM@{WARNED_S}",
        f"#SBATCH --chdir={contract.one_line('chdir', folder)}",
        f"#SBATCH --output={contract.one_line('runs', f'{runs}/slurm-%j.txt')}",
        *(
            f"#SBATCH {f'--{name}=' if name[1:] else f'-{name} '}{contract.one_line(name, value)}"
            for name, value in allocation.options
        ),
    ]


SCHEDULER = contract.Scheduler(
    name="slurm",
    title="Slurm",
    task_variable="SLURM_NODEID",
    place=place,
    hosts_in_place=True,
    inherits=True,
    job_variable="SLURM_JOB_ID",
    nodes=nodes,
    left_s=left_s,
    starter="srun",
    step=step,
    size=size,
    submitter=("sbatch", "--parsable"),
    tester=("sbatch", "--test-only"),
    submitted=lambda printed: printed.strip().partition(";")[0],
    in_turn=(("dependency", "singleton"),),  # by the name of the job
    seconds=seconds,
    directives=directives,
    before=lambda folder: (),  # --chdir
    interactive="salloc --nodes=2 --exclusive",
    inventory="sinfo",
    alive=("scontrol", "ping"),
    package="slurm-client",
)
