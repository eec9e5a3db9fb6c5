"""`evalsuite rehearse`: the first steps of official scripts on a CPU, with stand-ins for the accelerator."""

import argparse
import functools
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from evalsuite.commands.launching.request import MANAGED, Options, make_launcher, mpirun_in_mpirun, read_engine
from evalsuite.commands.options import search_paths
from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say, worded
from evalsuite.commands.printing.terminal import duration, line, note
from evalsuite.commands.run import interruptible
from evalsuite.contracts.adapter import Adapter, Recipe
from evalsuite.contracts.registry import discover
from evalsuite.core import files
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.findings import OtherDevices
from evalsuite.core.messages import Message, join, message_of
from evalsuite.core.model import Case, Run
from evalsuite.launch import campaign
from evalsuite.launch.campaign import Environments
from evalsuite.launch.provision import readiness
from evalsuite.logs import catalogue, excerpt, reading
from evalsuite.logs.catalogue import Places
from evalsuite.machine import environment
from evalsuite.plan import spec
from evalsuite.plan.engines import Engine
from evalsuite.plan.spec import Spec
from evalsuite.rehearsal import environments as rehearsals
from evalsuite.rehearsal import evidence
from evalsuite.rehearsal import tables as rehearsal
from evalsuite.rehearsal.evidence import ScaleEvidence
from evalsuite.rehearsal.tables import Rehearsal
from evalsuite.results.measure import measurement
from evalsuite.runs.endings import Outcome
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import RunFolder, Store


@dataclass(frozen=True, kw_only=True)
class Rehearsed:
    """One scale of one recipe. *evidence* is None where its log has no step."""

    recipe: str
    scale: str
    evidence: ScaleEvidence | None = None
    reason: str = ""  # why it did not take all of its steps


def run(arguments: argparse.Namespace) -> int:
    adapters = discover(arguments.adapters)
    os.environ["EVALSUITE_DATA"] = str((arguments.out / "data").resolve())
    ended: list[Rehearsed] = []
    with interruptible():
        for each in _one_by_one(adapters, arguments):
            note(_in_words(each))
            ended.append(each)
    line(say("rehearse.title", whole=sum(bool(each.evidence) and not each.reason for each in ended), n=len(ended)))
    taken = Exit.SOME_FAILED if any(each.reason for each in ended) else Exit.DONE
    return taken if any(each.evidence for each in ended) else Exit.NOTHING_MEASURED


def _one_by_one(adapters: Mapping[str, Adapter], arguments: argparse.Namespace) -> Iterator[Rehearsed]:
    arguments.scales = arguments.scales and [*map(spec.scale, arguments.scales.split(","))]
    files.try_place(arguments.out, folder=True)
    catalogue.known(search_paths(arguments))
    asked = rehearsal.chosen(arguments.recipe, adapters)
    if not asked:
        raise EvalsuiteError.of("commands.rehearse_nothing")
    for (framework, name), how in asked.items():
        if how.impossible:
            reason = getattr(how.impossible, i18n.language())
            raise EvalsuiteError.of("commands.rehearse_impossible", name=f"{framework}/{name}", reason=reason)
        rehearsal.stand_in_hashes(how.stand_ins)  # raises for an unknown one
    engine = read_engine(arguments)
    for place, ((framework, name), how) in enumerate(asked.items(), 1):
        note(say("rehearse.began", place=place, recipes=len(asked), recipe=f"{framework}/{name}"))
        try:
            yield from _rehearse(adapters[framework], name, how, engine, arguments)
        except EvalsuiteError as error:
            yield Rehearsed(recipe=f"{framework}/{name}", scale="", reason=message_of(error))


