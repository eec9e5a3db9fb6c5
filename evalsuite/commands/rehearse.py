"""`evalsuite rehearse`: the first steps of official scripts on a CPU, with stand-ins for the accelerator."""

import argparse
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from evalsuite.commands.launching import engine_choice
from evalsuite.commands.launching.request import MANAGED, Options, make_launcher, mpirun_in_mpirun
from evalsuite.commands.options import search_paths
from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say, worded
from evalsuite.commands.printing.terminal import Bar, bar, duration, note, table
from evalsuite.commands.run import interruptible
from evalsuite.contracts.adapter import Adapter, Recipe
from evalsuite.contracts.registry import discover
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.messages import Message, message_of
from evalsuite.core.model import Case, Run
from evalsuite.launch import campaign
from evalsuite.launch.campaign import EndedRun, Environments
from evalsuite.launch.provision import readiness
from evalsuite.launch.provision.virtualenvs import Environment
from evalsuite.logs import catalogue, reading
from evalsuite.logs.reading import Reading
from evalsuite.plan import repositories, spec
from evalsuite.plan.engines import Engine
from evalsuite.plan.spec import Spec
from evalsuite.rehearsal import environments as rehearsals
from evalsuite.rehearsal import evidence
from evalsuite.rehearsal import tables as rehearsal
from evalsuite.rehearsal.evidence import Evidence, ScaleEvidence
from evalsuite.rehearsal.tables import Rehearsal
from evalsuite.results.measure import measurement
from evalsuite.runs.endings import Outcome
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import RunFolder, Store

Tick = Callable[[Run, float], None]


@dataclass(frozen=True, kw_only=True)
class Rehearsed:
    """One scale of one recipe. *evidence* is None where its log has no step."""

    recipe: str
    scale: str
    evidence: ScaleEvidence | None = None
    reason: str = ""  # why it did not take all of its steps

    @property
    def is_whole(self) -> bool:
        return self.evidence is not None and not self.reason


def run(arguments: argparse.Namespace) -> int:
    adapters = discover(arguments.adapters)
    os.environ["EVALSUITE_DATA"] = str((arguments.data or arguments.out / "data").resolve())
    with interruptible():
        ended = list(_one_by_one(adapters, arguments))
    _show(ended)
    if not any(each.evidence for each in ended):
        return Exit.NOTHING_MEASURED
    return Exit.DONE if all(each.is_whole for each in ended) else Exit.SOME_FAILED


def _one_by_one(adapters: Mapping[str, Adapter], arguments: argparse.Namespace) -> Iterator[Rehearsed]:
    asked = rehearsal.chosen(arguments.recipe, adapters)
    if not asked:
        raise EvalsuiteError.of("commands.rehearse_nothing")
    _check(asked)
    if arguments.record and not evidence.LOGS.parent.is_dir():
        raise EvalsuiteError.of("commands.rehearse_record", path=evidence.LOGS)
    with bar(len(asked)) as shown:
        for place, ((framework, name), how) in enumerate(asked.items(), 1):
            note(say("rehearse.began", place=place, recipes=len(asked), recipe=f"{framework}/{name}"))
            yield from _rehearse(adapters[framework], name, how, arguments, _tick(shown, place - 1))


def _failed(name: str, error: EvalsuiteError) -> Rehearsed:
    failed = Rehearsed(recipe=name, scale="", reason=message_of(error))
    note(_in_words(failed))
    return failed


def _check(asked: Mapping[tuple[str, str], Rehearsal]) -> None:
    for (framework, recipe), how in asked.items():
        if how.impossible:
            reason = getattr(how.impossible, i18n.language())
            raise EvalsuiteError.of("commands.rehearse_impossible", name=f"{framework}/{recipe}", reason=reason)
        rehearsal.stand_in_hashes(how.stand_ins)


def _tick(shown: Bar | None, done: int) -> Tick:
    def tick(run: Run, seconds: float) -> None:
        if shown:
            shown.show(done, f"{run.case.framework}/{run.case.recipe} {run.case.scale} · {seconds:.0f} s")

    return tick


def _rehearse(
    adapter: Adapter, name: str, how: Rehearsal, arguments: argparse.Namespace, tick: Tick
) -> Iterator[Rehearsed]:
    try:
        with _ready(adapter, name, how, arguments, tick) as going:
            for scale in _scales(arguments.scales, how, going.engine):
                rehearsed = going.at(scale)
                note(_in_words(rehearsed))
                yield rehearsed
    except EvalsuiteError as error:
        yield _failed(f"{adapter.name}/{name}", error)


