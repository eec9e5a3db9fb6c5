"""`evalsuite rehearse`: the first steps of official scripts on a CPU, with stand-ins for the accelerator."""

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from evalsuite.adapter import Adapter, Recipe
from evalsuite.commands.launching.launcher import make_launcher
from evalsuite.commands.launching.request import MANAGED, Options
from evalsuite.commands.options import engine_options
from evalsuite.commands.options.common import add_options, search_paths
from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say, worded
from evalsuite.commands.printing.terminal import duration, note, table
from evalsuite.commands.run import interruptible
from evalsuite.errors import EvalsuiteError, Exit
from evalsuite.launch import campaign, rehearsals
from evalsuite.launch.campaign import EndedRun, Environments
from evalsuite.launch.provision import readiness
from evalsuite.launch.provision.virtualenvs import Environment
from evalsuite.logs import reading
from evalsuite.messages import Message, message_of
from evalsuite.model import Case, Run
from evalsuite.plan import evidence, rehearsal, repositories, spec
from evalsuite.plan.engines import Engine
from evalsuite.plan.evidence import Evidence, ScaleEvidence
from evalsuite.plan.rehearsal import Rehearsal
from evalsuite.plan.spec import Spec
from evalsuite.registry import discover
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import RunFolder, Store

HELP = "take the first steps of official scripts on a CPU, with stand-ins for the accelerator"
EXAMPLES = """  evalsuite rehearse --recipe tensorflow/tf-cnn-resnet50
  evalsuite rehearse --recipe ngc_pytorch/resnet50 --scales 1x1,1x2 --mirror /srv/mirrors
  evalsuite rehearse --recipe pytorch/hal-resnet50 --scales 2x1 --hosts node1:1,node2:1
  evalsuite rehearse
"""


@dataclass(frozen=True, kw_only=True)
class Rehearsed:
    """One scale of one recipe. *found* is None where its log has no step."""

    recipe: str
    scale: str
    found: ScaleEvidence | None = None
    reason: str = ""  # why it did not take all of its steps

    @property
    def is_whole(self) -> bool:
        return self.found is not None and not self.reason


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--recipe", metavar="F/R", action="append", default=[], help="such as pytorch/hal-resnet50; repeatable (all)"
    )
    parser.add_argument("--scales", metavar="S,…", help="nodes x devices: 1x1,1x2 (default: those of the recipe)")
    parser.add_argument("--mirror", metavar="DIR_OR_URL", help="of repositories: a folder of clones, or another host")
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path("rehearsals"), help="default: rehearsals")
    parser.add_argument("--data", metavar="DIR", type=Path, help="tiny data sets (default: OUT/data)")
    parser.add_argument("--keep-environments", action="store_true", help="do not remove them afterwards")
    parser.add_argument("--record", action="store_true", help="keep evidence and logs in evalsuite's own tree")
    engine_options.add_arguments(parser.add_argument_group("several nodes"))
    add_options(parser, "adapters", "dialects", "lang")


def run(arguments: argparse.Namespace) -> int:
    adapters = discover(arguments.adapters)
    asked = rehearsal.chosen(arguments.recipe, adapters)
    if not asked:
        raise EvalsuiteError.of("commands.rehearse_nothing")
    _check(asked)
    os.environ["EVALSUITE_DATA"] = str((arguments.data or arguments.out / "data").resolve())
    ended: list[Rehearsed] = []
    with interruptible():
        for place, ((framework, name), how) in enumerate(asked.items(), 1):
            note(say("rehearse.began", place=place, recipes=len(asked), recipe=f"{framework}/{name}"))
            ended += _rehearse(adapters[framework], name, how, arguments)
    _show(ended)
    if not any(each.found for each in ended):
        return Exit.NOTHING_MEASURED
    return Exit.DONE if all(each.is_whole for each in ended) else Exit.SOME_FAILED


def _check(asked: Mapping[tuple[str, str], Rehearsal]) -> None:
    """Raises EvalsuiteError before the first one starts."""
    for (framework, recipe), how in asked.items():
        if how.impossible:
            reason = getattr(how.impossible, i18n.language())
            raise EvalsuiteError.of("commands.rehearse_impossible", name=f"{framework}/{recipe}", reason=reason)
        rehearsal.stand_in_hashes(how.stand_ins)


def _rehearse(adapter: Adapter, name: str, how: Rehearsal, arguments: argparse.Namespace) -> Iterator[Rehearsed]:
    """Every scale of one recipe, each said as it ends."""
    try:
        for each in _each_scale(adapter, name, how, arguments):
            note(_in_words(each))
            yield each
    except EvalsuiteError as error:
        failed = Rehearsed(recipe=f"{adapter.name}/{name}", scale="", reason=message_of(error))
        note(_in_words(failed))
        yield failed


def _each_scale(adapter: Adapter, name: str, how: Rehearsal, arguments: argparse.Namespace) -> Iterator[Rehearsed]:
    recipe = rehearsal.rehearsed(adapter.recipe(name), how)
    engine, store = engine_options.engine(arguments), Store(arguments.out / "runs")
    rehearsals.check_disk(recipe, store.root)
    rehearsals.fetch(recipe, how, arguments.mirror, note)
    scales = [spec.scale(word) for word in arguments.scales.split(",")] if arguments.scales else how.scales
    with rehearsals.environment(recipe, keep=arguments.keep_environments, progress=note) as made:
        for scale in scales:
            case = rehearsal.case(adapter.name, recipe, how, scale)
            label = f"{adapter.name}/{name}"
            if why := _refusal(case, recipe, engine):
                yield Rehearsed(recipe=label, scale=case.scale, reason=why)
                continue
            ended = _launch(case, recipe, how, engine, made, store, arguments)
            yield _read(ended, recipe, how, made, store, arguments)


