"""A finished report, read back from `summary.json` for `publish` and `diff`."""

import functools
import math
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

from evalsuite.core import decode, findings
from evalsuite.core.author_document import BothLanguages, LabDocument
from evalsuite.core.decode import Kind, Mistake, Wrong, message, refusal, shown, take
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.files import MOST_SUMMARY_BYTES, is_file, read_json, sha256
from evalsuite.core.messages import Message
from evalsuite.core.model import (
    Case,
    Fact,
    Finding,
    Interval,
    Machine,
    MachineNode,
    Measurement,
    Protocol,
    Row,
    Run,
    Summary,
    Throughput,
    Unmeasured,
    Verdict,
    by_key,
)
from evalsuite.finished import manifest, schema
from evalsuite.results.compare.answers import Answer, Apart, Conditions, Missing
from evalsuite.results.compare.decisions import Candidate, Ranked, RankingScope
from evalsuite.results.compare.fairness import Obstacle
from evalsuite.results.measure.summary import valid

LOWERED: Mapping[str, tuple[Finding, ...]] = {  # grounds of a run whose finding is not known here
    "printed": (findings.PrintedOnly(method=""),),
    "disputed": (findings.SteepDrift(change=0.0),),
}
SCHEMA_VERSION = 3  # of summary.json; data/schema/summary.schema.json describes it
NEARLY = 1e-9  # numbers go through text
Noun = TypeVar("Noun")
SUMMARY, PAGE = "summary.json", "report.html"


@dataclass(frozen=True, kw_only=True)
class Finished:
    folder: Path
    title: str  # or a key of `titles` in data/text
    profile: str
    evalsuite: str  # version that wrote the report
    input_sha256: str
    recorded_elsewhere: bool
    verdicts: tuple[Verdict, ...]
    summaries: tuple[Row, ...]
    quality: Mapping[str, Any]
    document: LabDocument | None = None  # title and organisation alone
    journal_sha256: tuple[str, ...] = ()
    gone: int = 0  # findings of runs that were taken away
    disturbed: int = 0  # runs, as `Measurement.disturbed`
    answers: tuple[Answer, ...] = ()

    @cached_property
    def measurements(self) -> tuple[Measurement, ...]:
        return tuple(run for summary in self.summaries for run in summary.measurements)

    @property
    def lacking(self) -> int:
        """Planned runs that are not here: not made yet, or gone."""
        return int(self.quality.get("runs_planned", 0)) - int(self.quality.get("runs_made", 0))

    @cached_property
    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(answer.setting.model for answer in self.answers))

    @cached_property
    def period(self) -> tuple[str, str] | None:
        """Start of the first and of the last run, ISO 8601; None where no run has one."""
        stamps = [run.started_at for run in self.measurements if run.started_at and moment(run.started_at)]
        return (min(stamps, key=instant), max(reversed(stamps), key=instant)) if stamps else None

    @cached_property
    def versions(self) -> dict[str, tuple[str, ...]]:
        runs = (run for run in self.measurements if run.framework_version)
        versions = by_key((run.run.case.framework, run.framework_version or "") for run in runs)
        return {framework: tuple(sorted({*versions})) for framework, versions in sorted(versions.items())}

    @cached_property
    def origins(self) -> tuple[str, ...]:
        return tuple(sorted({summary.origin for summary in valid(self.summaries)}))

    @cached_property
    def machines(self) -> tuple[Machine, ...]:
        return tuple(sorted({run.environment for run in self.measurements if run.environment}, key=str))


def folder_of(report: Path) -> Path:
    return report.parent if report.name == PAGE else report


def read(folder: Path, *, vouched: bool = False) -> Finished:
    """Raises EvalsuiteError if *folder* has no finished report of a known schema, or none that is *vouched* for."""
    folder = folder_of(Path(folder))
    file = folder / SUMMARY
    if not (is_file(file) and is_file(folder / PAGE)):
        raise EvalsuiteError.of("report.no_report", folder=folder, page=PAGE, summary=SUMMARY)
    facts = read_json(file, MOST_SUMMARY_BYTES)
    version = facts.get("schema_version")
    if isinstance(version, bool) or version != SCHEMA_VERSION:
        got = shown(version)
        raise EvalsuiteError.of("decode.report_version", file=file, found=got, expected=SCHEMA_VERSION)
    report = cast(
        Finished, take(Kind(schema.kind().words, functools.partial(_read, folder)), facts, file, "try_report")
    )
    if vouched and (listed := manifest.read(folder)) is None:
        raise EvalsuiteError.of("site.no_manifest", folder=folder, name=manifest.NAME)
    if vouched and listed and listed.files.get(SUMMARY) != sha256(file):
        raise EvalsuiteError.of("site.not_ours", path=file, error=Message("report.not_as_written", name=manifest.NAME))
    return report


def _read(folder: Path, facts: object) -> Finished:
    checked = schema.kind().take(facts)
    if wrong := list(_contradictions(checked)):
        raise Wrong(wrong)
    return _finished(folder, checked)