@contextmanager
def _ready(
    adapter: Adapter, name: str, how: Rehearsal, arguments: argparse.Namespace, tick: Tick
) -> Iterator["_Rehearsal"]:
    recipe, store = rehearsal.rehearsed(adapter.recipe(name), how), Store(arguments.out / "runs")
    rehearsals.check_disk(recipe, store.root)
    rehearsals.fetch(recipe, how, arguments.mirror, note)
    with rehearsals.environment(recipe, keep=arguments.keep_environments, progress=note) as made:
        yield _Rehearsal(
            adapter=adapter,
            original=adapter.recipe(name),
            recipe=recipe,
            how=how,
            made=made,
            engine=engine_choice.engine(arguments),
            store=store,
            arguments=arguments,
            tick=tick,
        )


@dataclass(frozen=True, kw_only=True)
class _Rehearsal:
    adapter: Adapter
    original: Recipe
    recipe: Recipe  # as it is rehearsed
    how: Rehearsal
    made: Environment
    engine: Engine
    store: Store
    arguments: argparse.Namespace
    tick: Tick

    def at(self, scale: tuple[int, int]) -> Rehearsed:
        """The evidence is written where all the steps were taken."""
        case = self.case(scale)
        if why := self.refusal(case):
            return Rehearsed(recipe=self.name, scale=case.scale, reason=why)
        run = Run(case=case, repeat=0)
        if self.store.ended()(run):
            self.store.set_aside(self.store.folder(run), "redone")
        planned = Planned(profile="rehearsal", repeats=1, cases=(case,), skips=())
        if not (ended := next(_launched([self], planned, [run]), None)):
            raise EvalsuiteError.of("commands.rehearse_held", path=self.store.folder(run).path)
        rehearsed = self.judge_run(run, ended.outcome)
        if rehearsed.evidence is None or not rehearsed.is_whole:
            return rehearsed
        return replace(rehearsed, evidence=self._keep(case, rehearsed.evidence, self.store.folder(run)))

    def case(self, scale: tuple[int, int]) -> Case:
        return rehearsal.case(self.adapter.name, self.recipe, self.how, scale)

    def refusal(self, case: Case) -> str | None:
        """Why *case* cannot be run. Makes the data that it lacks."""
        if why := self.recipe.refusal(case) or self.engine.refusal(case):
            return why
        rehearsals.make_data(self.recipe, case, keep=self.arguments.keep_environments, progress=note)
        return readiness.refusal()(case, self.recipe) or mpirun_in_mpirun(self.engine)(case, self.recipe)

    @property
    def name(self) -> str:
        return f"{self.adapter.name}/{self.recipe.name}"

    def judge_run(self, run: Run, outcome: Outcome) -> Rehearsed:
        case, folder = run.case, self.store.folder(run)
        recipe, places = self.recipe, search_paths(self.arguments)
        dialects = catalogue.known(places)
        read = reading.read_run(folder.logs(), case, recipe.dialect_name, scope=recipe.scope, dialects=dialects)
        if not read.steps:
            reason = _with_log(outcome.reason or read.reason, folder)
            return Rehearsed(recipe=self.name, scale=case.scale, reason=reason)
        judged = measurement.measurement(folder, places)  # as a run is judged that was stopped
        read = replace(read, status=judged.status, reason=judged.reason)
        seen, asked = read.steps[-1].index, case.protocol.total_steps
        whole = seen >= asked or read.status == "ok"  # some do not print the steps that they skip
        lacking = "" if whole else Message("commands.rehearse_steps", seen=seen, asked=asked)
        reason = lacking if outcome.ended_well else outcome.reason
        evidence = self._evidence(case, outcome, read)
        return Rehearsed(
            recipe=self.name, scale=case.scale, evidence=evidence, reason=_with_log(reason, folder) if reason else ""
        )

    def _evidence(self, case: Case, outcome: Outcome, read: Reading) -> ScaleEvidence:
        asked = self.original.command_of(replace(case, device=self.how.device))
        return ScaleEvidence(
            date=datetime.now(UTC).date().isoformat(),
            command=asked.argv,
            environment=asked.environment,
            launcher=rehearsal.launcher(asked),
            ranks=case.total_devices,
            hosts=case.nodes,
            batch_per_device=case.batch_per_device,
            steps=f"{case.protocol.warmup_steps}+{case.protocol.measured_steps}",
            steps_seen=read.steps[-1].index,
            reports=read.steps_reported,
            options=case.options,
            status=read.status,
            reason=read.reason,
            dialect=self.recipe.dialect_name,
            unit=read.unit,
            logs={},
            seconds=outcome.duration_s or 0.0,
        )

    def _keep(self, case: Case, kept_evidence: ScaleEvidence, folder: RunFolder) -> ScaleEvidence:
        out = self.arguments.out
        logs, proofs = (evidence.LOGS, evidence.FOLDER) if self.arguments.record else (out / "logs", out / "evidence")
        places = rehearsals.places(self.recipe, self.made, folder)
        name = f"{self.adapter.name}-{self.recipe.name}-{case.scale}"
        kept_evidence = replace(kept_evidence, logs=rehearsals.keep_logs(folder, name, logs, places))
        known = repositories.of(self.recipe)
        proof = Evidence(
            framework=case.framework,
            recipe=self.recipe.name,
            model=case.model,
            origin=evidence.origin(self.recipe),
            device=self.how.device,
            python=self.recipe.python,
            pins=self.made.pins,
            packages=" ".join(f"{name}=={version}" for name, version in sorted(self.made.packages.items())),
            stand_ins=rehearsal.stand_in_hashes(self.how.stand_ins),
            libraries={name: repositories.named(name, known).commit for name in self.how.libraries},
            changes=self.how.changes,
            scales={case.scale: kept_evidence},
        )
        note(say("rehearse.written", path=evidence.write(proof, proofs)))
        return kept_evidence