def _refusal(case: Case, recipe: Recipe, engine: Engine) -> str | None:
    if why := recipe.refusal(case) or engine.refusal(case) or readiness.refusal()(case, recipe):
        return why
    if not engine.nests and recipe.spawn == "once" and case.nodes > 1:
        return Message("commands.launcher_inside_launcher", recipe=recipe.name)
    return None


def _launch(
    case: Case,
    recipe: Recipe,
    how: Rehearsal,
    engine: Engine,
    made: Environment,
    store: Store,
    arguments: argparse.Namespace,
) -> EndedRun:
    """By the launcher of every run: what it starts is what a measurement starts."""
    key, run = (case.framework, recipe.name), Run(case=case, repeat=0)
    if store.ended()(run):
        store.set_aside(store.folder(run), "redone")
    options = Options(environment=MANAGED, search_paths=search_paths(arguments))
    ready = Environments(pythons={key: made.python}, packages={key: made.packages}, skips=())
    launcher = make_launcher(Spec(name="rehearsal", timeout_s=float(how.timeout_s)), engine, options, ready)
    planned = Planned(profile="rehearsal", repeats=1, cases=(case,), skips=())
    store.write_plan(planned)
    started = campaign.begin(planned, store)
    adapters = {case.framework: Adapter(name=case.framework, title=case.framework, recipes=(recipe,))}
    return next(iter(campaign.launch_all([run], store, adapters, launcher, started, extent=campaign.Extent(retries=0))))


def _read(
    ended: EndedRun, recipe: Recipe, how: Rehearsal, made: Environment, store: Store, arguments: argparse.Namespace
) -> Rehearsed:
    """What the log says; evidence is written where all the steps were taken."""
    case, folder, name = ended.run.case, store.folder(ended.run), f"{ended.run.case.framework}/{recipe.name}"
    well = ended.outcome.ended_well
    read = reading.read_run(folder.logs(), case, recipe.dialect_name, scope=recipe.scope, ended_well=well)
    if not read.steps:
        reason = ended.outcome.reason or read.reason
        return Rehearsed(recipe=name, scale=case.scale, reason=_with_log(reason, folder))
    logs, proofs = (evidence.LOGS, evidence.FOLDER) if arguments.record else (arguments.out / "logs", arguments.out)
    seen, asked = read.steps[-1].index, case.protocol.total_steps
    whole = seen >= asked or read.status == "ok"  # some do not print the steps that they skip
    lacking = "" if whole else Message("commands.rehearse_steps", seen=seen, asked=asked)
    reason = lacking if well else ended.outcome.reason
    kept = {} if reason else rehearsals.keep_logs(folder, f"{name.replace('/', '-')}-{case.scale}", logs,
                                                  rehearsals.places(recipe, made, folder))  # fmt: skip
    found = ScaleEvidence(
        date=datetime.now(UTC).date().isoformat(),
        launcher=rehearsal.launcher(recipe.command(case).argv),
        ranks=case.total_devices,
        hosts=case.nodes,
        batch_per_device=case.batch_per_device,
        steps=f"{case.protocol.warmup_steps}+{case.protocol.measured_steps}",
        steps_seen=seen,
        reports=read.steps_reported,
        options=case.options,
        status=read.status,
        reason=read.reason,
        dialect=recipe.dialect_name,
        unit=read.unit,
        logs=kept,
        seconds=ended.outcome.duration_s or 0.0,
    )
    if not reason:
        proof = _evidence(case, recipe, how, made, found)
        note(say("rehearse.written", path=evidence.write(proof, proofs)))
    return Rehearsed(recipe=name, scale=case.scale, found=found, reason=_with_log(reason, folder) if reason else "")


def _with_log(reason: str, folder: RunFolder) -> str:
    return Message("commands.rehearse_log", reason=reason, folder=folder.path)


def _evidence(case: Case, recipe: Recipe, how: Rehearsal, made: Environment, found: ScaleEvidence) -> Evidence:
    known = repositories.of(recipe)
    return Evidence(
        framework=case.framework,
        recipe=recipe.name,
        model=case.model,
        origin=rehearsals.origin(recipe),
        device=how.device,
        python=recipe.python,
        pins=made.pins,
        packages=" ".join(f"{name}=={version}" for name, version in sorted(made.packages.items())),
        stand_ins=rehearsal.stand_in_hashes(how.stand_ins),
        libraries={name: repositories.named(name, known).commit for name in how.libraries},
        changes=how.changes,
        scales={case.scale: found},
    )


def _in_words(one: Rehearsed) -> str:
    if one.found is None:
        return say("rehearse.failed", recipe=one.recipe, scale=one.scale, reason=worded(one.reason))
    seconds = duration(one.found.seconds)
    key = "rehearse.whole" if one.is_whole else "rehearse.part"
    more = {} if one.is_whole else {"reason": worded(one.reason)}
    read = i18n.status(one.found.status)
    return say(key, recipe=one.recipe, scale=one.scale, steps=one.found.steps_seen, time=seconds, status=read, **more)


def _show(ended: Sequence[Rehearsed]) -> None:
    whole = sum(each.is_whole for each in ended)
    headings = ("recipe", "scale", "launcher", "steps", "log", "reason")
    columns = [(say(f"columns.{name}"), "right" if name == "steps" else "left") for name in headings]
    rows = [
        (
            each.recipe,
            each.scale,
            each.found.launcher if each.found else "",
            str(each.found.steps_seen) if each.found else "0",
            i18n.status(each.found.status) if each.found else "",
            worded(each.reason or (each.found.reason if each.found else "")),
        )
        for each in ended
    ]
    table(say("rehearse.title", whole=whole, n=len(ended)), columns, rows)
