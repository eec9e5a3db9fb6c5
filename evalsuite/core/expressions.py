"""Columns and criteria of one's own: arithmetic over the fields of a case, in a spec or a file of criteria.
`items_per_s / total_devices`, `peak_memory_sampled_bytes < 70e9`: of Python's grammar numbers, names, + - * /, brackets
and one comparison."""

import ast
import math
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated

from evalsuite.core import paths
from evalsuite.core.decode import NAMES_ONCE, Constraint, From, Many, Word, between
from evalsuite.core.errors import EvalsuiteError, did_you_mean

SIZES = ("nodes", "devices_per_node", "total_devices", "batch_per_device", "global_batch")
WITH_INTERVAL = ("items_per_s", "items_per_s_per_device", "speedup", "efficiency")
UTILISATION = tuple(f"{name}_utilisation" for name in ("gpu", "cpu", "memory"))  # 1.0 is all
KNOWN = (*SIZES, *WITH_INTERVAL, "n", "cv", *UTILISATION, *paths.read_data("text/columns.toml"))
HOUSE_WORDS = (  # what readers take for a figure or criterion of ours
    *(*KNOWN, "C1", "C2", "C2a", "C2b", "C3", "throughput", "utilisation", "linear_speedup", "scaling_efficiency"),
    *("mean_hardware_utilisation", "吞吐率", "加速比", "线性加速比", "扩展效率", "平均硬件使用率"),
)
LONGEST, TRIES = 300, 512
_LEVELS: Mapping[str, tuple[float, ...]] = {  # of a field: what holds at all of them decides nothing
    **dict.fromkeys(KNOWN, (1e-9, 1.0, 1e3, 1e12)),
    **dict.fromkeys((*SIZES, "n"), (1, 8, 1_000_000)),
    **dict.fromkeys(("cv", "mfu", *UTILISATION), (0.0, 0.05, 0.5, 1.0)),
    "efficiency": (0.01, 0.5, 1.0, 2.0),
}
_PARTS = (ast.BinOp, ast.UnaryOp, ast.Name, ast.Load, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.USub)
_SIGNS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
Fields = Mapping[str, float | None]


@cache
def _sides(text: str) -> tuple[ast.expr, ...]:
    body = ast.parse(text.strip(), mode="eval").body
    compares = isinstance(body, ast.Compare) and len(body.ops) == 1 and isinstance(body.ops[0], _SIGNS)
    return (body.left, body.comparators[0]) if isinstance(body, ast.Compare) and compares else (body,)


def names(text: str) -> frozenset[str]:
    return frozenset(node.id for side in _sides(text) for node in ast.walk(side) if isinstance(node, ast.Name))


def values(text: str, fields: Fields) -> tuple[float, ...] | None:
    """Of the expression, or of both sides of a comparison; None: a field is not measured, 0 divides, or the result is
    no number that can be written."""
    if any(fields[name] is None for name in names(text)):
        return None
    try:  # of what `_checked` has let through
        found = [float(eval(compile(ast.Expression(side), text, "eval"), {}, {**fields})) for side in _sides(text)]
    except (ZeroDivisionError, OverflowError):
        return None
    return tuple(found) if all(map(math.isfinite, found)) else None


def lacking(text: str, fields: Fields) -> tuple[str, ...]:
    """What an expression without a value lacks; all that it names where 0 divides."""
    named = sorted(names(text))
    return tuple(name for name in named if fields[name] is None) or tuple(named) or (text,)


def holds(text: str, fields: Fields) -> bool:
    return bool(eval(compile(text.strip(), text, "eval"), {}, {**fields}))


def is_arithmetic(text: str, sides: int = 1) -> bool:
    try:
        parts = _sides(text) if len(text) <= LONGEST else ()
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return len(parts) == sides and all(
        isinstance(node, _PARTS) or (isinstance(node, ast.Constant) and type(node.value) in (int, float))
        for side in parts
        for node in ast.walk(side)
    )


def _decides(text: str, sides: int) -> bool:
    """Whether an expression has a value for some that its fields can have; a comparison both holds and fails."""
    chance, outcomes = random.Random(0), set[bool]()
    for _ in range(TRIES):
        drawn = {name: chance.choice(levels) for name, levels in _LEVELS.items()}
        drawn["total_devices"] = drawn["nodes"] * drawn["devices_per_node"]
        drawn["global_batch"] = drawn["batch_per_device"] * drawn["total_devices"]
        drawn["items_per_s"] = drawn["items_per_s_per_device"] * drawn["total_devices"]
        if values(text, drawn) is not None:
            outcomes.add(sides == 1 or holds(text, drawn))
        if len(outcomes) == sides:
            return True
    return False


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold()).replace("z", "s")


def _own_name(name: str) -> str:
    """Of a column or criterion. Raises EvalsuiteError where it is that of a figure or a criterion of evalsuite."""
    if {_plain(name), *map(_plain, re.findall(r"\b[Cc]\d\w?\b", name))} & set(map(_plain, HOUSE_WORDS)):
        raise EvalsuiteError.of("core.house_name", name=name, other=f"lab_{re.sub(r'[^a-z0-9]+', '_', name.lower())}")
    return name


def _checked(text: str, sides: int) -> str:
    if not is_arithmetic(text, sides):
        raise EvalsuiteError.of("core.expression_compares" if sides == 2 else "core.expression", text=text[:LONGEST])
    for name in sorted(names(text) - set(KNOWN)):
        raise EvalsuiteError.of("core.expression_field", name=name, names=KNOWN, near=did_you_mean(name, KNOWN))
    if not _decides(text, sides):
        raise EvalsuiteError.of(f"core.expression_{'decides_nothing' if sides == 2 else 'never'}", text=text.strip())
    return text.strip()


ColumnName = Annotated[str, Constraint("column_name", re.compile(r"[a-z][a-z0-9_]{0,40}").fullmatch)]


@dataclass(frozen=True, kw_only=True)
class OwnColumn:
    name: Annotated[str, From(ColumnName, _own_name)]
    value: Annotated[str, From(str, lambda text: _checked(text, 1))]
    unit: Word = ""


@dataclass(frozen=True, kw_only=True)
class OwnCriterion:
    """`[[criterion]]`: must hold for each case that it is about."""

    name: Annotated[str, From(Word, _own_name)]
    holds: Annotated[str, From(str, lambda text: _checked(text, 2))]
    frameworks: Many[Word] = ()
    models: Many[Word] = ()
    min_nodes: Annotated[int, between(1, 1_000_000)] = 1

    def is_about(self, framework: str, model: str, nodes: int) -> bool:
        chosen = (self.frameworks, framework), (self.models, model)
        return nodes >= self.min_nodes and all(not names or name in names for names, name in chosen)


OwnColumns = Annotated[tuple[OwnColumn, ...], NAMES_ONCE]
OwnCriterions = Annotated[tuple[OwnCriterion, ...], NAMES_ONCE]
