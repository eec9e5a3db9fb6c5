"""Columns and criteria of one's own: arithmetic over the fields of a case, in a spec or a file of criteria.

`items_per_s / total_devices`, `peak_memory_sampled_bytes < 70e9`: of Python's grammar numbers, names, + - * /, brackets
and one comparison.
"""

import ast
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
LONGEST = 300
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
    """Of the expression, or of both sides of a comparison; None: a field is not measured, or 0 divides."""
    if any(fields[name] is None for name in names(text)):
        return None
    try:  # of what `_checked` has let through
        return tuple(float(eval(compile(ast.Expression(side), text, "eval"), {}, {**fields})) for side in _sides(text))
    except (ZeroDivisionError, OverflowError):
        return None


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


def _checked(text: str, sides: int) -> str:
    if not is_arithmetic(text, sides):
        raise EvalsuiteError.of("core.expression_compares" if sides == 2 else "core.expression", text=text[:LONGEST])
    for name in sorted(names(text) - set(KNOWN)):
        raise EvalsuiteError.of("core.expression_field", name=name, names=KNOWN, near=did_you_mean(name, KNOWN))
    return text.strip()


@dataclass(frozen=True, kw_only=True)
class OwnColumn:
    name: Annotated[str, Constraint("column_name", re.compile(r"[a-z][a-z0-9_]{0,40}").fullmatch)]
    value: Annotated[str, From(str, lambda text: _checked(text, 1))]
    unit: Word = ""


@dataclass(frozen=True, kw_only=True)
class OwnCriterion:
    """`[[criterion]]`: must hold for each case that it is about."""

    name: Word
    holds: Annotated[str, From(str, lambda text: _checked(text, 2))]
    frameworks: Many[Word] = ()
    models: Many[Word] = ()
    min_nodes: Annotated[int, between(1, 1_000_000)] = 1

    def is_about(self, framework: str, model: str, nodes: int) -> bool:
        chosen = (self.frameworks, framework), (self.models, model)
        return nodes >= self.min_nodes and all(not names or name in names for names, name in chosen)


OwnColumns = Annotated[tuple[OwnColumn, ...], NAMES_ONCE]
OwnCriterions = Annotated[tuple[OwnCriterion, ...], NAMES_ONCE]
