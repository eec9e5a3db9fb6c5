"""Whether reference workloads compute the same, by their answers to one start, in the order of a step: the first
difference is the cause; and which cases a receipt proves so."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from evalsuite.core.documents import RunCommand
from evalsuite.core.model import Summary
from evalsuite.core.workload import EquivalenceReceipt as Receipt
from evalsuite.core.workload import TrainedSetting, WorkloadAnswer
from evalsuite.runs.equivalence import receipt

Verdict = Literal["proven", "limited", "differs"]
Cause = Literal[  # first what was built, and what is timed; then what it computes
    "parameters", "timed", "forward", "backward", "optimiser_step", "optimiser_state",
    "weight_decay", "float32",
]  # fmt: skip
Commands = Mapping[str, RunCommand]
Receipts = Sequence[Receipt]
LOSS_LIMITS = (1e-6, 1e-6, 1e-5)  # of the relative difference at steps 1 to 3, in float64
NORM_LIMIT = 1e-6  # of each tensor's gradient, in float64; measured: 2e-12 for ResNet-50
FLOAT32_LIMIT = 1e-4  # of the first loss in float32
FLOAT32_NORM_LIMIT = 5e-2  # of each tensor's gradient, where there is float32 alone; measured: 2e-2 for ResNet-50
NO_GRADIENT = 1e-6


@dataclass(frozen=True, kw_only=True)
class WorkloadDifference:
    cause: Cause
    where: str
    ours: str
    theirs: str
    relative: float | None = None  # None: nothing that is measured
    limit: float | None = None


@dataclass(frozen=True, kw_only=True)
class WorkloadPair:
    first: str  # framework
    second: str
    limited: bool  # one of the two cannot train in float64
    differences: tuple[WorkloadDifference, ...]
    losses: tuple[float, ...]  # the largest relative difference at each step in float64
    gradient_norm: float | None  # the largest of any tensor in float64
    float32: float | None  # that of the first loss in float32

    @property
    def verdict(self) -> Verdict:
        if self.differences:
            return "differs"
        return "limited" if self.limited else "proven"


def pairs(answers: Sequence[WorkloadAnswer]) -> list[WorkloadPair]:
    return [pair(first, second) for first, second in combinations(answers, 2)]


def pair(first: WorkloadAnswer, second: WorkloadAnswer) -> WorkloadPair:
    doubles = [(ours, theirs) for ours, theirs in _settings(first, second) if ours.dtype == "float64"]
    singles = [(ours, theirs) for ours, theirs in _settings(first, second) if ours.dtype == "float32"]
    losses = [[*map(relative, ours.losses, theirs.losses)] for ours, theirs in doubles]
    steps = range(max(map(len, losses), default=0))
    return WorkloadPair(
        first=first.framework,
        second=second.framework,
        limited=not doubles,
        differences=(*_of_shape(first, second), *_of_steps(doubles, singles)),
        losses=tuple(max(row[step] for row in losses if len(row) > step) for step in steps),
        gradient_norm=max((relative for pair in doubles for _, relative in _norms(*pair)), default=None),
        float32=max((relative(ours.losses[0], theirs.losses[0]) for ours, theirs in singles), default=None),
    )


def relative(ours: float, theirs: float) -> float:
    largest = max(abs(ours), abs(theirs))
    return abs(ours - theirs) / largest if largest else 0.0


def _settings(first: WorkloadAnswer, second: WorkloadAnswer) -> list[tuple[TrainedSetting, TrainedSetting]]:
    settings = ((ours, second.setting(ours.name)) for ours in first.settings)
    return [(ours, theirs) for ours, theirs in settings if theirs is not None and theirs.dtype == ours.dtype]


def _of_shape(first: WorkloadAnswer, second: WorkloadAnswer) -> Iterator[WorkloadDifference]:
    names = first.parameters.keys() | second.parameters.keys()
    apart = sorted(name for name in names if first.parameters.get(name) != second.parameters.get(name))
    if apart:
        ours, theirs = (side.parameters.get(apart[0], "none") for side in (first, second))
        yield WorkloadDifference(cause="parameters", where=apart[0], ours=ours, theirs=theirs)
    if first.timed != second.timed:
        yield WorkloadDifference(cause="timed", where="", ours=", ".join(first.timed), theirs=", ".join(second.timed))


def _of_steps(
    doubles: Sequence[tuple[TrainedSetting, TrainedSetting]], singles: Sequence[tuple[TrainedSetting, TrainedSetting]]
) -> Iterator[WorkloadDifference]:
    undecayed = [pair for pair in doubles if pair[0].weight_decay == 0]
    found = [
        *(_loss_apart("forward", *pair, 1) or _norm_apart(*pair, NORM_LIMIT) for pair in doubles[:1]),
        *(_loss_apart("optimiser_step", *two, 2) or _loss_apart("optimiser_state", *two, 3) for two in undecayed),
        *(_loss_apart("weight_decay", *two, step) for two in doubles if two not in undecayed for step in (2, 3)),
    ]
    if first := next(filter(None, found), None):
        yield first
        return
    for pair in singles:
        apart = _loss_apart("float32", *pair, 1, FLOAT32_LIMIT)
        yield from filter(None, [apart or (None if doubles else _norm_apart(*pair, FLOAT32_NORM_LIMIT))])


def _loss_apart(
    cause: Cause, ours: TrainedSetting, theirs: TrainedSetting, step: int, limit: float | None = None
) -> WorkloadDifference | None:
    two = [side.losses[step - 1] for side in (ours, theirs) if len(side.losses) >= step]
    where, limit = f"{ours.name}, {step}", limit or LOSS_LIMITS[step - 1]
    return _beyond(cause, where, two, relative(*two), limit) if len(two) == 2 else None


def _norm_apart(ours: TrainedSetting, theirs: TrainedSetting, limit: float) -> WorkloadDifference | None:
    name, apart = max(_norms(ours, theirs), key=lambda norm: norm[1], default=("", 0.0))
    two = [side.gradient_norms.get(name, 0.0) for side in (ours, theirs)]
    return _beyond("backward", name, two, apart, limit)


def _norms(ours: TrainedSetting, theirs: TrainedSetting) -> Iterator[tuple[str, float]]:
    both = ours.gradient_norms.keys() & theirs.gradient_norms.keys()
    least = NO_GRADIENT * max((ours.gradient_norms[name] for name in both), default=0.0)
    for name in sorted(both):
        norm, other = ours.gradient_norms[name], theirs.gradient_norms[name]
        yield name, abs(norm - other) / max(norm, other, least) if max(norm, other, least) else 0.0


def _beyond(cause: Cause, where: str, two: Sequence[float], apart: float, limit: float) -> WorkloadDifference | None:
    ours, theirs = (f"{value:.9g}" for value in two)
    found = WorkloadDifference(cause=cause, where=where, ours=ours, theirs=theirs, relative=apart, limit=limit)
    return found if apart > limit else None


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


def case_pairs(members: Sequence[Summary], commands: Commands, own: Receipts = ()) -> tuple[CasePair, ...]:
    """Each pair of reference workloads of one model. *own*: the lab's receipts, asked before the built-in ones."""
    recorded = [(member, _commands(member, commands)) for member in members]
    ours = [row for row, made in recorded if made and all(each.recipe.kind == "reference" for each in made)]
    return tuple(
        _shown(first, second, commands, own)
        for first, second in combinations(ours, 2)
        if first.case.framework != second.case.framework and first.case.model == second.case.model
    )


def has_receipt(row: Summary, commands: Commands, own: Receipts = ()) -> bool:
    """Whether a receipt shows what the runs of *row* compute."""
    of_model = [each for each in (*own, receipt(row.case.model)) if each and each.model == row.case.model]
    answers = [answer for each in of_model if (answer := each.answer(row.case.framework))]
    return bool(_commands(row, commands)) and any(_not_about(row, each, commands) is None for each in answers)


def _shown(first: Summary, second: Summary, commands: Commands, own: Receipts) -> CasePair:
    of_model = [*(each for each in own if each.model == first.case.model), receipt(first.case.model)]
    pairs = [_case_pair(first, second, commands, each) for each in of_model]
    measured = [pair for pair in pairs if pair.measured is not None]
    return (measured or [pair for pair in reversed(pairs) if pair.shown != "no_receipt"] or pairs)[0]


def _case_pair(first: Summary, second: Summary, commands: Commands, receipt: Receipt | None) -> CasePair:
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
    summary: Summary, answer: WorkloadAnswer, commands: Commands
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


def _commands(summary: Summary, commands: Commands) -> list[RunCommand]:
    recorded = [commands.get(run.run.id) for run in summary.measurements if run.counts]
    return [command for command in recorded if command is not None] if None not in recorded else []
