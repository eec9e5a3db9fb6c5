"""What a reader must know before any number, a line each, and how much of the plan is valid."""

from dataclasses import replace

from evalsuite.core.findings import BusyMachine, OwnCriteria
from evalsuite.core.model import Protocol
from evalsuite.report.book.book import Book
from evalsuite.report.book.tally import COUNTS
from evalsuite.report.sections.background.background import RULES
from evalsuite.report.text import names, numbers
from evalsuite.report.text.words import Rendered, Text, Words
from evalsuite.results.compare.decisions import PUBLISHED
from evalsuite.results.measure.summary import FULL_REPEATS, MOST_REPEATS


def notices(book: Book, words: Words) -> list[tuple[str, Rendered]]:
    """(kind, line)"""
    valid = {"all": numbers.count(len(book.valid))}
    lines: list[tuple[str, Text | None, str]] = [("since", _since(book, words), COUNTS)]
    for finding in book.evaluation.findings:
        if isinstance(finding, OwnCriteria):
            values = {"file": names.visible(finding.where), "differences": names.visible(finding.differences)}
            lines.append(("criteria", words("notices.own_criteria", **values), COUNTS))
    if book.evaluation.recorded_elsewhere:
        lines.append(("recorded", words("notices.recorded_elsewhere"), COUNTS))
    if cited := sum(row.origin in PUBLISHED for row in book.valid):
        key = f"notices.cited{'_all' * (cited == len(book.valid))}"
        lines.append(("cited", words.pick(key, {"cited": numbers.count(cited), **valid}), COUNTS))
    if printed := sum(row.grounds == "printed" for row in book.valid):
        lines.append(("printed", words("notices.printed", printed=numbers.count(printed), **valid), COUNTS))
    busy = [finding.others for run in book.measurements for finding in run.findings if isinstance(finding, BusyMachine)]
    lines.append(("profile", _short(book, words), RULES))
    if busy:
        counts = {"busy": numbers.count(len(busy)), "all": numbers.count(len(book.measurements))}
        lines.append(("busy", words("notices.busy", most=numbers.percent(max(busy)), **counts), COUNTS))
    shared = (case for case in book.planned if case.device == "cpu" and case.cores_per_device is None)
    processes = max((case.devices_per_node for case in shared), default=0)
    if processes > 1:
        lines.append(("cores", words("notices.shared_cores", processes=numbers.count(processes)), RULES))
    return [(kind, line.about(ref)) for kind, line, ref in lines if line]


def _since(book: Book, words: Words) -> Text | None:
    change = book.evaluation.since
    if change is None:
        return None
    of_all = sum(n for _, n in change.outcomes)
    counts = {"all": numbers.count(of_all).about(COUNTS)}
    parts = [words("notices.since_order")] if change.ordered and not change.reordered else []
    if change.reordered:
        parts = [words("notices.since_reordered", models=words.listed(map(names.model, change.reordered)))]
    for outcome, n in change.outcomes:
        parts.append(words(f"notices.since_{outcome}", n=numbers.count(n).about(COUNTS), **counts))
    if not of_all:
        parts.append(words("notices.since_none"))
    if any(change.disturbed):
        then, now = map(numbers.count, change.disturbed)
        parts.append(words("notices.since_disturbed", before=then, after=now))
    said = words.clauses(parts)
    if change.at is None:
        return words("notices.since_earlier", parts_text=said)
    return words("notices.since", date=names.minute(change.at), parts_text=said)


def _short(book: Book, words: Words) -> Text | None:
    """How much shorter the shortest protocol is than the full one, in steps or repeats."""
    protocols = sorted((case.protocol.measured_steps, case.protocol.warmup_steps) for case in book.planned)
    if not protocols or not book.valid:
        return None
    (measured, warmup), full, repeats = protocols[0], Protocol(), book.evaluation.repeats
    if measured >= full.measured_steps and warmup >= full.warmup_steps and repeats >= FULL_REPEATS:
        return None
    return words(
        "notices.short",
        measured=replace(numbers.count(measured), text="–".join(dict.fromkeys((str(measured), str(protocols[-1][0]))))),
        repeats=numbers.count(repeats),
        full_measured=numbers.count(full.measured_steps),
        full_repeats=numbers.count(FULL_REPEATS),
        most_repeats=numbers.count(MOST_REPEATS),
    )
