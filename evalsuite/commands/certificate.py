"""`report --certificate FILE`: whether a report keeps its criteria, until when, on which nodes, in both languages."""

from datetime import timedelta
from pathlib import Path

from evalsuite.commands import checks
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import line, note
from evalsuite.core import files
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.findings import OwnCriteria
from evalsuite.core.messages import LANGUAGES
from evalsuite.core.model import WORST_FIRST
from evalsuite.report.book.book import Book
from evalsuite.report.text import words
from evalsuite.results.judge import criteria


def check(file: Path | None, report: Path) -> None:
    if file and file.resolve().is_relative_to(report.resolve()):
        raise EvalsuiteError.of("audit.inside", path=file, report=report)


def write(file: Path, book: Book, asked: Path, summary: Path) -> None:
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
    in_languages = {each: checks.of_criteria(book, words.read((each,), on_cpu=book.on_cpu), each) for each in LANGUAGES}
    outcomes = {check.outcome for check in in_languages[LANGUAGES[0]]} | ({"undetermined"} if missing else set())
    outcome = min(outcomes or {"undetermined"}, key=WORST_FIRST.index)
    until = last + timedelta(days=terms.valid_days)
    facts = {
        "hash": files.sha256(summary),
        "criteria": files.sha256(asked),
        "own": "; ".join(own),
        "machines": ", ".join(sorted({str(run.environment) for run in runs if run.environment})),
        "measured_at": last,
        "valid_until": until,
        "missing": ", ".join(missing),
    }
    read = {each: words.read((each,), words.TERMINAL) for each in LANGUAGES}
    spoken = {each: lambda key, each=each: read[each](f"certificate.{key}").plain(each) for each in LANGUAGES}
    page = checks.fill("certificate.html.j2", outcome=outcome, facts=facts, checks=in_languages, spoken=spoken)
    files.write_named(file, page)
    line(say("certificate.whole_own" if own else "certificate.whole", outcome=outcome.upper(), until=until))
    note(say("report.written", path=file, size=f"{file.stat().st_size / 1e3:.1f} kB"))
