"""The same questions, asked of the runs that no other program disturbed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evalsuite.core.findings import BusyMachine
from evalsuite.core.model import Case, Measurement, Row, Skip
from evalsuite.results.compare.answers import Answer, answers
from evalsuite.results.compare.ranking import Candidate
from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.measure.summary import summaries


@dataclass(frozen=True, kw_only=True)
class WithAndWithout:
    every: Answer
    undisturbed: Answer
    disturbed_runs: int  # of those that count for it
    runs: int

    @property
    def changes(self) -> bool:
        return _leaders(self.every) != _leaders(self.undisturbed)


def disturbed(run: Measurement) -> bool:
    return any(isinstance(finding, BusyMachine) for finding in run.findings)


def with_and_without(
    told: Iterable[Answer], rows: Iterable[Row], planned: Sequence[Case] = (), skips: Sequence[Skip] = ()
) -> tuple[WithAndWithout, ...]:
    touched = [answer for answer in told if any(map(disturbed, _runs(answer)))]
    if not touched:
        return ()
    quiet = [run for row in rows for run in row.measurements if not disturbed(run)]
    anew = {_key(answer): answer for answer in answers(with_scaling(summaries(quiet)), planned, skips)}
    return tuple(
        WithAndWithout(
            every=answer, undisturbed=anew[_key(answer)], disturbed_runs=sum(map(disturbed, runs)), runs=len(runs)
        )
        for answer in touched
        if _key(answer) in anew
        for runs in [_runs(answer)]
    )


def _runs(answer: Answer) -> list[Measurement]:
    return [run for entry in answer.ranked for run in entry.summary.measurements if run.counts]


def _key(answer: Answer) -> tuple[object, ...]:
    return (answer.setting, answer.nodes, answer.devices_per_node)


def _leaders(answer: Answer) -> tuple[str, frozenset[Candidate]]:
    return answer.said, frozenset(answer.candidate(leader.summary) for leader in answer.leaders)
