"""Run folders → the evaluation that the report is made of."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path

from evalsuite.core.documents import HostEnvironment, RunCommand
from evalsuite.core.errors import EvalsuiteError, NothingMeasured
from evalsuite.core.expressions import OwnColumn
from evalsuite.core.model import Case, Evaluation, Finding, Measurement, Row, Run, Verdict
from evalsuite.logs.catalogue import Places
from evalsuite.results.compare import units
from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.judge import criteria
from evalsuite.results.judge.criteria import Criteria
from evalsuite.results.judge.verdicts import verdicts
from evalsuite.results.measure import convergence, measuring
from evalsuite.results.measure import measurement as measurement_room
from evalsuite.results.measure.measuring import Measured
from evalsuite.results.measure.summary import summaries, valid, with_findings
from evalsuite.results.publish.redaction import disclosed
from evalsuite.results.rules import attempts, data_rules, own_figures, severity
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
    called = set(map(folder_name, only or ()))
    folders = [folder for folder in store.finished() if wanted is None or folder.path.parent.name in called]
    if not folders:
        raise NothingMeasured.of("results.nothing_finished", path=store.root)
    measured, broken = measuring.measure_folders(folders, places, cache, meanwhile)
    _refuse_unfit(measured, store)
    planned = store.plan()
    cases = all_cases(planned, [run.measurement for run in measured], wanted)
    skips = planned.skips if planned else ()
    asked = (*cases, *(skip.case for skip in skips))
    settings.check(asked, criteria_file)
    recorded = attempts.read(store.journal).of(wanted, asked)
    marked = attempts.mark_changed(measured, recorded, store.folder)
    ordered = data_rules.check_measurements(_in_plan_order(marked, cases))
    environments = _environments(store, ordered)
    commands = {each.measurement.run.id: each.command for each in measured if each.command}
    values = summaries(units.in_one_unit(ordered))
    compared = functools.cache(lambda: _compared(values, environments, commands, recorded, settings))
    drawn = measuring.timelines(store, values, cache, meanwhile=compared)
    rows, beside = compared()
    not_run = (skip.case for skip in skips if skip.kind == "not_run" and (wanted is None or skip.case.id in wanted))
    columns, judged = _judged(rows, settings, planned, (*cases, *not_run))
    whole = Evaluation(
        title=TITLE,
        profile=planned.profile if planned else "custom",
        planned=cases,
        repeats=planned.repeats if planned else max((row.n for row in valid(rows)), default=0),
        skips=skips,
        summaries=tuple(own_figures.with_columns(rows, columns)),
        verdicts=judged,
        columns=columns,
        findings=tuple(severity.merge_repeated((*broken, *settings.findings(criteria_file), *beside))),
        environments=environments,
        commands=commands,
        timelines=drawn,
        recorded_elsewhere=recorded_elsewhere,
        targets=settings.target,
        campaigns=recorded.starts,
        superseded=attempts.superseded(recorded, commands),
        most_repeats=planned.most_repeats if planned else None,
        receipts=equivalence.own((*receipts, *(root / equivalence.BESIDE_RUNS for root in store.roots))),
        journal_sha256=recorded.sha256,
    )
    return replace(disclosed(whole), beside_runs=store.hash_beside())


def _judged(
    rows: Sequence[Row], settings: Criteria, planned: Planned | None, cases: Sequence[Case]
) -> tuple[tuple[OwnColumn, ...], tuple[Verdict, ...]]:
    columns, own = (planned.columns, planned.criteria) if planned else ((), ())
    own_verdicts = own_figures.verdicts(rows, (*own, *settings.criterion), cases)
    nic_gbit_s = planned.machine.nic_gbit_s if planned and planned.machine else None
    return (*columns, *settings.column), (*verdicts(rows, settings, cases, nic_gbit_s), *own_verdicts)


def _compared(
    values: Sequence[Row],
    environments: Mapping[str, HostEnvironment],
    commands: Mapping[str, RunCommand],
    recorded: Recorded,
    settings: Criteria,
) -> tuple[list[Row], list[Finding]]:
    gone, known = attempts.findings(recorded, commands), {row.case.id for row in values}
    rows = with_findings(with_scaling(values), gone)
    return rows, [
        *(each for case, theirs in gone.items() if case not in known for each in theirs),
        *data_rules.findings(rows, environments, commands),
        *convergence.findings(rows, settings.target),
        *convergence.loss_findings(rows),
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
            names = [
                each.name for each in fields(Case) if getattr(first.case, each.name) != getattr(run.case, each.name)
            ]
            paths = {"path": store.folder(first).path, "other": store.folder(run).path}
            raise EvalsuiteError.of("runs.two_cases_of_one_id", **paths, names=names, case=run.case.id)


def _in_plan_order(measurements: Sequence[Measurement], cases: Sequence[Case]) -> list[Measurement]:
    position = {case.id: index for index, case in enumerate(cases)}
    return sorted(measurements, key=lambda m: (position[m.run.case.id], m.run.repeat))


def _environments(store: Store, measurements: Sequence[Measurement]) -> dict[str, HostEnvironment]:
    hosts_of: dict[str, HostEnvironment] = {}
    for measurement in measurements:
        if measurement.environment and (key := str(measurement.environment)) not in hosts_of:
            hosts = store.folder(measurement.run).environments()
            hosts_of.update((key, host) for host in list(hosts.values())[:1])  # none: a name alone
    return hosts_of