def _contradictions(facts: Mapping[str, Any]) -> Iterator[Mistake]:
    outcomes, with_value = {"met": "pass", "not_met": "fail"}, set()  # of each reason
    for place, each in ((n, of) for n, verdict in enumerate(facts["verdicts"]) for of in (verdict, *verdict["cells"])):
        if each["outcome"] != (wanted := outcomes.get(each["reason"], "undetermined")):
            yield Mistake(f"verdicts[{place}].outcome", refusal(each["outcome"], shown(wanted)))
    machines = {str(_machine(machine)) for machine in facts["machines"]}
    told, found = facts["data_quality"].get("findings_by_severity"), Counter(x["severity"] for x in facts["findings"])
    if told not in (None, found):
        yield Mistake("data_quality.findings_by_severity", refusal(told, shown(dict(found))))
    for place, summary in enumerate(facts["summaries"]):
        where = f"summaries[{place}]"
        counted = sorted(run["value"] for run in summary["runs"] if run["counts"])
        with_value |= {summary["case"]["id"]} if counted else set()
        if (id := case_of(summary["case"]).id) != summary["case"]["id"]:
            yield Mistake(f"{where}.case.id", refusal(summary["case"]["id"], shown(id)))
        if summary["n"] != len(counted):
            yield Mistake(f"{where}.n", refusal(summary["n"], shown(len(counted))))
        median = summary["throughput"]
        if (median is None) != (not counted):
            yield Mistake(f"{where}.throughput", message("median_if_counted", n=len(counted)))
        elif median and not math.isclose(median["value"], statistics.median(counted), rel_tol=NEARLY):
            yield Mistake(f"{where}.throughput.value", refusal(median["value"], message("median_of_runs")))
        low, value, high = (median["low"], median["value"], median["high"]) if median else (None, 0.0, None)
        too_low = low is not None and not 0 <= low <= value * (1 + NEARLY)
        if too_low or (high is not None and value > high * (1 + NEARLY)):
            yield Mistake(f"{where}.throughput", message("value_within", low=low, high=high))
        for number, run in enumerate(summary["runs"]):
            if (environment := run["environment"]) and environment not in machines:
                yield Mistake(f"{where}.runs[{number}].environment", refusal(environment, message("machine_listed")))
            if run["started_at"] is not None and moment(run["started_at"]) is None:
                yield Mistake(f"{where}.runs[{number}].started_at", refusal(run["started_at"], message("iso_time")))
    for place, answer in enumerate(facts["answers"]):
        for key in ("ranked", "passed_over"):
            for named in answer.get(key, ()):
                if named["case"] not in with_value:
                    yield Mistake(f"answers[{place}].{key}", refusal(named["case"], message("case_with_value")))
                if key == "passed_over" and not named.get("obstacles"):
                    yield Mistake(f"answers[{place}].{key}", refusal([], message("named_condition")))


def moment(stamp: str | None) -> datetime | None:
    """An ISO 8601 stamp in UTC, which it is taken as where it says no zone; None if it is none."""
    time = decode.instant(stamp)
    return time and (time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC))


def instant(stamp: str) -> datetime:
    time = moment(stamp)
    if time is None:
        raise ValueError(stamp)
    return time


def _finished(folder: Path, facts: Mapping[str, Any]) -> Finished:
    machines = {str(machine): machine for machine in map(_machine, facts["machines"])}
    known = ((findings.RULES.get(each["rule"]), each) for each in facts["findings"])
    costly = ((rule, each) for rule, each in known if rule is not None and rule.grounds != "clock")
    made = ((rule(**dict.fromkeys(findings.kinds(rule), 0)), each) for rule, each in costly)  # no value is asked for
    causes = by_key((where, finding) for finding, each in made for where in (each["where"], *each["also"]))
    summaries = tuple(_summary(summary, machines, causes) for summary in facts["summaries"])
    by_id = {summary.case.id: summary for summary in valid(summaries)}
    verdicts = [
        _noun(
            Verdict, each, measured=_interval(each["measured"]), values=tuple(sorted(each["values"].items())), case=None
        )
        for each in facts["verdicts"]
    ]
    of_machine = [each for each in facts["findings"] if each["question"] == 6 and each["severity"] != "note"]
    disturbed = {place for each in of_machine for place in (each["where"], *each["also"])}
    return _noun(
        Finished,
        facts,
        folder=folder,
        verdicts=tuple(verdicts),
        summaries=summaries,
        quality=facts["data_quality"],
        document=_document(facts["document"]),
        journal_sha256=tuple(facts.get("journal_sha256", ())),
        gone=sum(each["code"] == "taken_away" and each["severity"] != "note" for each in facts["findings"]),
        disturbed=sum(f"{row.case.id}/r{run.run.repeat}" in disturbed for row in summaries for run in row.measurements),
        answers=tuple(answer_of(answer, by_id) for answer in facts["answers"]),
    )


