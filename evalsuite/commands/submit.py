"""`evalsuite submit`: one allocation for a whole evaluation, as a script to read; with --go it is submitted."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from evalsuite import files
from evalsuite.commands.launching import kubernetes_submission
from evalsuite.commands.launching.engine_choice import KUBERNETES
from evalsuite.commands.launching.request import cases_asked
from evalsuite.commands.options import declared
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import line
from evalsuite.errors import EvalsuiteError, Exit
from evalsuite.launch.remote import allocations, forwarded_environment
from evalsuite.plan import batch_script
from evalsuite.schedulers import SCHEDULERS
from evalsuite.schedulers.contract import Allocation

DEFAULT = next(iter(SCHEDULERS))


def run(arguments: argparse.Namespace) -> int:
    if arguments.engine == KUBERNETES:
        return kubernetes_submission.submit(arguments, evaluation)
    scheduler = SCHEDULERS.get(arguments.engine or DEFAULT)
    if scheduler is None:
        known = f"{', '.join(SCHEDULERS)} or {KUBERNETES}"
        raise EvalsuiteError.of("commands.submit_engines", name=arguments.engine, names=known)
    allocation = _allocation(arguments, scheduler.name)
    submitter = scheduler.submits_with
    text = batch_script.script(
        scheduler.directives(allocation, str(Path.cwd()), str(arguments.runs)),
        evaluation(arguments, ("--engine", scheduler.name)),
        submitter=submitter,
        before=arguments.before,
        variables=sorted(forwarded_environment.python_path().items()),
    )
    file = arguments.script or arguments.runs / f"evaluation.{submitter.split()[-1]}"
    file.parent.mkdir(parents=True, exist_ok=True)
    arguments.runs.mkdir(parents=True, exist_ok=True)  # the job's output is written there before anything runs
    files.write_named(file, text)
    line(say("submit.written", file=file, nodes=allocation.nodes + allocation.spare))
    if not arguments.go:
        line(say("submit.next", submitter=submitter, file=file))
        return Exit.DONE
    job = allocations.submit(scheduler, file)
    line(say("submit.submitted", job=job, runs=arguments.runs))
    return Exit.DONE


def _allocation(arguments: argparse.Namespace, engine: str) -> Allocation:
    if not 0 <= arguments.nodes_spare <= 1000:
        raise EvalsuiteError.of("commands.spare_range", value=arguments.nodes_spare)
    return Allocation(
        nodes=max(case.nodes for case in cases_asked(arguments, engine, device="cpu")),  # nodes are as many on any
        spare=arguments.nodes_spare,
        account=arguments.account,
        partition=arguments.partition,
        time=arguments.time,
        gres=arguments.gres,
        constraint=arguments.constraint,
        options=tuple(arguments.sbatch),
    )


def evaluation(arguments: argparse.Namespace, engine: Sequence[str]) -> list[str]:
    """The line of `compare` that does what *arguments* ask for, on the nodes of an allocation."""
    parser = argparse.ArgumentParser(add_help=False)
    declared.add_arguments(parser, "compare")
    words = [sys.executable, "-m", "evalsuite", "compare", *engine]
    for action in parser._actions:  # argparse has no other list of its options
        value = getattr(arguments, action.dest)
        if value == action.default or action.dest == "engine":
            continue
        option = action.option_strings[0]
        if isinstance(action, argparse._StoreTrueAction):
            words.append(option)
        else:
            for each in value if isinstance(action, argparse._AppendAction) else [value]:
                words += [option, str(each)]
    return words
