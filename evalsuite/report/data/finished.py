"""A finished report, read back from its `summary.json`: what `publish` and `compare-reports` work on."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from evalsuite import findings
from evalsuite.errors import EvalsuiteError
from evalsuite.files import read_json
from evalsuite.lab import BothLanguages, LabDocument
from evalsuite.model import (
    Case,
    Interval,
    Measurement,
    Protocol,
    Run,
    Summary,
    Throughput,
    Unmeasured,
    Verdict,
)
from evalsuite.report.data import answers_json, schema
from evalsuite.results.compare.answers import Answer
from evalsuite.results.measure.summary import valid

SCHEMA_VERSION = 1  # of summary.json, written and read; data/schema/summary.schema.json describes it
COUNTS = {"cases_planned", "cases_valid", "runs_made", "runs_valid"}  # what `publish` shows of the data's quality
NEARLY = 1e-9  # numbers go through text, which keeps them to the last digit
SUMMARY, PAGE = "summary.json", "report.html"


@dataclass(frozen=True, kw_only=True)
class Finished:
    """What a finished report says, in the nouns it was made of."""

    folder: Path
    title: str  # the evaluation's own, or a key of `titles` in data/text
    profile: str
    evalsuite: str  # the version that wrote the report
    input_sha256: str
    recorded_elsewhere: bool
    verdicts: tuple[Verdict, ...]
    summaries: tuple[Summary | Unmeasured, ...]
    quality: Mapping[str, Any]  # counts of cases and runs
    document: LabDocument | None = None  # of which title and organisation are kept
    disturbed: int = 0  # runs during which other programs used the machine
    answers: tuple[Answer, ...] = ()  # who is fastest where: the order and what may be said of it

    @cached_property
    def measurements(self) -> tuple[Measurement, ...]:
        return tuple(run for summary in self.summaries for run in summary.measurements)

    @cached_property
    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.setting.model for one in self.answers))

    @cached_property
    def period(self) -> tuple[str, str] | None:
        """Start of the first and of the last run, ISO 8601 with zone; None where no run says when it was."""
        stamps = [run.started_at for run in self.measurements if run.started_at and moment(run.started_at)]
        return (min(stamps, key=instant), max(reversed(stamps), key=instant)) if stamps else None

    @cached_property
    def versions(self) -> dict[str, tuple[str, ...]]:
        """Framework → the versions its runs were made with."""
        found: dict[str, set[str]] = {}
        for run in self.measurements:
            if run.framework_version:
                found.setdefault(run.run.case.framework, set()).add(run.framework_version)
        return {framework: tuple(sorted(versions)) for framework, versions in sorted(found.items())}

    @cached_property
    def origins(self) -> tuple[str, ...]:
        """Where the values come from: measured, imported, cited, …"""
        return tuple(sorted({summary.origin for summary in valid(self.summaries)}))

    @cached_property
    def environments(self) -> tuple[str, ...]:
        return tuple(sorted({run.environment for run in self.measurements if run.environment}))


def read(folder: Path) -> Finished:
    """The report in *folder*. Raises EvalsuiteError if no finished report of a known schema stands there."""
    folder = Path(folder)
    file = folder / SUMMARY
    if not (file.is_file() and (folder / PAGE).is_file()):
        raise EvalsuiteError(
            f"{folder}: no finished report stands there; expected {PAGE} and {SUMMARY} side by side. "
            "Try the folder that `evalsuite report --out DIR` wrote."
        )
    facts = read_json(file)
    version = facts.get("schema_version")
    if isinstance(version, bool) or version != SCHEMA_VERSION:
        raise EvalsuiteError(
            f"{file}: schema_version is {version!r}; expected {SCHEMA_VERSION}. "
            "Try the evalsuite version that wrote it, or write the report again from its run folders."
        )
    wrong = next(schema.mistakes(facts), None)
    if wrong is None:
        try:
            found = _finished(folder, facts)
            wrong = next(_contradictions(facts), None)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            wrong = f"{type(error).__name__} {error}; expected the fields of {schema.FILE}"
    if wrong is not None:
        raise EvalsuiteError(f"{file}: {wrong}. Was it edited? Write the report again from its run folders.")
    return found


def _contradictions(facts: Mapping[str, Any]) -> Iterator[str]:
    """Where the parts of a summary do not fit each other, as those that evalsuite writes do."""
    if not facts["data_quality"].keys() >= COUNTS:
        yield f"data_quality: it lacks counts; expected {', '.join(sorted(COUNTS))}"
    for place, one in enumerate(facts["summaries"]):
        where = f"summaries[{place}]"
        counted = sorted(run["value"] for run in one["runs"] if run["counts"])
        if case_of(one["case"]).id != one["case"].get("id", case_of(one["case"]).id):
            yield f"{where}.case.id: {one['case']['id']!r} stands there; expected the name of the case beside it"
        if one["n"] != len(counted):
            yield f"{where}.n: {one['n']} stands there; expected {len(counted)}, for so many of its runs count"
        median = one["throughput"]
        if (median is None) != (not counted):
            yield f"{where}.throughput: it has a median just where runs count; {len(counted)} do"
        elif median and not counted[0] * (1 - NEARLY) <= median["value"] <= counted[-1] * (1 + NEARLY):
            yield f"{where}.throughput.value: {median['value']:g} stands there; expected the median of its runs"
        if median and not _between(median["low"], median["value"], median["high"]):
            yield f"{where}.throughput: {median['low']} to {median['high']} stands there; expected its value within"
        for number, run in enumerate(one["runs"]):
            if run["started_at"] is not None and moment(run["started_at"]) is None:
                yield f"{where}.runs[{number}].started_at: {run['started_at'][:40]!r} is no time; expected ISO 8601"


def _between(low: float | None, value: float, high: float | None) -> bool:
    """Whether *value*, which is no less than 0, lies in its interval, as far as there is one."""
    return (low is None or 0 <= low <= value * (1 + NEARLY)) and (high is None or value <= high * (1 + NEARLY))


def moment(stamp: str | None) -> datetime | None:
    """The time in an ISO 8601 stamp, in UTC, for putting stamps of several zones into order; None if it is none."""
    try:
        return instant(stamp or "")
    except ValueError:
        return None


def instant(stamp: str) -> datetime:
    """The time in a stamp that is known to be one, in UTC; a stamp without a zone is taken as UTC."""
    found = datetime.fromisoformat(stamp)
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _finished(folder: Path, facts: Mapping[str, Any]) -> Finished:
    summaries = tuple(_summary(summary) for summary in facts["summaries"])
    by_id = {one.case.id: one for one in valid(summaries)}
    return Finished(
        folder=folder,
        title=facts["title"],
        profile=facts["profile"],
        evalsuite=facts["evalsuite"],
        input_sha256=facts["input_sha256"],
        recorded_elsewhere=facts["recorded_elsewhere"],
        verdicts=tuple(_verdict(verdict) for verdict in facts["verdicts"]),
        summaries=summaries,
        quality=facts["data_quality"],
        document=_document(facts.get("document")),
        disturbed=_disturbed(facts["findings"]),
        answers=tuple(answers_json.read(one, by_id) for one in facts["answers"]),
    )


def _disturbed(found: Sequence[Mapping[str, Any]]) -> int:
    """How many runs had other programs beside them."""
    busy = [one for one in found if one["code"] == findings.BusyMachine.code]
    return len({run for one in busy for run in (one["where"], *one.get("also", ()))})  # earlier reports: one a run


def _document(facts: Mapping[str, Any] | None) -> LabDocument | None:
    if facts is None:
        return None
    organisation = facts["organisation"]
    return LabDocument(
        title=BothLanguages(**facts["title"]), organisation=BothLanguages(**organisation) if organisation else None
    )


def _summary(facts: Mapping[str, Any]) -> Summary | Unmeasured:
    case = case_of(facts["case"])
    throughput = _interval(facts["throughput"])
    runs = tuple(_measurement(case, facts["unit"], run) for run in facts["runs"])
    if throughput is None:
        return Unmeasured(case=case, unit=facts["unit"] or None, measurements=runs, origin=facts["origin"])
    return Summary(
        case=case,
        unit=facts["unit"],
        measurements=runs,
        items_per_s=throughput,
        n=facts["n"],
        cv=facts["cv"],
        speedup=_interval(facts["speedup"]),
        efficiency=_interval(facts["efficiency"]),
        partial=facts["partial"],
        origin=facts["origin"],
    )


def case_of(facts: Mapping[str, Any]) -> Case:
    """The case as `summary.json` writes it."""
    protocol = Protocol(warmup_steps=facts["warmup_steps"], measured_steps=facts["measured_steps"])
    same = ("framework", "recipe", "model", "precision", "xla", "device", "batch_per_device", "nodes")
    return Case(
        **{name: facts[name] for name in (*same, "devices_per_node")},
        batch_policy=facts.get("batch_policy"),
        strong_batch=facts.get("strong_batch"),
        cores_per_device=facts.get("cores_per_device"),  # reports of earlier versions have none
        protocol=protocol,
        options=tuple(sorted(facts["options"].items())),
    )


def _measurement(case: Case, unit: str, run: Mapping[str, Any]) -> Measurement:
    value = run["value"]
    throughput = Throughput(items_per_s=value, unit=unit, method="", window=None) if value is not None else None
    return Measurement(
        run=Run(case=case, repeat=run["repeat"]),
        status=run["status"],
        origin=run["origin"],
        reason=run["reason"],
        throughput=throughput,
        findings=() if run["counts"] or value is None else (findings.Excluded(),),
        started_at=run["started_at"],
        environment=run["environment"],
        framework_version=run["framework_version"],
        log=run["log"],
        log_sha256=run["log_sha256"],
        campaign=run.get("campaign"),
        round=run.get("round"),
    )


def _verdict(facts: Mapping[str, Any]) -> Verdict:
    return Verdict(
        criterion=facts["criterion"],
        outcome=facts["outcome"],
        threshold=facts["threshold"],
        measured=_interval(facts["measured"]),
        n=facts["n"],
        reason=facts["reason"],
        values=tuple(sorted(facts["values"].items())),
        within_noise=facts["within_noise"],
    )


def _interval(facts: Mapping[str, Any] | None) -> Interval | None:
    return None if facts is None else Interval(**facts)
