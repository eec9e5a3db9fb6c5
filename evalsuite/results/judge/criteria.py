"""The acceptance criteria: a TOML file of thresholds → `Criteria`. A table left out is not asked for."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from evalsuite.core import decode, paths
from evalsuite.core.decode import Constraint, Many, Mistake, Word, between, message
from evalsuite.core.errors import EvalsuiteError, did_you_mean
from evalsuite.core.expressions import OwnColumn, OwnColumns, OwnCriterions
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


Share = Annotated[float, Constraint("share", lambda value: 0 < value <= 1, hint=_perhaps)]
Percent = Annotated[float, Constraint("percent", lambda value: 1 < value <= 100, hint=_perhaps)]
Points = Annotated[float, between(0, 100)]
Amount = Annotated[float, between(0, 1e9)]
Count = Annotated[int, between(1, MOST)]


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """`[C1]`: weak scaling efficiency against one device. `[C2]`: mean hardware utilisation, read in two ways."""

    threshold: Share
    min_nodes: Count  # every measured scale from here up must reach it


@dataclass(frozen=True, kw_only=True)
class CertificateTerms:
    """`[certificate]`: how long a certificate of the report is valid, and which nodes must have been measured."""

    valid_days: Annotated[int, between(1, 3650)] = 180  # from the last run on
    nodes: Many[Word] = ()


@dataclass(frozen=True, kw_only=True)
class _Target(Target):
    model: Word
    metric: Annotated[str, decode.one_of(*METRICS)]
    value: Percent
    epochs: Count
    tolerance: Points = Target.tolerance


@dataclass(frozen=True, kw_only=True)
class Price:
    """`[price]`: of an hour of one device, and of the energy that is paid beside it."""

    currency: Word
    device_hour: Amount
    kwh: Amount | None = None

    @property
    def columns(self) -> Iterator[OwnColumn]:
        """Of a million images, tokens, …"""
        unit = f"{self.currency} / 10⁶"
        yield OwnColumn(name="cost", value=f"{self.device_hour} / 3600 / items_per_s_per_device * 1e6", unit=unit)
        if self.kwh is not None:  # a million joules are 1 / 3.6 of it
            yield OwnColumn(name="energy_cost", value=f"energy_j_per_item / 3.6 * {self.kwh}", unit=unit)


@dataclass(frozen=True, kw_only=True)
class Criteria:
    C1: Threshold | None = None
    C2: Threshold | None = None
    target: tuple[_Target, ...] = ()
    column: OwnColumns = ()
    criterion: OwnCriterions = ()
    certificate: CertificateTerms = CertificateTerms()
    price: Price | None = None

    def mistakes(self) -> Iterable[Mistake]:
        if not any((self.C1, self.C2, self.target, self.criterion)):
            yield Mistake("", message("no_criterion"))

    def findings(self, file: Path) -> Iterator[Finding]:
        """That they are not the usual ones, which decides what a pass means."""
        usual, differences = read(), []
        for name, own, theirs in (("C1", self.C1, usual.C1), ("C2", self.C2, usual.C2)):
            if own is None or theirs is None:
                differences += [f"no {name}"] if own is None else []
            elif own != theirs:
                differences.append(f"{name} {_level(own)} ({_level(theirs)})")
        if differences:
            yield OwnCriteria(differences=", ".join(differences), where=file.name)

    def check(self, cases: Collection[Case], file: Path) -> None:
        """Raises EvalsuiteError where a criterion of one's own names what is not among *cases*."""
        for asked in self.criterion:
            where = f"{file}: [[criterion]] {asked.name}"
            for axis, names in (("frameworks", asked.frameworks), ("models", asked.models)):
                there = sorted({getattr(case, axis.removesuffix("s")) for case in cases})
                for name in names:
                    if name not in there:
                        near = did_you_mean(name, there, cutoff=0.5)
                        facts = {"where": where, "axis": axis, "name": name, "names": there, "near": near}
                        raise EvalsuiteError.of("results.criteria_name", **facts)
            if not any(asked.is_about(case.framework, case.model, asked.min_nodes) for case in cases):
                about = "; ".join(", ".join(names) for names in (asked.frameworks, asked.models))
                raise EvalsuiteError.of("results.criteria_selects_none", where=where, asked=about)


def _level(asked: Threshold) -> str:
    return f"{asked.threshold:.0%}, {asked.min_nodes}+ nodes"


def read(path: Path = DEFAULT) -> Criteria:
    """A file with nothing but columns and prices keeps the criteria of ours."""
    facts = decode.read_toml(path, EXAMPLE)
    if facts and {*facts} <= {"column", "price"}:
        facts = {**decode.read_toml(DEFAULT, EXAMPLE), **facts}
    return decode.decode(Criteria, facts, str(path), "see_criteria", strict=True)
