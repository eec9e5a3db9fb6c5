"""The dialect of a script that one example of its lines shows: `line = "it 00012 | 20146.2 tok/s"`.

Where its words do not say what counts the steps, {step} stands for that number: `line = "[round {step}] 46.1 ms"`.
"""

import re
from dataclasses import replace

from evalsuite.contracts.dialect import Dialect, Scope
from evalsuite.core.errors import EvalsuiteError
from evalsuite.logs.unknown import groups, roles, words

MARK, MARKED = "{step}", "12"


def dialect(line: str, name: str, wanted: str, scope: Scope | None) -> Dialect:
    """Raises EvalsuiteError where no number in the line counts steps: the clock and the batch give the rate."""
    columns, chosen, unit, whose, kilo = _look_at(line)
    if "rate" in chosen and unit != wanted:
        raise EvalsuiteError.of("logs.example_unit", line=line, unit=unit, wanted=wanted)
    for group, label in (("seconds", words.PER_STEP), ("loss", re.compile(r"\bloss\b"))):
        found = (column for column in columns.values() if column not in chosen.values())
        if column := next((each for each in found if label.search(each[0].words)), None):
            chosen[group] = column
    fields, chosen = groups.scale_to_groups(chosen, kilo)
    pattern, sample = groups.pattern_of(chosen, ()), line.replace(MARK, MARKED).encode()
    made = groups.declare(pattern, sample, fields, unit=wanted, restart="epoch" in chosen)
    return replace(made, name=name, title=name, scope=scope or ("auto" if whose == "unstated" else whose))


def unit_of(line: str) -> str | None:
    """What its rate counts; None if it has no rate. Raises EvalsuiteError."""
    _, chosen, unit, *_ = _look_at(line)
    return unit if "rate" in chosen else None


def _look_at(line: str) -> tuple[roles.Columns, roles.Chosen, str, Scope, float]:
    columns = roles.columns_of([line.replace(MARK, MARKED).encode()])
    chosen = _counters(columns, len(line.partition(MARK)[0].encode()))
    if "step" not in chosen:
        raise EvalsuiteError.of("logs.example_no_step", line=line)
    return columns, chosen, *roles.choose_rate(columns, chosen)


def _counters(columns: roles.Columns, marked: int) -> roles.Chosen:
    """Of one line: the *marked*, what is called a step, a share (12/100), the first whole number without a word."""
    whole = [column for column in columns.values() if re.fullmatch(rb"\d+", column[0].text)]
    epochs = [column for column in whole if words.EPOCH.search(column[0].label)]
    steps = [column for column in whole if column not in epochs and not words.RATE.search(column[0].words)]
    called = [column for column in steps if column[0].start == marked]
    called += [column for column in steps if words.COUNTER.search(column[0].label)]
    shares = [column for column in steps if re.match(rb"\s?(?:/|of )\s?\d|\s?/\s*$", column[0].tail)]
    bare = [column for column in steps if not column[0].label]
    chosen = {"step": next(iter((*called, *shares, *bare)), None), "epoch": next(iter(epochs), None)}
    return {name: column for name, column in chosen.items() if column}
