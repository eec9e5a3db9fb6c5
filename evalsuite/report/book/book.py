"""The book: an evaluation, indexed and put into the order of the page."""

from dataclasses import dataclass
from functools import cached_property

from evalsuite.core import findings, paths
from evalsuite.core.model import Case, Evaluation, Finding, Measurement, Row, Skip, Summary, Verdict, by_key
from evalsuite.report.book.states import MARKS, State, ended
from evalsuite.report.text import names, times
from evalsuite.report.text.times import Period
from evalsuite.results.compare import answers as answers_room
from evalsuite.results.compare import decisions
from evalsuite.results.compare.answers import Answer
from evalsuite.results.compare.decisions import PUBLISHED, LayoutSearch, RankingScope
from evalsuite.results.judge import breaks
from evalsuite.results.judge.breaks import Ladder
from evalsuite.results.measure.summary import valid
from evalsuite.results.measure.units import TOKENS
from evalsuite.results.rules import data_rules

LARGE = 200  # planned cases; from here on a page shows less twice (docs/architecture.md#size)
BREAK = 0.8  # of the throughput per device that a doubling keeps: below, scaling breaks there
TARGETS = {"official-cpu": "official", "llm": "llm"}  # profile → the rule that also makes the data which it needs
NOT_HERE = ("no_large_scale", "strong_only", "no_gpu", "cited_use")  # why a criterion cannot apply
HUGE = 1_000  # from here on the tables of cases and runs are in tables/*.csv alone


