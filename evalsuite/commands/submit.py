"""`evalsuite submit`: one allocation for a whole evaluation, as a script to read; with --go it is submitted."""

import argparse
import math
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from evalsuite.commands import compare
from evalsuite.commands.launching import kubernetes_submission, prices
from evalsuite.commands.launching.request import KUBERNETES, Request, every_case, read_request
from evalsuite.commands.options import add_arguments
from evalsuite.commands.plan import find_unready, print_table
from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import line, note
from evalsuite.core import files, paths
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.messages import Message, Phrase, message_of
from evalsuite.launch import programs
from evalsuite.launch.checks.room import MARGIN_S, check_disk_space
from evalsuite.launch.remote import allocations
from evalsuite.report.page import templates
from evalsuite.schedulers import SCHEDULERS
from evalsuite.schedulers.contract import Allocation, Scheduler

DEFAULT = "slurm"  # not the first of the folder, which a new module could become
SYNONYMS = {"queue": "partition", "walltime": "time"}  # the words of PBS


def run(arguments: argparse.Namespace) -> int:
    if arguments.engine == KUBERNETES:
        return kubernetes_submission.submit(arguments, evaluation)
    scheduler = SCHEDULERS.get(arguments.engine or DEFAULT)
    if scheduler is None:
        known = f"{', '.join(SCHEDULERS)} or {KUBERNETES}"
        raise EvalsuiteError.of("commands.submit_engines", name=arguments.engine, names=known)
    device = "gpu" if arguments.device == "auto" and "gres" in dict(arguments.ask) else arguments.device
    asked = {**vars(arguments), "engine": scheduler.name, "device": device, "commands": False}
    request = read_request(argparse.Namespace(**asked))
    compare.check(arguments, request)
    allocation = _allocation(arguments, request)
    submitter = scheduler.submits_with

    def text(allocation: Allocation, arguments: argparse.Namespace) -> str:
        return script(
            scheduler.directives(allocation, str(Path.cwd()), str(arguments.runs)),
            evaluation(arguments, ("--engine", scheduler.name)),
            submitter=submitter,
            before=[*scheduler.before(str(Path.cwd())), *arguments.before],
            variables=sorted(programs.python_path().items()),
        )

    ending, cheaper = submitter.split()[-1], prices.cheaper_jobs(request.plan, request.place)
    texts = {arguments.runs / f"evaluation.{ending}": (allocation.nodes, text(allocation, arguments))}
    for job in cheaper[-1] if cheaper and scheduler.in_turn else ():
        own = replace(allocation, nodes=job.nodes, options=(*scheduler.in_turn, *allocation.options))
        scaled = argparse.Namespace(**{**vars(arguments), "scales": ",".join(job.scales)})
        texts[arguments.runs / f"evaluation-{job.nodes}.{ending}"] = (job.nodes, text(own, scaled))
    print_table(request)
    if _lacks(request, scheduler, allocation) and not arguments.anyway:
        note(say("submit.refused"))
        return Exit.NOTHING_MEASURED
    arguments.runs.mkdir(parents=True, exist_ok=True)  # the job's output is written there before anything runs
    written = [(files.write_beside(file, own.encode()), nodes) for file, (nodes, own) in texts.items()]
    for file, nodes in written:
        line(say("submit.written", file=file, nodes=nodes + allocation.spare))
    chosen, runs = [file for file, _ in written[len(texts) > 1 :]], shlex.quote(str(arguments.runs))
    typed = " && ".join(f"{submitter} {shlex.quote(str(file))}" for file in chosen)
    if not arguments.go:
        line(say("submit.next", lines=typed))
    for file in () if arguments.anyway else (file for file, _ in written):
        allocations.test(scheduler, file)
    for file in chosen if arguments.go else ():
        number = allocations.submit(
            scheduler, file, lambda words: note(say("submit.waiting", who=i18n.worded(words), line=typed))
        )
        line(say("submit.submitted", job=number, runs=runs))
    if len(texts) > 1:
        line(say("submit.apart", runs=runs))
    return Exit.DONE


