"""Which pairs of cases train the same computation: what a receipt shows, where it is about those that ran."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from evalsuite.core.documents import RunCommand
from evalsuite.core.model import Summary
from evalsuite.core.workload import EquivalenceReceipt, WorkloadAnswer
from evalsuite.results.compare.equivalence import WorkloadPair, pair
from evalsuite.runs.equivalence import receipts

Shown = Literal[
    "proven",
    "limited",  # in float32 alone
    "differs",
    "other_script",  # a file of the workload that was run is not as the receipt has it, or was not recorded
    "other_version",  # of the framework
    "no_receipt",  # the two were never compared
]


@dataclass(frozen=True, kw_only=True)
class CasePair:
    first: Summary
    second: Summary
    shown: Shown
    measured: WorkloadPair | None = None  # None where no receipt is about the two as they were run
    day: str | None = None  # of the receipt
    by_lab: bool = False


def case_pairs(
    members: Sequence[Summary],
    commands: Mapping[str, RunCommand],
    own: Sequence[EquivalenceReceipt] = (),
) -> tuple[CasePair, ...]:
    """Each pair of reference workloads of one model. *own*: the lab's receipts, asked before the built-in ones."""
    house = receipts()
    ours = [member for member in members if _is_reference(member, commands)]
    return tuple(
        _shown(first, second, commands, own, house.get(first.case.model))
        for first, second in combinations(ours, 2)
        if first.case.framework != second.case.framework and first.case.model == second.case.model
    )


def has_receipt(row: Summary, commands: Mapping[str, RunCommand], own: Sequence[EquivalenceReceipt] = ()) -> bool:
    """Whether a receipt shows what the runs of *row* compute."""
    of_model = [each for each in (*own, receipts().get(row.case.model)) if each and each.model == row.case.model]
    answers = [answer for each in of_model if (answer := each.answer(row.case.framework))]
    return bool(_commands(row, commands)) and any(_not_about(row, each, commands) is None for each in answers)


def _shown(
    first: Summary,
    second: Summary,
    commands: Mapping[str, RunCommand],
    own: Sequence[EquivalenceReceipt],
    house: EquivalenceReceipt | None,
) -> CasePair:
    ours = (receipt for receipt in own if receipt.model == first.case.model)
    pairs = [replace(_case_pair(first, second, commands, receipt), by_lab=True) for receipt in ours]
    of_house = _case_pair(first, second, commands, house)
    told = next((pair for pair in (*pairs, of_house) if pair.measured is not None), None)
    if told is not None:
        return told
    return next((pair for pair in (of_house, *pairs) if pair.shown != "no_receipt"), of_house)


def _case_pair(
    first: Summary, second: Summary, commands: Mapping[str, RunCommand], receipt: EquivalenceReceipt | None
) -> CasePair:
    answers = [receipt.answer(summary.case.framework) if receipt else None for summary in (first, second)]
    if receipt is None or answers[0] is None or answers[1] is None:
        return CasePair(first=first, second=second, shown="no_receipt")
    for summary, answer in zip((first, second), answers, strict=True):
        if answer is not None and (why := _not_about(summary, answer, commands)):
            return CasePair(first=first, second=second, shown=why, day=receipt.day)
    measured = pair(answers[0], answers[1])
    if not measured.losses and measured.float32 is None:  # the two share no setting: nothing was compared
        return CasePair(first=first, second=second, shown="no_receipt")
    return CasePair(first=first, second=second, shown=measured.verdict, measured=measured, day=receipt.day)


def _not_about(
    summary: Summary, answer: WorkloadAnswer, commands: Mapping[str, RunCommand]
) -> Literal["other_script", "other_version"] | None:
    for command in _commands(summary, commands):
        if not answer.files or command.workload_sha256 != answer.files:
            return "other_script"
        if _release(command.framework_version) != _release(answer.version):
            return "other_version"
    return None


def _release(version: str | None) -> str | None:
    """2.13.0 of 2.13.0+cpu: the builds of one release compute the same."""
    return version.partition("+")[0] if version else None


def _is_reference(summary: Summary, commands: Mapping[str, RunCommand]) -> bool:
    recorded = _commands(summary, commands)
    return bool(recorded) and all(command.recipe.kind == "reference" for command in recorded)


def _commands(summary: Summary, commands: Mapping[str, RunCommand]) -> list[RunCommand]:
    recorded = [commands.get(run.run.id) for run in summary.measurements if run.counts]
    return [command for command in recorded if command is not None] if None not in recorded else []