def _launched(going: Sequence[_Rehearsal], planned: Planned, runs: Sequence[Run]) -> Iterator[EndedRun]:
    first, made = going[0], {(each.adapter.name, each.recipe.name): each.made for each in going}
    ready = Environments(
        pythons={key: each.python for key, each in made.items()},
        packages={key: each.packages for key, each in made.items()},
        skips=(),
    )
    limits = Spec(name="rehearsal", timeout_s=float(max(each.how.timeout_s for each in going)))
    options = Options(environment=MANAGED, search_paths=search_paths(first.arguments))
    adapters = {
        each.adapter.name: replace(each.adapter, recipes=tuple(by.recipe for by in going if by.adapter is each.adapter))
        for each in going
    }
    first.store.write_plan(planned)
    yield from campaign.launch_all(
        runs,
        first.store,
        adapters,
        make_launcher(limits, first.engine, options, ready),
        campaign.begin(planned, first.store),
        tick=first.tick,
        extent=campaign.Extent(retries=0),
    )


def _scales(asked: str | None, how: Rehearsal, engine: Engine) -> Sequence[tuple[int, int]]:
    if asked:
        return [spec.scale(word) for word in asked.split(",")]
    return [scale for scale in how.scales if scale[0] <= max(1, len(engine.nodes))]


def _with_log(reason: str, folder: RunFolder) -> str:
    return Message("commands.rehearse_log", reason=reason, folder=folder.path)


def _in_words(rehearsed: Rehearsed) -> str:
    where = {"recipe": rehearsed.recipe, "scale": rehearsed.scale}
    if (seen := rehearsed.evidence) is None:
        return say("rehearse.failed", **where, reason=worded(rehearsed.reason))
    key = "rehearse.whole" if rehearsed.is_whole else "rehearse.part"
    more = {} if rehearsed.is_whole else {"reason": worded(rehearsed.reason)}
    read = i18n.status(seen.status)
    return say(key, **where, steps=seen.steps_seen, time=duration(seen.seconds), status=read, **more)


def _show(ended: Sequence[Rehearsed]) -> None:
    whole = sum(each.is_whole for each in ended)
    headings = ("recipe", "scale", "launcher", "steps", "log", "reason")
    columns = [(say(f"columns.{name}"), "right" if name == "steps" else "left") for name in headings]
    rows = [
        (
            each.recipe,
            each.scale,
            each.evidence.launcher if each.evidence else "",
            str(each.evidence.steps_seen) if each.evidence else "0",
            i18n.status(each.evidence.status) if each.evidence else "",
            worded(each.reason or (each.evidence.reason if each.evidence else "")),
        )
        for each in ended
    ]
    table(say("rehearse.title", whole=whole, n=len(ended)), columns, rows)
