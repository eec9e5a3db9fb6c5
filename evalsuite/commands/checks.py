"""A result as other programs read it, JUnit XML; and as a certificate: whether a report keeps its criteria, until when,
on which nodes, in both languages."""

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from evalsuite import __version__
from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import line, note
from evalsuite.core import files, paths, redaction
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.findings import OwnCriteria
from evalsuite.core.messages import LANGUAGES
from evalsuite.core.model import WORST_FIRST
from evalsuite.report.book.book import Book
from evalsuite.report.sections.verdict import cards
from evalsuite.report.text import names, words
from evalsuite.report.text.words import Words
from evalsuite.results.judge import criteria


@dataclass(frozen=True, kw_only=True)
class Check:
    name: str  # of a criterion of a report, or of a case of two
    outcome: str  # pass, fail, undetermined; record
    text: str


def of_criteria(book: Book, spoken: Words, language: str) -> list[Check]:
    checks = []
    for card in cards.cards(book, spoken):
        measured = f"{card.value} ({card.interval})" if card.interval else str(card.value or "")
        sentences = [each.plain(language) if each else "" for each in (card.statement, card.reason)]
        text = " · ".join(filter(None, (sentences[0], measured, sentences[1])))
        checks.append(Check(name=card.verdict.criterion, outcome=card.verdict.outcome, text=text))
    return checks


def fill(template: str, /, **facts: object) -> bytes:
    from evalsuite.report.page import templates

    known = {"say": say, "language": i18n.language(), "version": __version__, **facts}
    environment = templates.environment([paths.TEMPLATES / "services"])
    environment.filters["visible"] = names.visible
    text = environment.get_template(template).render(known)
    return redaction.redact(names.without_unseen(text)).encode("utf-8", "backslashreplace")


def tell(checks: Sequence[Check], arguments: argparse.Namespace) -> None:
    if arguments.junit:
        n = Counter(check.outcome for check in checks)
        files.write_named(arguments.junit, fill("junit.xml.j2", checks=checks, n=n))


def check_place(file: Path | None, *others: Path) -> None:
    if inside := [each for each in others if file and file.resolve().is_relative_to(each.resolve())]:
        raise EvalsuiteError.of("audit.inside", path=file, other=inside[0])


def certify(file: Path, book: Book, asked: Path, summary: Path) -> None:
    """*asked*: the file of criteria. *summary*: the report's `summary.json`, whose hash is its seal."""
    settings = criteria.read(asked)
    terms = settings.certificate
    own = [
        *(each.name for each in settings.criterion),
        *(each.differences for each in settings.findings(asked) if isinstance(each, OwnCriteria)),
    ]
    if book.period is None:
        raise EvalsuiteError.of("audit.no_day")
    last = book.period.last.date()
    runs = [run for row in book.summaries for run in row.measurements]
    missing = sorted({*terms.nodes} - {host for run in runs for host in run.hosts})
    in_languages = {each: of_criteria(book, words.read((each,), on_cpu=book.on_cpu), each) for each in LANGUAGES}
    outcomes = {check.outcome for check in in_languages[LANGUAGES[0]]} | ({"undetermined"} if missing else set())
    outcome = min(outcomes or {"undetermined"}, key=WORST_FIRST.index)
    until = last + timedelta(days=terms.valid_days)
    facts = {
        **{"hash": files.sha256(summary), "criteria": files.sha256(asked), "own": "; ".join(own)},
        "machines": ", ".join(sorted({str(run.environment) for run in runs if run.environment})),
        **{"measured_at": last, "valid_until": until, "missing": ", ".join(missing)},
    }
    read = {each: words.read((each,), words.TERMINAL) for each in LANGUAGES}
    spoken = {each: lambda key, each=each: read[each](f"certificate.{key}").plain(each) for each in LANGUAGES}
    page = fill("certificate.html.j2", outcome=outcome, facts=facts, checks=in_languages, spoken=spoken)
    files.write_named(file, page)
    line(say("certificate.whole_own" if own else "certificate.whole", outcome=outcome.upper(), until=until))
    note(say("report.written", path=file, size=f"{file.stat().st_size / 1e3:.1f} kB"))