def script(directives: Sequence[str], command: Sequence[str], **facts: object) -> str:
    """*directives*: what asks the scheduler for nodes; *facts*: see templates/schedulers."""
    environment = templates.environment([paths.TEMPLATES / "schedulers"], markup=False)
    environment.filters["quoted"] = shlex.quote
    text = environment.get_template("evaluation.sh.j2").render(directives=directives, command=command, **facts)
    return f"{text}\n"


def _lacks(request: Request, scheduler: Scheduler, allocation: Allocation) -> bool:
    """Says what no job could do and the plan, which is printed, does not say."""
    runs = request.plan.runs
    nodes, there = allocation.nodes + allocation.spare, scheduler.size(allocations.ask, allocation.partition)
    reasons: list[Phrase] = []
    if there is not None and nodes > there:
        reasons.append(Message("commands.submit_nodes", nodes=nodes, there=there, inventory=scheduler.inventory))
    given = re.match(r"gpu:(?:[^:,]+:)?(\d+)", allocation.gres or "")
    devices = max(case.devices_per_node for case in every_case(request.plan))
    if given and int(given[1]) < devices:
        reasons.append(Message("commands.submit_gres", gres=allocation.gres, devices=devices))
    estimate = prices.estimate(request.plan, request.place.store, runs)
    needed_s = MARGIN_S + max([60.0, *(estimate.of(run) or 0.0 for run in runs)])  # the signal may come a minute early
    asked_s = scheduler.seconds(allocation.time) if allocation.time else None
    if asked_s is not None and asked_s < needed_s:
        reasons.append(Message("commands.submit_time", time=allocation.time, minutes=math.ceil(needed_s / 60)))
    for reason in (*reasons, *[Message("commands.submit_unchecked", of=scheduler.inventory)] * (there is None)):
        note(i18n.worded(reason))
    try:
        check_disk_space(runs, request.place.store, estimate)
    except EvalsuiteError as error:  # a guess, of a disk that may have more room when the job starts
        note(i18n.worded(message_of(error)))
    return bool(not runs or reasons or find_unready(request))


def _allocation(arguments: argparse.Namespace, request: Request) -> Allocation:
    if not 0 <= arguments.nodes_spare <= 1000:
        raise EvalsuiteError.of("commands.spare_range", value=arguments.nodes_spare)
    cases = every_case(request.plan)
    devices = max(case.devices_per_node for case in cases)
    given = [(name.lower(), value) for name, value in arguments.ask]  # as options of sbatch and qsub are
    if both := [name for name, of in SYNONYMS.items() if {name, of} <= {*dict(given)}]:
        named = {"option": f"--ask {both[0]}", "others": f"--ask {SYNONYMS[both[0]]}"}
        raise EvalsuiteError.of("commands.option_without", **named)
    asked = {SYNONYMS.get(name, name): value for name, value in given}
    known = {name: asked.pop(name, None) for name in ("account", "partition", "time", "gres", "constraint")}
    for name in asked:
        if not re.fullmatch(r"[A-Za-z][\w-]*", name):  # it would be an option more
            raise EvalsuiteError.of("plan.one_line", name="ask", text=repr(name))
    if request.place.machine.device == "gpu":
        known["gres"] = known["gres"] or f"gpu:{devices}"
    return Allocation(
        nodes=max(case.nodes for case in cases),
        spare=arguments.nodes_spare,
        **known,
        cores=max((case.cores_per_device or 0) * case.devices_per_node for case in cases) or None,
        options=tuple(asked.items()),
    )


def evaluation(arguments: argparse.Namespace, engine: Sequence[str]) -> list[str]:
    """The line of `compare` that does what *arguments* ask for, on the nodes of an allocation."""
    parser = argparse.ArgumentParser(add_help=False)
    add_arguments(parser, "compare")
    words = [sys.executable, "-m", "evalsuite", "compare", *engine]
    for action in parser._actions:  # argparse has no other list of its options
        value = getattr(arguments, action.dest)
        if value == action.default or action.dest == "engine":
            continue
        for each in value if isinstance(action, argparse._AppendAction) else [value]:
            words += [action.option_strings[0], *[str(each)] * (each is not True)]
    return words
