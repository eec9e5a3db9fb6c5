"""The table that `report` and `compare` print: a row for each case, by the short name that the page gives it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress

from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import excluded_by, line, table
from evalsuite.core.model import Case, Row, Summary, Unmeasured, by_key
from evalsuite.logs.formatting import rate
from evalsuite.report.book import blocks
from evalsuite.report.book.book import Book
from evalsuite.report.book.states import MARKS
from evalsuite.report.text import findings, names, numbers, words
from evalsuite.results.compare.decisions import flags

LEFT, RIGHT = ("framework", "model", "scale", "precision"), ("throughput", "range", "valid", "speedup", "efficiency")
COLUMNS, TITLED = (*LEFT, *RIGHT), ("model", "precision")  # these stand in the title where all rows share them
MOST_FLAGS, MOST_ROWS = 5, 3  # rules, and rows of one, that are named; the page has all


def show(results: Sequence[Row], book: Book) -> None:
    called = short_names([row.case for row in results], i18n.language())
    spoken = words.read((i18n.language(),), on_cpu=book.on_cpu)
    units = {row.unit for row in results if isinstance(row, Summary)}
    rows = [(called[row.case.id], *_where(row.case), *_numbers(row, book, len(units) > 1)) for row in results]
    differs = [len({row[place] for row in rows}) != 1 or len(rows) == 1 for place in range(len(COLUMNS))]
    kept = [name not in TITLED or differs[place] for place, name in enumerate(COLUMNS)]
    title = [text for row in rows[:1] for text in compress(row, (not own for own in kept))]
    title += units if len(units) == 1 else ()
    columns = [(say(f"columns.{name}"), "left" if name in LEFT else "right") for name in compress(COLUMNS, kept)]
    table(" · ".join(title), columns, [list(compress(row, kept)) for row in rows])
    measured = [row for row in results if isinstance(row, Summary)]
    for mark in dict.fromkeys(mark for row in measured for mark in book.marks(row) if mark != "flagged"):
        line(f"{MARKS[mark]} {spoken(f'status.{mark}').plain(i18n.language())}")
    for text in _flags(measured, called, spoken):
        line(text)


def _flags(measured: Sequence[Summary], called: Mapping[str, str], spoken: words.Words) -> Iterator[str]:
    several = len({row.case.model for row in measured}) > 1
    names = [" ".join([called[row.case.id], *([row.case.model] * several), row.case.scale]) for row in measured]
    rows_by_code = by_key((code, name) for row, name in zip(measured, names, strict=True) for code in flags(row))
    most_rows_first = sorted(rows_by_code.items(), key=lambda each: -len(each[1]))
    for code, rows in most_rows_first[:MOST_FLAGS]:
        many = len(rows) > MOST_ROWS
        where = say("report.of_rows", n=len(rows), rows=len(measured)) if many else spoken.listed(rows)
        yield say("report.flag", rule=findings.rule(code, spoken), code=code, where=where)
    if (more := len(rows_by_code) - MOST_FLAGS) > 0:
        yield say("report.more_flags", n=more)


def short_names(cases: Sequence[Case], language: str) -> dict[str, str]:
    """Case id → its framework, and the script and options that tell it from others of its model.

    Batch, steps and cores are shown only where rows would else be alike.
    """
    spoken, names_of = words.read((language,)), {}
    for model in dict.fromkeys(case.model for case in cases):
        alike = [case for case in cases if case.model == model]
        told = blocks.distinctions(alike)
        for case in alike:
            script = [case.recipe] if told[case.id].recipe is None and case.kind == "official" else []
            own = (each.plain(language) for each in told[case.id].names(spoken))
            names_of[case.id] = names.visible(" · ".join([names.framework(case.framework), *script, *own]))
    rows = Counter((names_of[case.id], *_where(case)) for case in cases)
    twins = [case for case in cases if rows[names_of[case.id], *_where(case)] > 1]
    return names_of | {case.id: " · ".join([names_of[case.id], *_run_with(case)]) for case in twins}


def _where(case: Case) -> tuple[str, str, str]:
    return case.model, case.scale, case.precision + ("+XLA" if case.xla else "")


def _run_with(case: Case) -> list[str]:
    cores = [f"c{case.cores_per_device}"] if case.cores_per_device else []
    steps = f"{case.protocol.warmup_steps}+{case.protocol.measured_steps}"
    return [names.bsz(case.series_batch, strong=case.strong_batch is not None), steps, *cores]


def _numbers(row: Row, book: Book, with_unit: bool) -> tuple[str, str, str, str, str]:
    if isinstance(row, Unmeasured):
        first = row.measurements[0]
        rule = excluded_by(first)
        said = say("run.excluded", finding=rule.code) if rule else i18n.status(first.status)
        return said, "—", f"0/{len(row.measurements)}", "—", "—"
    if row.base == row.case:
        speedup, efficiency = say("report.base", scale=row.case.scale), "—"
    else:
        speedup = f"{row.speedup.value:.2f}x" if row.speedup else "—"
        efficiency = numbers.beside(book.efficiency_threshold)(row.efficiency.value).text if row.efficiency else "—"
    marks = "".join(MARKS[mark] for mark in book.marks(row))
    low, high = row.items_per_s.low, row.items_per_s.high
    return (
        " ".join(filter(None, (rate(row.items_per_s.value), row.unit * with_unit, marks))),
        "—" if low is None or high is None else f"{rate(low)}–{rate(high)}",
        f"{row.n}/{len(row.measurements)}",
        speedup,
        efficiency,
    )