@dataclass(frozen=True, kw_only=True)
class Book:
    evaluation: Evaluation

    @cached_property
    def summaries(self) -> tuple[Row, ...]:
        return tuple(sorted(self.evaluation.summaries, key=lambda summary: names.case_order(summary.case)))

    @cached_property
    def summary_of(self) -> dict[str, Row]:
        return {summary.case.id: summary for summary in self.summaries}

    @cached_property
    def valid_of(self) -> dict[str, Summary]:
        return {summary.case.id: summary for summary in self.valid}

    @cached_property
    def skips(self) -> tuple[Skip, ...]:
        return tuple(sorted(self.evaluation.skips, key=lambda skip: (names.case_order(skip.case), skip.reason)))

    @cached_property
    def skip_of(self) -> dict[str, Skip]:
        return {skip.case.id: skip for skip in self.skips}

    @cached_property
    def planned(self) -> tuple[Case, ...]:
        """All cases that were asked for: the plan's, the skipped ones, and any that was run all the same."""
        cases = {case.id: case for case in self.evaluation.planned}
        cases |= {skip.case.id: skip.case for skip in self.skips}
        cases |= {summary.case.id: summary.case for summary in self.summaries}
        return tuple(sorted(cases.values(), key=names.case_order))

    @cached_property
    def planned_of(self) -> dict[str, Case]:
        return {case.id: case for case in self.planned}

    @cached_property
    def on_cpu(self) -> bool:
        return bool(self.planned) and all(case.device == "cpu" for case in self.planned)

    @property
    def profile(self) -> str | None:
        """Where it came with evalsuite."""
        specs = {file.stem for file in (paths.DATA / "specs").glob("*.toml")}
        return self.evaluation.profile if self.evaluation.profile in specs else None

    @property
    def again(self) -> str | None:
        """The command that makes all of it."""
        if self.published:
            return self.profile and f"evalsuite compare --profile {self.profile}"
        if self.profile:
            return f"make {TARGETS.get(self.profile, f'report PROFILE={self.profile}')}"
        made_by = {of.recipe.made_by if of.recipe else None for of in self.evaluation.commands.values()}
        return names.visible(*made_by) if len(made_by) == 1 and None not in made_by else None

    @property
    def large(self) -> bool:
        return len(self.planned) > LARGE

    @property
    def huge(self) -> bool:
        return len(self.planned) > HUGE

    @cached_property
    def efficiency_threshold(self) -> float | None:
        """Of the criterion, where it applies to any of the scales."""
        return next((of.threshold for of in self.evaluation.verdicts if of.criterion == "C1" and applies(of)), None)

    @cached_property
    def ladders(self) -> tuple[Ladder, ...]:
        return breaks.ladders(self.valid, BREAK)

    @cached_property
    def answers(self) -> tuple[Answer, ...]:
        return answers_room.answers(self.summaries, self.planned, self.skips)

    @cached_property
    def answer_of(self) -> dict[str, Answer]:
        ranked = {each.summary.case.id: answer for answer in self.answers for each in answer.ranked}
        return {each.summary.case.id: answer for answer in self.answers for each in answer.apart} | ranked

    @cached_property
    def ahead(self) -> frozenset[str]:
        return frozenset(id for answer in self.answers for id in answer.ahead)

    @cached_property
    def ranking_scopes(self) -> dict[str, RankingScope]:
        return decisions.ranking_scopes(self.planned)

    @cached_property
    def layout_searches(self) -> tuple[LayoutSearch, ...]:
        """Of language models, which lie over the devices in more than one way."""
        return decisions.layout_searches(row for row in self.valid if row.unit == TOKENS)

    @cached_property
    def published(self) -> bool:
        return bool(self.measurements) and all(run.origin in PUBLISHED for run in self.measurements)

    @cached_property
    def measurements(self) -> tuple[Measurement, ...]:
        return tuple(measurement for summary in self.summaries for measurement in summary.measurements)

    @cached_property
    def runs_of(self) -> dict[tuple[str, str, str], list[Measurement]]:
        cases = ((run.run.case, run) for run in self.measurements)
        return by_key(((case.model, case.framework, case.recipe), run) for case, run in cases)

    @cached_property
    def period(self) -> Period | None:
        return times.period(run.started_at for run in self.measurements if run.started_at)

    @cached_property
    def valid(self) -> tuple[Summary, ...]:
        return tuple(valid(self.summaries))

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        everywhere = [
            *self.evaluation.findings,
            *(finding for summary in self.summaries for finding in summary.findings),
            *(finding for measurement in self.measurements for finding in measurement.findings),
        ]
        graver = ("exclude", "flag", "note").index
        merged = data_rules.merge_repeated(dict.fromkeys(everywhere))
        return tuple(sorted(merged, key=lambda found: (graver(found.severity), *findings.order(found))))

    @cached_property
    def frameworks(self) -> tuple[str, ...]:
        frameworks = {case.framework for case in self.planned}
        return tuple(sorted(frameworks, key=lambda name: (names.framework(name).casefold(), name)))

    @cached_property
    def most_drawn(self) -> tuple[str, ...]:
        """The frameworks with those of most scales first, which share a hue last."""
        scales = by_key((row.case.framework, row.case.total_devices) for row in self.valid)
        return tuple(sorted(self.frameworks, key=lambda name: -len({*scales.get(name, ())})))

    @cached_property
    def models(self) -> tuple[str, ...]:
        return tuple(sorted({case.model for case in self.planned}, key=names.model_order))

    def state(self, case: Case) -> State:
        summary = self.summary_of.get(case.id)
        if isinstance(summary, Summary):
            return "value"
        if summary is not None:
            return ended(summary.measurements) if summary.measurements else "taken_away"
        if case.id in self.skip_of:
            return self.skip_of[case.id].kind
        return "not_run" if case.id in self.planned_of else "not_planned"

    def marks(self, summary: Summary) -> tuple[str, ...]:
        marks: list[str] = [str(of) for of in (summary.origin, summary.grounds) if of in MARKS][:1]
        if summary.partial:
            marks.append("partial")
        if summary.disturbed:
            marks.append("disturbed")
        if warnings(summary):
            marks.append("flagged")
        return tuple(marks)


def warnings(summary: Summary) -> tuple[str, ...]:
    """The codes that ⚠ stands for: those of its flags that ○ does not say."""
    of_machine = {each.code for run in summary.measurements for each in run.findings if each.question == 6}
    return tuple(code for code in decisions.flags(summary) if code not in of_machine)


def applies(verdict: Verdict) -> bool:
    """Whether its criterion can be judged by such data at all."""
    return {*verdict.notes}.isdisjoint(NOT_HERE)
