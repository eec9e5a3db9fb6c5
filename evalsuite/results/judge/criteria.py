"""The acceptance criteria: a TOML file of thresholds → `Criteria`. A table left out is not asked for."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from evalsuite.core import decode, paths
from evalsuite.core.decode import Constraint, Many, Mistake, Word, between, message
from evalsuite.core.errors import EvalsuiteError, did_you_mean
from evalsuite.core.expressions import OwnColumn, OwnColumns, OwnCriterion, OwnCriterions
from evalsuite.core.findings import OwnCriteria
from evalsuite.core.messages import Message
from evalsuite.core.model import Case, Finding, Target

DEFAULT = paths.DATA / "criteria" / "default.toml"
EXAMPLE = "data/criteria/default.toml"
MOST = 1_000_000  # nodes or epochs: more is a slip of the hand
METRICS = ("top1", "top5", "accuracy")  # what a target may ask for: in per cent, and higher is better


def _perhaps(value: float) -> str:
    meant = value / 100 if 1 < value <= 100 else value * 100
    return Message("system.near", name=f"{meant:g}") if 0 < value <= 100 else ""


Aggregation = Literal["every_scale", "largest_scale"]  # which scales in scope must reach the threshold
UtilisationMetric = Literal["gpu", "all_resources", "both"]
Share = Annotated[float, Constraint("share", lambda value: 0 < value <= 1, hint=_perhaps)]
Percent = Annotated[float, Constraint("percent", lambda value: 1 < value <= 100, hint=_perhaps)]
Points = Annotated[float, between(0, 100)]
Count = Annotated[int, between(1, MOST)]
Epochs = Annotated[float, between(0, MOST)]
AXES = ("frameworks", "models", "precisions", "scalings")  # of a scope


@dataclass(frozen=True, kw_only=True)
class CaseScope:
    """The cases of a criterion; none named: all. C1 is about weak scaling unless *scalings* says otherwise."""

    frameworks: Many[Word] = ()
    models: Many[Word] = ()
    precisions: Many[Word] = ()
    scalings: Many[Word] = ()

    @property
    def named(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return tuple((axis, names) for axis in AXES if (names := getattr(self, axis)))

    def holds(self, case: Case) -> bool:
        return all(_of(case, axis) in names for axis, names in self.named)

    def check(self, cases: Iterable[Case], where: str) -> None:
        known = list(cases)
        for axis, names in self.named:
            there = sorted({_of(case, axis) for case in known})
            for name in names:
                if name not in there:
                    raise EvalsuiteError.of(
                        "results.criteria_name",
                        where=where,
                        axis=axis,
                        name=name,
                        names=there,
                        near=did_you_mean(name, there, cutoff=0.5),
                    )
        if self.named and not any(map(self.holds, known)):
            asked = "; ".join(f"{axis} = {', '.join(names)}" for axis, names in self.named)
            raise EvalsuiteError.of("results.criteria_selects_none", where=where, asked=asked)


def _of(case: Case, axis: str) -> str:
    scaling = "weak" if case.strong_batch is None else "strong"
    return {"frameworks": case.framework, "models": case.model, "precisions": case.precision, "scalings": scaling}[axis]


@dataclass(frozen=True, kw_only=True)
class LinearSpeedup:
    """C1: scaling efficiency against one device, at every measured scale from *min_nodes* nodes up."""

    threshold: Share
    min_nodes: Count
    metric: Literal["efficiency"] = "efficiency"
    aggregation: Aggregation = "every_scale"
    scope: CaseScope = CaseScope()


@dataclass(frozen=True, kw_only=True)
class MeanUtilisation:
    """C2: mean hardware utilisation, read in two ways, of which both are shown: GPU only, and all resources."""

    threshold: Share
    min_nodes: Count = 1
    metric: UtilisationMetric = "both"
    aggregation: Literal["every_scale"] = "every_scale"
    scope: CaseScope = CaseScope()


@dataclass(frozen=True, kw_only=True)
class Fastest:
    scope: CaseScope = CaseScope()


@dataclass(frozen=True, kw_only=True)
class CertificateTerms:
    """`[certificate]`: how long a certificate of the report is valid, and which nodes must have been measured."""

    valid_days: Annotated[int, between(1, 3650)] = 180  # from the last run on
    nodes: Many[Word] = ()


@dataclass(frozen=True, kw_only=True)
class Criteria:
    linear_speedup: LinearSpeedup | None = None
    mean_utilisation: MeanUtilisation | None = None
    fastest: Fastest | None = None
    targets: tuple[Target, ...] = ()
    columns: tuple[OwnColumn, ...] = ()
    own: tuple[OwnCriterion, ...] = ()
    certificate: CertificateTerms = CertificateTerms()
    file: str = ""

    def findings(self) -> Iterator[Finding]:
        """That they are not the usual ones, which decides what a pass means."""
        usual, differences = read(), []
        for name, own, theirs in (
            ("C1", self.linear_speedup, usual.linear_speedup),
            ("C2", self.mean_utilisation, usual.mean_utilisation),
        ):
            if own is None or theirs is None:
                differences += [f"no {name}"] if own is None else []
            elif own != theirs:
                differences.append(f"{name} {_level(own)} ({_level(theirs)})")
        if differences:
            yield OwnCriteria(differences=", ".join(differences), where=Path(self.file).name)

    def check(self, cases: Collection[Case]) -> None:
        usual = {"C1": self.linear_speedup, "C2": self.mean_utilisation, "C3": self.fastest}
        scopes = {f"[{name}.scope]": asked.scope for name, asked in usual.items() if asked}
        for each in self.own:
            scopes[f"[[criterion]] {each.name}"] = CaseScope(frameworks=each.frameworks, models=each.models)
        for table, scope in scopes.items():
            scope.check(cases, f"{self.file}: {table}")


def _level(asked: LinearSpeedup | MeanUtilisation) -> str:
    scope = "".join(f"; {axis} = {', '.join(names)}" for axis, names in asked.scope.named)
    return f"{asked.threshold:.0%}, {asked.min_nodes}+ nodes, {asked.aggregation}{scope}"


@dataclass(frozen=True, kw_only=True)
class _Target(Target):
    model: Word
    metric: Annotated[str, decode.one_of(*METRICS)]
    value: Percent
    epochs: Count
    tolerance: Points = Target.tolerance
    reference: Word = ""
    reference_epochs: Many[Epochs] = ()


@dataclass(frozen=True, kw_only=True)
class _CriteriaFile:
    C1: LinearSpeedup | None = None
    C2: MeanUtilisation | None = None
    C3: Fastest | None = None
    target: tuple[_Target, ...] = ()
    column: OwnColumns = ()
    criterion: OwnCriterions = ()
    certificate: CertificateTerms = CertificateTerms()

    def mistakes(self) -> Iterable[Mistake]:
        if not any((self.C1, self.C2, self.C3, self.target, self.criterion)):
            yield Mistake("", message("no_criterion"))


def read(path: Path = DEFAULT) -> Criteria:
    """A file with nothing but columns keeps the criteria of ours."""
    facts = decode.read_toml(path, EXAMPLE)
    return of({**decode.read_toml(DEFAULT, EXAMPLE), **facts} if [*facts] == ["column"] else facts, str(path))


def of(facts: Mapping[str, object], where: str) -> Criteria:
    given_file = decode.decode(_CriteriaFile, facts, where, "see_criteria", strict=True)
    return Criteria(
        linear_speedup=given_file.C1,
        mean_utilisation=given_file.C2,
        fastest=given_file.C3,
        targets=tuple(Target(**vars(target)) for target in given_file.target),
        columns=given_file.column,
        own=given_file.criterion,
        certificate=given_file.certificate,
        file=where,
    )
