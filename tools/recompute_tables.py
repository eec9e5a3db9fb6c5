"""Published tables recomputed: what follows from other figures of a row, or of the smallest scale of its table.

python tools/recompute_tables.py [FOLDER…] prints what does not agree; a folder has `figures.csv` and `rules.toml`, as
those of data/reference/recomputed. Each figure is taken as any value that would have been printed so.
"""

import contextlib
import itertools
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalsuite.core import expressions, paths

SOURCES = paths.DATA / "reference" / "recomputed"
FIGURE = re.compile(r"(\d+(?:\.(\d+))?)(?:±(\d+(?:\.\d+)?))?")  # as it is printed; or read off a chart, with its error
BASE = "base_"  # before a name: of the row with the fewest devices in its table
HOLDS = {
    "=": lambda low, high, ends: low <= ends[1] and ends[0] <= high,
    ">=": lambda low, high, ends: high >= ends[0],
    "<=": lambda low, high, ends: low <= ends[1],
}
Row = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Recomputed:
    table: str
    devices: str
    figure: str
    printed: str
    value: float
    holds: bool  # by the digits that are printed
    rule: str


def read(folder: Path) -> tuple[list[Mapping[str, Any]], list[Row]]:
    """The rules and the rows of a table set. Raises ValueError for a rule that is no arithmetic or a row cut short."""
    rules = tomllib.loads((folder / "rules.toml").read_text(encoding="utf-8"))["rule"]
    rows = paths.read_rows(folder / "figures.csv")
    for rule in rules:
        if not expressions.is_arithmetic(rule["value"]):
            raise ValueError(f"{folder}/rules.toml: {rule['value']!r} is no arithmetic on columns")
    for line, row in enumerate(rows, 2):
        if None in {*row, *row.values()}:
            raise ValueError(f"{folder}/figures.csv, line {line}: other columns than the first line")
    return rules, rows


def recompute(rules: Sequence[Mapping[str, Any]], rows: Sequence[Row]) -> Iterator[Recomputed]:
    bases: dict[str, Row] = {}
    for row in sorted(rows, key=lambda row: float(row["devices"])):
        bases.setdefault(row["table"], row)
    for row, rule in itertools.product(rows, rules):
        values = {name: _ends(text) for name, text in row.items()}
        values |= {f"{BASE}{name}": _ends(text) for name, text in bases[row["table"]].items()}
        known = {name: values[name] for name in (rule["figure"], *expressions.names(rule["value"]))}
        if None not in known.values():
            with contextlib.suppress(ZeroDivisionError, OverflowError):
                yield _recomputed(row, rule, {name: ends for name, ends in known.items() if ends})


def _recomputed(row: Row, rule: Mapping[str, Any], known: Mapping[str, tuple[float, float]]) -> Recomputed:
    corners = [dict(zip(known, corner, strict=True)) for corner in itertools.product(*known.values())]
    low, *_, high = sorted(_evaluate(rule["value"], corner) for corner in corners)
    compare = rule.get("compare", "=")
    return Recomputed(
        table=row["table"],
        devices=row["devices"],
        figure=rule["figure"],
        printed=row[rule["figure"]],
        value=_evaluate(rule["value"], {name: sum(ends) / 2 for name, ends in known.items()}),
        holds=HOLDS[compare](*known[rule["figure"]], (low, high)),
        rule=f"{compare} {rule['value']}",
    )


def _evaluate(text: str, values: Mapping[str, float]) -> float:
    return float(eval(text, {"__builtins__": {}}, dict(values)))


def _ends(text: str) -> tuple[float, float] | None:
    match = FIGURE.fullmatch(text)
    if not match:
        return None
    half = float(match[3]) if match[3] else 0.5 * 10 ** -len(match[2] or "")
    return float(match[1]) - half, float(match[1]) + half


if __name__ == "__main__":
    for folder in map(Path, sys.argv[1:] or sorted(SOURCES.iterdir())):
        figures = list(recompute(*read(folder)))
        print(f"{folder.name}: {len(figures)} figures follow from others")
        for each in figures:
            if not each.holds:
                place = f"{each.table}, {each.devices}: {each.figure}"
                print(f"  {place} {each.printed} is not {each.rule} = {each.value:.6g}")
