"""Run folders → the evaluation that the report is made of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path

from evalsuite.core.documents import HostEnvironment, RunCommand
from evalsuite.core.errors import EvalsuiteError, NothingMeasured
from evalsuite.core.model import Case, Evaluation, Finding, Measurement, Row, Run, Unmeasured, by_key
from evalsuite.logs.catalogue import Places
from evalsuite.logs.text.disclosure import disclosed
from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.judge import criteria
from evalsuite.results.judge.criteria import Criteria
from evalsuite.results.judge.verdicts import verdicts
from evalsuite.results.measure import convergence, measuring, units
from evalsuite.results.measure import measurement as measurement_room
from evalsuite.results.measure.measuring import Measured
from evalsuite.results.measure.summary import summaries, valid
from evalsuite.results.rules import attempts, data_rules, flops_and_energy, own_figures
from evalsuite.results.rules.attempts import Recorded
from evalsuite.runs import equivalence, rehearsed
from evalsuite.runs.planned import Planned
from evalsuite.runs.planned import cases as all_cases
from evalsuite.runs.store import Store, folder_name

TITLE = "evaluation"  # key of the title in data/text


def evaluate(
    store: Store,
    *,
    only: Sequence[Case] | None = None,
    criteria_file: Path = criteria.DEFAULT,
    recorded_elsewhere: bool = False,
    places: Places = measurement_room.HOUSE,
    cache: Path | None = None,
    receipts: Sequence[Path] = (),
    meanwhile: Callable[[], None] = lambda: None,
) -> Evaluation:
    """The evaluation of all finished run folders in *store*, or of the cases in *only*. Raises NothingMeasured.
    *places*: further dialects; *cache*: of measurements; *receipts*: further folders; *meanwhile*: done beside."""
    settings = criteria.read(criteria_file)
    wanted = {case.id for case in only} if only is not None else None
    called = None if only is None else set(map(folder_name, only))
    folders = [folder for folder in store.finished() if called is None or folder.path.parent.name in called]
    if not folders:
        raise NothingMeasured.of("results.nothing_finished", path=store.root)
    measured, broken = measuring.measure_folders(folders, places, cache, meanwhile)
    _refuse_unfit(measured, store)
    planned = store.plan() or Planned(profile="custom", repeats=0, cases=(), skips=())  # as of imported runs
    cases = all_cases(planned, [run.measurement for run in measured], wanted)
    asked = (*cases, *(skip.case for skip in planned.skips))
    settings.check(asked, criteria_file)
    recorded = attempts.read(store.journal, wanted, frozenset(case.id for case in asked) if only is None else None)
    ordered = _checked(measured, recorded, store, cases, cache)
    environments = _environments(store, ordered)
    commands = {each.measurement.run.id: each.command for each in measured if each.command}
    values = summaries(units.in_one_unit(ordered))
    rows, beside = _compared(values, commands, recorded, settings)
    not_run = (each.case for each in planned.skips if each.kind == "not_run")
    in_scope = (*cases, *(case for case in not_run if wanted is None or case.id in wanted))
    priced = settings.price.columns if settings.price else ()
    columns, own = (*planned.columns, *settings.column, *priced), (*planned.criteria, *settings.criterion)
    nic_gbit_s = planned.machine.nic_gbit_s if planned.machine else None
    whole = Evaluation(
        title=TITLE,
        profile=planned.profile,
        planned=cases,
        repeats=planned.repeats or max((row.n for row in valid(rows)), default=0),
        skips=planned.skips,
        summaries=tuple(own_figures.with_columns(rows, columns)),
        verdicts=(*verdicts(rows, settings, in_scope, nic_gbit_s), *own_figures.verdicts(rows, own, in_scope)),
        columns=columns,
        findings=tuple(data_rules.merge_repeated((*broken, *settings.findings(criteria_file), *beside))),
        environments=environments,
        commands=commands,
        recorded_elsewhere=recorded_elsewhere,
        targets=settings.target,
        campaigns=recorded.starts,
        superseded=attempts.superseded(recorded, commands),
        most_repeats=planned.most_repeats,
        receipts=equivalence.own((*receipts, *(root / equivalence.BESIDE_RUNS for root in store.roots))),
        journal_sha256=recorded.sha256,
    )
    return replace(disclosed(whole), beside_runs=store.hash_beside())


def _checked(
    measured: Sequence[Measured], recorded: Recorded, store: Store, cases: Sequence[Case], cache: Path | None
) -> list[Measurement]:
    """In the order of the plan."""
    flops_and_energy.bring_models(root / "models" for root in store.roots)
    position = {case.id: place for place, case in enumerate(cases)}
    marked = attempts.mark_changed(measured, recorded, store.folder)
    ordered = sorted(marked, key=lambda m: (position[m.run.case.id], m.run.repeat))
    return data_rules.check_measurements(ordered, cache and measuring.file_of(cache, store.root.absolute()))


def _compared(
    values: Sequence[Row], commands: Mapping[str, RunCommand], recorded: Recorded, settings: Criteria
) -> tuple[list[Row], list[Finding]]:
    gone, cases = attempts.findings(recorded, commands)
    lost = [Unmeasured(case=case, measurements=()) for case in cases]
    known = {row.case.id for row in (*values, *lost)}
    scaled = (*with_scaling(convergence.hold_together(values)), *lost)
    rows = [replace(row, findings=(*row.findings, *gone.get(row.case.id, ()))) for row in scaled]
    return rows, [
        *(each for case, theirs in gone.items() if case not in known for each in theirs),
        *data_rules.findings(rows, commands),
        *convergence.misses(rows, settings.target),
        *(finding for row in rows for run in row.measurements for finding in run.findings),
        *(finding for row in rows for finding in row.findings),
    ]


def _refuse_unfit(measured: Sequence[Measured], store: Store) -> None:
    runs: dict[str, Run] = {}
    for run, command in ((each.measurement.run, each.command) for each in measured):
        if rehearsed.is_rehearsal(run.case, command.command if command else ()):
            raise EvalsuiteError.of("runs.rehearsed", path=store.folder(run).path)
        first = runs.setdefault(run.case.id, run)
        if first.case != run.case:
            one, other = vars(first.case), vars(run.case)
            names = [each.name for each in fields(Case) if one[each.name] != other[each.name]]
            paths = {"path": store.folder(first).path, "other": store.folder(run).path}
            raise EvalsuiteError.of("runs.two_cases_of_one_id", **paths, names=names, case=run.case.id)


def _environments(store: Store, measurements: Sequence[Measurement]) -> dict[str, HostEnvironment]:
    named = by_key((str(of), run.run) for run in measurements if (of := run.environment) and of.nodes)
    found = ((key, store.folder(runs[0]).environments()) for key, runs in named.items())
    return {key: next(iter(hosts.values())) for key, hosts in found if hosts}