def _rehearse(
    adapter: Adapter, name: str, how: Rehearsal, engine: Engine, arguments: argparse.Namespace
) -> Iterator[Rehearsed]:
    """Each scale in turn; the evidence is written where all the steps were taken."""
    original = adapter.recipe(name)
    recipe, store = rehearsal.rehearsed(original, how), Store(arguments.out / "runs")
    if absent := environment.absent(recipe.programs("cpu")):
        raise EvalsuiteError.of("launch.program", name=absent[0])  # before anything large is fetched
    rehearsals.fetch(recipe, how, arguments.mirror, note)
    scales = arguments.scales or [scale for scale in how.scales if scale[0] <= max(1, len(engine.nodes))]
    options = Options(environment=MANAGED, search_paths=search_paths(arguments))
    with rehearsals.environment(recipe, progress=note) as made:
        key = (adapter.name, name)
        ready = Environments(pythons={key: made.python}, packages={key: made.packages}, skips=())
        launcher = make_launcher(Spec(name="rehearsal", timeout_s=float(how.timeout_s)), engine, options, ready)
        for scale in scales:
            case = rehearsal.case(adapter.name, recipe, how, scale)
            why = recipe.refusal(case) or engine.refusal(case)
            if not why:
                rehearsals.make_data(recipe, case, progress=note)
                why = next(readiness.lacking()(case, recipe), None) or mpirun_in_mpirun(engine, case, recipe)
            if why:
                yield Rehearsed(recipe=f"{adapter.name}/{name}", scale=case.scale, reason=why)
                continue
            planned, run = Planned(profile="rehearsal", repeats=1, cases=(case,), skips=()), Run(case=case, repeat=0)
            folder = store.folder(run)
            if store.ended()(run):
                store.set_aside(folder, "redone")
            store.write_plan(planned)
            ended = campaign.launch_all(
                [run],
                store,
                {adapter.name: replace(adapter, recipes=(recipe,))},
                launcher,
                campaign.begin(planned, store),
                retries=0,
                fits=functools.partial(next, iter([True, False])),  # what another call rehearses is not waited for
            )
            if not (one := next(ended, None)):
                raise EvalsuiteError.of("commands.rehearse_held", path=folder.path)
            rehearsed = _judge(original, recipe, how, case, folder, one.outcome, search_paths(arguments))
            if rehearsed.evidence and not rehearsed.reason:
                kept, out = f"{adapter.name}-{name}-{case.scale}", arguments.out
                hashes = rehearsals.keep_logs(folder, kept, out / "logs", recipe, made)
                proof = rehearsals.proof(case, recipe, how, made, replace(rehearsed.evidence, logs=hashes))
                note(say("rehearse.written", path=evidence.write(proof, out / "evidence")))
            yield rehearsed


def _judge(
    original: Recipe, recipe: Recipe, how: Rehearsal, case: Case, folder: RunFolder, outcome: Outcome, places: Places
) -> Rehearsed:
    name, dialects = f"{case.framework}/{recipe.name}", catalogue.known(places)
    read = reading.read_run(folder.logs(), case, recipe.dialect, scope=recipe.scope, dialects=dialects)
    if not read.steps:
        last = next((line for log in folder.logs() if (line := excerpt.last_line(log.path))), "")
        unread = Message("commands.rehearse_log", reason=join(outcome.reason or read.reason, last), folder=folder.path)
        return Rehearsed(recipe=name, scale=case.scale, reason=unread)
    judged = measurement.measurement(folder, places)  # as a run is judged that was stopped
    seen, asked = read.steps[-1].index, case.protocol.total_steps
    whole = seen >= asked or judged.status == "ok"  # some do not print the steps that they skip
    lacking = "" if whole else Message("commands.rehearse_steps", seen=seen, asked=asked)
    reason = lacking if outcome.ended_well else outcome.reason
    reason = next((read.reason for each in read.findings if isinstance(each, OtherDevices)), reason)
    command = original.command_of(replace(case, device=how.device))
    evidence = ScaleEvidence(
        date=datetime.now(UTC).date().isoformat(),
        command=command.argv,
        environment=command.environment,
        launcher=rehearsal.launcher(command),
        ranks=case.total_devices,
        hosts=case.nodes,
        batch_per_device=case.batch_per_device,
        steps=str(case.protocol),
        steps_seen=seen,
        reports=read.steps_reported,
        options=case.options,
        status=judged.status,
        reason=judged.reason,
        dialect=read.dialect or "",
        unit=read.unit,
        logs={},
        seconds=outcome.duration_s or 0.0,
    )
    why = Message("commands.rehearse_log", reason=reason, folder=folder.path) if reason else ""
    return Rehearsed(recipe=name, scale=case.scale, evidence=evidence, reason=why)


def _in_words(rehearsed: Rehearsed) -> str:
    where = {"recipe": rehearsed.recipe, "scale": rehearsed.scale}
    if (seen := rehearsed.evidence) is None:
        return say("rehearse.failed", **where, reason=worded(rehearsed.reason))
    where |= {"steps": str(seen.steps_seen), "time": duration(seen.seconds), "status": i18n.status(seen.status)}
    if rehearsed.reason:
        return say("rehearse.part", **where, reason=worded(rehearsed.reason))
    return say("rehearse.whole", **where)
