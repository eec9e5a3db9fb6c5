"""PBS Pro and OpenPBS: tasks on the hosts of a job, by number. Written by OpenPBS's own qsub(1B), qstat(1B),
pbsdsh(1B), pbsnodes(8B), pbs_resources(7B); no PBS has run it yet."""

import os
import re
import shlex
from collections.abc import Sequence
from email.utils import parsedate
from typing import Any

from evalsuite.core import files
from evalsuite.core.decode import instant, whole
from evalsuite.core.errors import EvalsuiteError
from evalsuite.schedulers import contract

_GPUS = re.compile(r"gpu:(\d+)")
# A rank for each task: PBS_NODENUM counts all hosts of the job.
_STEP = """rank=0
for number in {numbers}; do
    pbsdsh -n "$number" -- env EVALSUITE_NODES={nodes} EVALSUITE_NODE_RANK="$rank" "$@" &
    tasks="${{tasks:-}} $!" rank=$((rank + 1))
done
trap 'kill $tasks' TERM INT
code=0
for task in $tasks; do wait "$task" || code=$?; done
exit "$code\""""


def nodes(environment: contract.Environment, ask: contract.Ask) -> tuple[str, ...]:
    """PBS_NODEFILE has a line for each process of a chunk; the script asks for one chunk a host, of one process."""
    listed = ask("cat", environment["PBS_NODEFILE"]) if environment.get("PBS_NODEFILE") else None
    return tuple(dict.fromkeys((listed or "").split()))


def left_s(environment: contract.Environment, ask: contract.Ask, now_s: float) -> float | None:
    """The time that is used is renewed every few minutes alone, so the start is asked for."""
    jobs = _answer(ask, "Jobs", "qstat", "-f", "-F", "json", environment["PBS_JOBID"])
    for job in (jobs or {}).values():
        left = seconds(str(job.get("Resource_List", {}).get("walltime", "")))
        began = parsedate(str(job.get("stime")))  # of the host's zone, by ctime(3): Fri Jul  1 14:42:57 2022
        start = instant("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}".format(*began)) if began else None
        return None if start is None or left is None else start.timestamp() + left - now_s
    return None


def seconds(text: str) -> float | None:
    """pbs_resources(7B): [[hours:]minutes:]seconds."""
    parts = [whole(part) for part in text.split(":")]
    if None in parts or len(parts) > 3:
        return None
    return sum((part or 0) * int(60**place) for place, part in enumerate(reversed(parts)))


def step(nodes: int, argv: contract.Argv, hosts: Sequence[contract.Host]) -> contract.Argv:
    numbers = [str(host.number) for host in hosts[:nodes]] or [str(number) for number in range(nodes)]
    return ("sh", "-c", _STEP.format(numbers=" ".join(numbers), nodes=nodes), "sh", *argv)


def size(ask: contract.Ask, partition: str | None) -> int | None:
    """Which hosts a queue may use no program prints in one form."""
    known = None if partition else _answer(ask, "nodes", "pbsnodes", "-a", "-F", "json")
    return len(known) if known else None


def _answer(ask: contract.Ask, key: str, *argv: str) -> dict[str, dict[str, Any]] | None:
    printed = ask(*argv)
    try:
        facts = files.parse_json(printed or "")
    except ValueError:
        return None
    known = facts.get(key, {}) if isinstance(facts, dict) else None
    return {name: each for name, each in known.items() if isinstance(each, dict)} if isinstance(known, dict) else None


def directives(allocation: contract.Allocation, folder: str, runs: str) -> list[str]:
    hosts = allocation.nodes + allocation.spare
    gpus = _GPUS.fullmatch(allocation.gres) if allocation.gres else None
    if allocation.gres and not gpus:
        raise EvalsuiteError.of("pbs.gres", text=allocation.gres)
    if allocation.time and seconds(allocation.time) is None:
        raise EvalsuiteError.of("pbs.time", text=allocation.time)
    for name, value in allocation.options:
        if len(name) > 1:  # qsub(1B) has letters alone
            raise EvalsuiteError.of("pbs.option", name=name, value=value)
    chunk = [str(hosts), "mpiprocs=1", *([f"ncpus={allocation.cores}"] if allocation.cores else [])]
    chunk += [f"ngpus={gpus[1]}"] if gpus else []
    if limit := allocation.constraint:
        chunk.append(limit if "=" in limit else f"{limit}=True")
    asked = {"A": allocation.account, "q": allocation.partition}
    return [
        "#PBS -N evalsuite",
        *(f"#PBS -{letter} {contract.one_line(letter, value)}" for letter, value in asked.items() if value),
        f"#PBS -l select={contract.one_line('select', ':'.join(chunk))}",
        "# a host each, and nobody else's work beside the measurement:",
        "#PBS -l place=scatter:excl",
        *((f"#PBS -l walltime={allocation.time}",) if allocation.time else ()),
        *(
            ("# a host that dies ends one run and not the job:", "#PBS -W tolerate_node_failures=all")
            * bool(allocation.spare)
        ),
        "# if the first host dies, the job starts anew and goes on:",
        "#PBS -r y",
        "#PBS -j oe",
        f"#PBS -o {contract.one_line('runs', os.path.join(folder, runs, ''))}",
        *(f"#PBS -{name} {contract.one_line('ask', value)}" for name, value in allocation.options),
    ]


SCHEDULER = contract.Scheduler(
    name="pbs",
    title="PBS Pro",
    task_variable="PBS_NODENUM",
    place=lambda environment: contract.NodePlace(job=environment.get("PBS_JOBID")),
    hosts_in_place=False,
    inherits=False,  # a task has the variables of the job, and none that its script has set
    job_variable="PBS_JOBID",
    nodes=nodes,
    left_s=left_s,
    starter="pbsdsh",
    step=step,
    size=size,
    submitter=("qsub",),
    tester=(),  # qsub(1B) has no such option
    submitted=str.strip,
    in_turn=(),
    seconds=seconds,
    directives=directives,
    before=lambda folder: [f"cd {shlex.quote(folder)} || exit"],  # a job starts in $HOME
    interactive="qsub -I -l select=2 -l place=scatter:excl",
    inventory="pbsnodes -aSj",
    alive=("qstat", "-B"),
    package="openpbs-execution",
)
