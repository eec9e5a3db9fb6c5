"""Published tables recomputed: what follows from other figures of a row, or of the smallest scale of its table.

A table set is a folder with `figures.csv` and `rules.toml` (docs/evidence.md#published-tables).
"""

import contextlib
import csv
import io
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evalsuite.core import decode, expressions, files, paths
from evalsuite.core.errors import Contradicts, EvalsuiteError, Gone

RULES, FIGURES = "rules.toml", "figures.csv"
SOURCES = paths.DATA / "reference" / "recomputed"
EXAMPLE = SOURCES / "elasticdl" / RULES
FIGURE = re.compile(r"(\d+(?:\.(\d+))?)(?:±(\d+(?:\.\d+)?))?")  # as it is printed; or read off a chart, with its error
BASE = "base_"  # before a name: of the row with the fewest devices in its table
HOLDS = {"=": lambda low, high, ends: low <= ends[1] and ends[0] <= high}
HOLDS |= {">=": lambda low, high, ends: high >= ends[0], "<=": lambda low, high, ends: low <= ends[1]}


@dataclass(frozen=True, kw_only=True)
class Rule:
    figure: str  # a column
    compare: Literal["=", ">=", "<="] = "="
    value: str  # arithmetic on columns


@dataclass(frozen=True, kw_only=True)
class TableSet:
    title: str
    source: str
    rule: tuple[Rule, ...]


@dataclass(frozen=True, kw_only=True)
class Recomputed:
    table: str
    place: str
    devices: str
    figure: str
    printed: str
    value: float
    holds: bool  # by the digits that are printed
    rule: str


def read(folder: Path) -> tuple[TableSet, Sequence[Mapping[str, str]]]:
    """Raises EvalsuiteError, for a row cut short Contradicts, without figures Gone."""
    rules, figures = folder / RULES, folder / FIGURES
    tables = decode.decode(TableSet, decode.read_toml(rules, str(EXAMPLE)), rules, strict=True)
    for rule in tables.rule:
        if not expressions.is_arithmetic(rule.value):
            raise EvalsuiteError.of("results.no_arithmetic", path=rules, text=rule.value)
    if not files.is_file(figures):
        raise Gone.of("results.no_figures", path=figures)
    rows = list(csv.DictReader(io.StringIO(files.read_text(figures))))
    named = {name.removeprefix(BASE) for rule in tables.rule for name in (rule.figure, *expressions.names(rule.value))}
    if not rows or not {"table", "devices", *named} <= rows[0].keys():
        raise EvalsuiteError.of("results.no_figures", path=figures)
    for line, row in enumerate(rows, 2):
        if None in {*row, *row.values()}:
            raise Contradicts.of("results.row_cut", path=figures, line=line)
        if not all(_ends(row[name]) or (name in named and not row[name]) for name in {"devices", *named}):
            raise EvalsuiteError.of("results.no_printed_figure", path=figures, line=line)
    return tables, rows


def recompute(rules: TableSet, rows: Sequence[Mapping[str, str]]) -> Iterator[Recomputed]:
    bases: dict[str, Mapping[str, str]] = {}
    for row in sorted(rows, key=lambda row: float(row["devices"])):
        bases.setdefault(row["table"], row)
    for row, rule in itertools.product(rows, rules.rule):
        values = {name: _ends(text) for name, text in row.items()}
        values |= {f"{BASE}{name}": _ends(text) for name, text in bases[row["table"]].items()}
        known = {name: values.get(name) for name in (rule.figure, *expressions.names(rule.value))}
        if None not in known.values():
            with contextlib.suppress(ZeroDivisionError, OverflowError):
                yield _of(row, rule, {name: ends for name, ends in known.items() if ends})


def _of(row: Mapping[str, str], rule: Rule, known: Mapping[str, tuple[float, float]]) -> Recomputed:
    printed = known[rule.figure]
    corners = [dict(zip(known, corner, strict=True)) for corner in itertools.product(*known.values())]
    middle = {name: sum(ends) / 2 for name, ends in known.items()}
    low, *_, high = sorted(_evaluate(rule.value, corner) for corner in corners)
    return Recomputed(
        table=row["table"],
        place=row.get("place") or "",
        devices=row["devices"],
        figure=rule.figure,
        printed=row[rule.figure],
        value=_evaluate(rule.value, middle),
        holds=HOLDS[rule.compare](*printed, (low, high)),
        rule=f"{rule.compare} {rule.value}",
    )


def _evaluate(text: str, values: Mapping[str, float]) -> float:
    return float(eval(text, {"__builtins__": {}}, dict(values)))


def _ends(text: str | None) -> tuple[float, float] | None:
    match = FIGURE.fullmatch(text or "")
    if not match:
        return None
    half = float(match[3]) if match[3] else 0.5 * 10 ** -len(match[2] or "")
    return float(match[1]) - half, float(match[1]) + half
