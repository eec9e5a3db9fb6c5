"""What batch schedulers grant: the engine on an allocation's nodes, its time left, and a job submitted."""

import math
import os
import re
import subprocess
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message
from evalsuite.launch.programs import Program, ask_program, forwarded_variables
from evalsuite.plan.engines import Engine, refuse_more_nodes
from evalsuite.schedulers import SCHEDULERS
from evalsuite.schedulers.contract import Environment, Host, Scheduler

ANSWER_S = 30.0
PAUSES_S = (5, 10, 20, 40, 60, 60, 120, 120, 120, 120)  # a controller that is started anew takes minutes at most


def engine(scheduler: Scheduler, environment: Environment) -> Engine:
    """On the nodes of this shell's allocation: every framework gets the first of them. Without one it chooses."""
    nodes = scheduler.nodes(environment, ask) if environment.get(scheduler.job_variable) else ()
    return engine_on(scheduler, nodes)


def engine_on(scheduler: Scheduler, allocated: Sequence[str], names: Sequence[str] | None = None) -> Engine:
    """On the hosts *names* (all) of those *allocated*."""
    names = allocated if names is None else names
    hosts = [Host(number=allocated.index(name), name=name) for name in names]

    def handed(nodes: int, folder: str) -> dict[str, str]:
        known = {} if scheduler.inherits else forwarded_variables(os.environ)
        return known if scheduler.hosts_in_place or not names else {**known, "EVALSUITE_HOSTS": ",".join(names[:nodes])}

    outside = Message(
        "launch.no_allocation",
        engine=scheduler.name,
        variable=scheduler.job_variable,
        interactive=scheduler.interactive,
        submitter=scheduler.submits_with,
    )
    return Engine(
        name=scheduler.name,
        wrap=lambda nodes, argv: scheduler.step(nodes, argv, hosts),
        refusal=refuse_more_nodes(names) if names else lambda case: None,
        unready=lambda environment: None if environment.get(scheduler.job_variable) else outside,
        handed=None if scheduler.inherits and (scheduler.hosts_in_place or not names) else handed,
        alive=scheduler.alive,
        nodes=tuple(names),
        on=partial(engine_on, scheduler, allocated),
    )


def await_answer(engine: Engine, say: Callable[[str], object], pauses: int | None = None) -> bool:
    """Whether what starts on the nodes of *engine* had fallen silent and answers again: then no run was at fault."""
    if not engine.alive or ask(*engine.alive) is not None:
        return False
    for number, pause_s in enumerate(PAUSES_S[:pauses]):
        seconds = math.ceil(sum(PAUSES_S[number:pauses]))
        say(Message("launch.scheduler_asked", scheduler=SCHEDULERS[engine.name].title, seconds=seconds))
        time.sleep(pause_s)
        if ask(*engine.alive) is not None:
            return True
    return False


def ask(*argv: str) -> str | None:
    """What a program of a scheduler prints; None where it is not there, or fails."""
    answer = ask_program(argv, ANSWER_S)
    return None if answer is None or answer.returncode else answer.stdout


def wall_time_left_s(environment: Environment) -> float | None:
    """Seconds left of the allocation; None where there is none, or it has no end."""
    ours = next((scheduler for scheduler in SCHEDULERS.values() if environment.get(scheduler.job_variable)), None)
    return ours.left_s(environment, ask, time.time()) if ours else None


def test(scheduler: Scheduler, script: Path) -> None:
    """Raises EvalsuiteError if the scheduler would refuse the job; one that is not here or silent is not asked."""
    answer = ask_program((*scheduler.tester, str(script)), ANSWER_S) if scheduler.tester else None
    if answer is not None and answer.returncode and ask(*scheduler.alive) is not None:
        raise _refused(scheduler, script, answer)


def submit(scheduler: Scheduler, script: Path, say: Callable[[str], object]) -> str:
    program, line = scheduler.submits_with, (*scheduler.submitter, str(script))
    answer = ask_program(line, ANSWER_S)
    if (
        answer is not None and answer.returncode and await_answer(engine_on(scheduler, ()), say, 5)
    ):  # somebody waits for it
        answer = ask_program(line, ANSWER_S)
    if answer is None:
        raise EvalsuiteError.of("launch.submitter_absent", program=program, scheduler=scheduler.title, file=script)
    if answer.returncode:
        raise _refused(scheduler, script, answer)
    return scheduler.submitted(answer.stdout)


def _refused(scheduler: Scheduler, script: Path, answer: "subprocess.CompletedProcess[str]") -> EvalsuiteError:
    text = re.sub(rf"(?m)^{scheduler.submitter[0]}: (?:error: )?", "", answer.stderr)
    return EvalsuiteError.of(
        f"launch.job_{'unheard' if ask(*scheduler.alive) is None else 'refused'}",
        program=scheduler.submits_with,
        scheduler=scheduler.title,
        text=" ".join(text.split())[:300] or Message("launch.run_exit", code=answer.returncode),
        inventory=scheduler.inventory,
        file=script,
    )


def clients() -> tuple[Program, ...]:
    return tuple(
        Program(
            name=scheduler.starter,
            purpose=Message("launch.engine_of_scheduler", engine=scheduler.name),
            remedy=Message("launch.scheduler_remedy", package=scheduler.package, scheduler=scheduler.title),
            alive=scheduler.alive,
            dead=Message("launch.scheduler_silent", scheduler=scheduler.title),
        )
        for scheduler in SCHEDULERS.values()
    )


def apply_manifests(file: Path) -> str:
    """On a Kubernetes cluster. What kubectl prints. Raises EvalsuiteError in its own words if it failed."""
    said = ask_program(("kubectl", "apply", "-f", str(file)), ANSWER_S)
    if said is None:
        raise EvalsuiteError.of("launch.kubectl_absent", file=file)
    if said.returncode:
        lines = " ".join(line.strip() for line in said.stderr.splitlines() if line.strip())
        text = lines[:400] or Message("launch.run_exit", code=said.returncode)
        raise EvalsuiteError.of("launch.kubectl_refused", text=text, file=file)
    return said.stdout.strip()
