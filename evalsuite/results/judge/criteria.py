"""The acceptance criteria: a TOML file of thresholds → `Criteria`, every mistake in it said by file and key.

A table that is left out is a criterion that is not asked for. `judge/verdicts` judges by them.
"""

import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

from evalsuite import paths
from evalsuite.errors import EvalsuiteError, did_you_mean
from evalsuite.model import Case, Target

DEFAULT = paths.DATA / "criteria" / "default.toml"
EXAMPLE = "data/criteria/default.toml"
MOST = 1_000_000  # nodes or epochs: more is a slip of the hand
METRICS = ("top1", "top5", "accuracy")  # what a target may ask for: in per cent, and higher is better


Aggregation = Literal["every_scale", "largest_scale"]  # which scales in scope must reach the threshold
UtilisationMetric = Literal["gpu", "all_resources", "both"]


AXES = ("frameworks", "models", "precisions", "scalings")  # of a scope


@dataclass(frozen=True, kw_only=True)
class CaseScope:
    """Which cases a criterion is about: those of the frameworks, models and precisions that are named; none: all.

    C1 is about weak scaling unless *scalings* names another: its threshold is asked of devices that keep their batch.
    """

    frameworks: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    precisions: tuple[str, ...] = ()
    scalings: tuple[str, ...] = ()
    where: str = ""  # file and table, for what is said of a name that no case has

    @property
    def named(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return tuple((axis, names) for axis in AXES if (names := getattr(self, axis)))

    def holds(self, case: Case) -> bool:
        return all(_of(case, axis) in names for axis, names in self.named)

    def check(self, cases: Iterable[Case]) -> None:
        """Raises EvalsuiteError where a name is that of none of *cases*, or all names together select none."""
        known = list(cases)
        for axis, names in self.named:
            there = sorted({_of(case, axis) for case in known})
            for name in names:
                if name not in there:
                    raise EvalsuiteError(
                        f'{self.where} {axis}: no case has "{name}"; expected some of {", ".join(there)}.'
                        f"{did_you_mean(name, there, cutoff=0.5)}"
                    )
        if self.named and not any(map(self.holds, known)):
            asked = "; ".join(f"{axis} = {', '.join(names)}" for axis, names in self.named)
            raise EvalsuiteError(
                f"{self.where}: no case has all of {asked}; expected names that select one case at least. "
                "Try fewer of them."
            )


def _of(case: Case, axis: str) -> str:
    scaling = "weak" if case.strong_batch is None else "strong"
    return {"frameworks": case.framework, "models": case.model, "precisions": case.precision, "scalings": scaling}[axis]


@dataclass(frozen=True, kw_only=True)
class LinearSpeedup:
    """C1: scaling efficiency against one device, at every measured scale from *min_nodes* nodes up."""

    threshold: float  # share, 0..1
    min_nodes: int
    aggregation: Aggregation = "every_scale"
    scope: CaseScope = CaseScope()


@dataclass(frozen=True, kw_only=True)
class MeanUtilisation:
    """C2: mean hardware utilisation, read in two ways, of which both are shown: GPU only, and all resources."""

    threshold: float  # share, 0..1
    min_nodes: int = 1
    metric: UtilisationMetric = "both"
    scope: CaseScope = CaseScope()


@dataclass(frozen=True, kw_only=True)
class Criteria:
    """What an evaluation is judged by; None or empty = not asked for."""

    linear_speedup: LinearSpeedup | None = None
    mean_utilisation: MeanUtilisation | None = None
    fastest: bool = False  # C3: the fastest framework against the second, as information
    fastest_scope: CaseScope = CaseScope()
    targets: tuple[Target, ...] = ()

    def check(self, cases: Iterable[Case]) -> None:
        """Raises EvalsuiteError where a criterion is about none of *cases*."""
        known = list(cases)
        asked = (self.linear_speedup, self.mean_utilisation)
        for scope in (*(one.scope for one in asked if one), self.fastest_scope):
            scope.check(known)


def read(path: Path = DEFAULT) -> Criteria:
    """The criteria in the TOML file *path*. Raises EvalsuiteError, with the key, for whatever is wrong in it."""
    try:
        facts = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise EvalsuiteError(f"{path}: {error.strerror}; expected a criteria file like {EXAMPLE}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise EvalsuiteError(f"{path}: {error}; expected TOML like that of {EXAMPLE}.") from error
    return of(facts, str(path))


def of(facts: Mapping[str, object], where: str) -> Criteria:
    """The criteria in *facts*, the tables of the file *where*."""
    _known(facts, ("C1", "C2", "C3", "target"), where, "the tables")
    if not facts:
        raise EvalsuiteError(
            f"{where}: it asks for no criterion; expected one of the tables C1, C2, C3 or target at least, "
            f"as in {EXAMPLE}."
        )
    third = _Table(facts.get("C3", {}), f"{where}: [C3]", ("scope",))
    return Criteria(
        linear_speedup=_linear_speedup(facts["C1"], where) if "C1" in facts else None,
        mean_utilisation=_mean_utilisation(facts["C2"], where) if "C2" in facts else None,
        fastest="C3" in facts,
        fastest_scope=_scope(third),
        targets=_targets(facts.get("target", []), where),
    )


def _linear_speedup(facts: object, where: str) -> LinearSpeedup:
    table = _Table(facts, f"{where}: [C1]", ("metric", "threshold", "min_nodes", "aggregation", "scope"))
    table.word("metric", ("efficiency",), "efficiency")
    return LinearSpeedup(
        threshold=table.share("threshold"),
        min_nodes=table.whole("min_nodes"),
        aggregation=cast(Aggregation, table.word("aggregation", get_args(Aggregation), LinearSpeedup.aggregation)),
        scope=_scope(table),
    )


def _mean_utilisation(facts: object, where: str) -> MeanUtilisation:
    table = _Table(facts, f"{where}: [C2]", ("metric", "threshold", "min_nodes", "aggregation", "scope"))
    table.word("aggregation", ("every_scale",), "every_scale")
    least = table.whole("min_nodes") if "min_nodes" in table.facts else MeanUtilisation.min_nodes
    return MeanUtilisation(
        threshold=table.share("threshold"),
        min_nodes=least,
        metric=cast(UtilisationMetric, table.word("metric", get_args(UtilisationMetric), MeanUtilisation.metric)),
        scope=_scope(table),
    )


def _scope(criterion: "_Table") -> CaseScope:
    """The cases that a criterion is about, by its table `scope`."""
    table = _Table(criterion.facts.get("scope", {}), f"{criterion.where[:-1]}.scope]", AXES)
    named = {axis: table.texts(axis) for axis in AXES if axis in table.facts}
    return CaseScope(**named, where=table.where) if named else CaseScope()


def _targets(tables: object, where: str) -> tuple[Target, ...]:
    if not isinstance(tables, list):
        raise EvalsuiteError(f"{where}: target is no list of tables; each target begins with [[target]].")
    return tuple(_target(facts, f"{where}: [[target]] {place}") for place, facts in enumerate(tables, 1))


def _target(facts: object, where: str) -> Target:
    table = _Table(facts, where, ("model", "metric", "value", "epochs", "tolerance"))
    return Target(
        model=table.text("model"),
        metric=table.one_of("metric", METRICS),
        value=table.percent("value"),
        epochs=table.whole("epochs"),
        tolerance=table.points("tolerance", Target.tolerance),
    )


class _Table:
    """One table of the file, whose values are taken by key, each checked."""

    def __init__(self, facts: object, where: str, keys: tuple[str, ...]) -> None:
        if not isinstance(facts, Mapping):
            raise EvalsuiteError(f"{where}: {facts!r} stands there; expected a table, as in {EXAMPLE}.")
        self.facts, self.where = facts, where
        _known(facts, keys, where, "the keys")

    def text(self, key: str) -> str:
        found = self._given(key)
        if not isinstance(found, str) or not found.strip() or not found.isprintable():
            raise self._wrong(key, "a text")
        return found

    def one_of(self, key: str, allowed: tuple[str, ...]) -> str:
        found = self.text(key)
        if found not in allowed:
            raise self._wrong(key, f"one of {', '.join(allowed)}", did_you_mean(found, allowed))
        return found

    def word(self, key: str, allowed: tuple[str, ...], default: str) -> str:
        """One of a few words; *default* where none is given."""
        return self.one_of(key, allowed) if key in self.facts else default

    def texts(self, key: str) -> tuple[str, ...]:
        found = self._given(key)
        if not isinstance(found, list) or not found or not all(isinstance(each, str) and each for each in found):
            raise self._wrong(key, "a list of names")
        return tuple(found)

    def whole(self, key: str) -> int:
        found = self._given(key)
        if isinstance(found, bool) or not isinstance(found, int) or not 1 <= found <= MOST:
            raise self._wrong(key, f"a whole number, at least 1 and at most {MOST}")
        return found

    def share(self, key: str) -> float:
        """Above 0 and at most 1: 80 % is 0.8."""
        found = self._number(key)
        if found is None or not 0 < found <= 1:
            asked = f" Did you mean {found / 100:g}?" if found is not None and 1 < found <= 100 else ""
            raise self._wrong(key, "a share above 0 and at most 1", asked)
        return found

    def percent(self, key: str) -> float:
        """Above 0 and at most 100: 76 % is 76."""
        found = self._number(key)
        if found is None or not 0 < found <= 100:
            raise self._wrong(key, "per cent, above 0 and at most 100")
        if found <= 1:
            raise self._wrong(key, "per cent, such as 76.0", f" Did you mean {found * 100:g}?")
        return found

    def points(self, key: str, default: float) -> float:
        """A difference of two percentages; *default* where it is not given."""
        if key not in self.facts:
            return default
        found = self._number(key)
        if found is None or not 0 <= found <= 100:
            raise self._wrong(key, "points of per cent, at least 0")
        return found

    def _given(self, key: str) -> object:
        if key not in self.facts:
            raise EvalsuiteError(f'{self.where}: the key "{key}" is missing; expected one, as in {EXAMPLE}.')
        return self.facts[key]

    def _number(self, key: str) -> float | None:
        """None where none stands there, or one that is not finite."""
        found = self._given(key)
        if isinstance(found, bool) or not isinstance(found, int | float):
            return None
        try:
            return float(found) if math.isfinite(found) else None
        except OverflowError:  # a whole number beyond all floats
            return None

    def _wrong(self, key: str, expected: str, hint: str = "") -> EvalsuiteError:
        found = repr(self.facts[key])
        shown = found if len(found) <= LONGEST_SHOWN else f"{found[:LONGEST_SHOWN]}…"
        return EvalsuiteError(f"{self.where} {key} = {shown}; expected {expected}, as in {EXAMPLE}.{hint}")


LONGEST_SHOWN = 60  # characters of a value that an error quotes


def _known(facts: Mapping[str, object], keys: tuple[str, ...], where: str, what: str) -> None:
    for key in facts:
        if key not in keys:
            known = f"{what} are {', '.join(keys)}" if keys else "it has none"
            raise EvalsuiteError(f'{where}: unknown key "{key}"; {known}.{did_you_mean(key, keys, cutoff=0.5)}')