def _noun(cls: type[Noun], facts: Mapping[str, Any], /, **others: Any) -> Noun:
    """The plain values in *facts* become the fields of their names; *others* are the rest."""
    names = {field.name for field in fields(cast(Any, cls))}
    plain = {name: value for name, value in facts.items() if name in names and not isinstance(value, dict | list)}
    return cls(**{**plain, **others})


def _document(facts: Mapping[str, Any] | None) -> LabDocument | None:
    if facts is None:
        return None
    organisation = facts["organisation"]
    return LabDocument(
        title=_noun(BothLanguages, facts["title"]),
        organisation=_noun(BothLanguages, organisation) if organisation else None,
    )


def _summary(facts: Mapping[str, Any], machines: Mapping[str, Machine], causes: Mapping[str, list[Finding]]) -> Row:
    case = case_of(facts["case"])
    runs = tuple(_measurement(case, facts["unit"], run, machines, causes) for run in facts["runs"])
    if facts["throughput"] is None:
        return _noun(Unmeasured, facts, unit=facts["unit"] or None, case=case, measurements=runs)
    return _noun(
        Summary,
        facts,
        case=case,
        measurements=runs,
        items_per_s=_interval(facts["throughput"]),
        speedup=_interval(facts["speedup"]),
        efficiency=_interval(facts["efficiency"]),
        base=None,
    )


def case_of(facts: Mapping[str, Any]) -> Case:
    if facts["nodes"] is None:
        facts = {**facts, "nodes": 1, "devices_per_node": facts["total_devices"], "nodes_unknown": True}
    return _noun(Case, facts, protocol=_noun(Protocol, facts), options=tuple(sorted(facts["options"].items())))


def _measurement(
    case: Case, unit: str, run: Mapping[str, Any], machines: Mapping[str, Machine], causes: Mapping[str, list[Finding]]
) -> Measurement:
    value = run["value"]
    throughput = Throughput(items_per_s=value, unit=unit, method="", window=None) if value is not None else None
    excluded = () if run["counts"] or value is None else (findings.Excluded(),)
    known = (each for each in causes.get(f"{case.id}/r{run['repeat']}", ()) if each.severity != "exclude")
    lowered = [each for each in known if each.grounds == run["grounds"]] or LOWERED.get(run["grounds"], ())
    return _noun(
        Measurement,
        run,
        run=Run(case=case, repeat=run["repeat"]),
        environment=machines[run["environment"]] if run["environment"] else None,
        throughput=throughput,
        hosts=tuple(run.get("hosts", ())),
        facts=tuple(Fact(key=key, value=value, source="log") for key, value in run.get("inputs", {}).items()),
        findings=(*excluded, *lowered),
    )


def _machine(facts: Mapping[str, Any]) -> Machine:
    nodes = (_noun(MachineNode, node, accelerators=tuple(node["accelerators"].items())) for node in facts["nodes"])
    return _noun(Machine, facts, nodes=tuple(nodes))


def _interval(facts: Mapping[str, Any] | None) -> Interval | None:
    return None if facts is None else _noun(Interval, facts)


def answer_of(facts: Mapping[str, Any], of: Mapping[str, Summary]) -> Answer:
    among = facts["among"]
    setting = _noun(
        Conditions,
        facts,
        batch_per_device=None if facts["strong_batch"] else facts["batch_per_device"],
        options=tuple(sorted(facts["options"].items())),
        protocol=_noun(Protocol, facts),
    )
    scope = RankingScope(
        among=among["what"],
        scripts=among["scripts"],
        options=tuple((name, tuple(values)) for name, values in among["options"].items()),
    )
    ranked = tuple(
        _noun(
            Ranked,
            place,
            known=place["why"] or place["outcome"],
            summary=of[place["case"]],
            flags=tuple(place.get("flags", ())),
        )
        for place in facts["ranked"]
    )
    passed, apart = (
        tuple(
            Apart(
                summary=of[row["case"]],
                obstacles=tuple(_noun(Obstacle, each) for each in row.get("obstacles", ())),
                flags=tuple(row.get("flags", ())),
            )
            for row in facts.get(key, ())
            if row["case"] in of
        )
        for key in ("passed_over", "apart")
    )
    missing = tuple(
        Missing(
            candidate=Candidate(
                framework=row["framework"], recipe=row["recipe"], options=tuple(row["options"].items())
            ),
            why=row["why"],
            reason=row["reason"] or "",
            others=tuple(of[id].case for id in row.get("cases", ()) if id in of),
        )
        for row in facts.get("missing", ())
    )
    known = facts["why"] or (facts["outcome"] if len(ranked) > 1 else None)
    return _noun(
        Answer,
        facts,
        known=known,
        setting=setting,
        scope=scope,
        ranked=ranked,
        passed_over=passed,
        apart=apart,
        missing=missing,
    )
