"""`evalsuite certify`: a finished report against thresholds, as one page in both languages, JSON and JUnit."""

import argparse
import functools
import math
from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal

from evalsuite.audit import certificate
from evalsuite.audit.certificate import Certificate, Check
from evalsuite.commands.evidence import audit
from evalsuite.commands.operations import checks
from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import aligned, line, note, print_json
from evalsuite.core import files
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.messages import ENGLISH, LANGUAGES
from evalsuite.report.data import finished
from evalsuite.report.text import words

_words = functools.cache(words.read)
CODES = {"PASS": Exit.DONE, "RECORD": Exit.DONE, "FAIL": Exit.CRITERION_FAILED, "UNDETERMINED": Exit.UNDETERMINED}


def run(arguments: argparse.Namespace) -> int:
    asked = certificate.read(arguments.thresholds)
    facts, wrong = audit.checked(arguments)
    if wrong:
        return audit.print_wrong(wrong)
    seal = files.sha256(arguments.report / finished.SUMMARY)
    issued = certificate.certify(facts, asked, seal=seal, sha256=files.sha256(arguments.thresholds))
    folder = arguments.report.resolve()
    out = arguments.out or folder.parent / "certificate"
    if folder in (out.resolve(), *out.resolve().parents):
        raise EvalsuiteError.of("audit.inside", path=out, report=arguments.report)
    document = {**issued.document, "hash": issued.short_hash}
    files.write_named(out / "certificate.html", _page(issued))
    files.write_json(out / "certificate.json", document)
    files.write_named(out / "junit.xml", _junit(issued))
    if arguments.json:
        print_json(document)
        return CODES[issued.outcome]
    _print(issued)
    if not issued.measured_at <= (today := str(datetime.now(UTC).date())) <= issued.valid_until:
        note(say("certificate.not_today", today=today, since=issued.measured_at, until=issued.valid_until))
    note(say("certificate.written", path=out / "certificate.html", hash=issued.short_hash))
    return CODES[issued.outcome]


def _print(certificate: Certificate) -> None:
    every = certificate.checks
    rows = [[check.outcome, check.name, check.case, measured(check), limit(check), why(check)] for check in every]
    columns = ("outcome", "criterion", "case", "measured", "limit", "reason")
    aligned([[say(f"certificate.{name}") for name in columns], *rows])
    line(say("certificate.whole", outcome=certificate.outcome, until=certificate.valid_until))
    if certificate.failing:
        line(f"{say('certificate.failing')}: {', '.join(certificate.failing)}")
        line(f"--exclude={','.join(certificate.failing)}")


def _page(certificate: Certificate) -> bytes:
    facts = {"languages": LANGUAGES, "say": _in, "why": why, "measured": measured, "limit": limit}
    return checks.fill("certificate.html.j2", certificate=certificate, **facts)


def _junit(certificate: Certificate) -> bytes:
    cases = [
        checks.Check(
            name=f"{check.name} · {check.case or check.holds}",
            outcome=check.outcome.lower(),
            text=f"{check.holds}: {measured(check)}; {why(check, ENGLISH)}",
        )
        for check in certificate.checks
    ]
    counted = Counter(check.outcome for check in cases)
    return checks.fill("junit.xml.j2", checks=cases, n=counted, suite=f"evalsuite certify {certificate.short_hash}")


def _in(key: str, language: str, **values: object) -> str:
    return _words(LANGUAGES, words.TERMINAL)(f"certificate.{key}", **values).plain(language)


def why(check: Check, language: str = "") -> str:
    fields = {"fields": ", ".join(check.fields)} if check.fields else {}
    return _in(f"why_{check.reason}", language or i18n.language(), **fields)


def measured(check: Check) -> str:
    value, low, high = (check.measured.get(end) for end in certificate.ENDS)
    if value is None:
        return "–"
    if low is None or high is None or low == high:
        return _printed(value, check)
    return f"{_printed(value, check)} [{_printed(low, check)}, {_printed(high, check)}]"


def _printed(value: float, check: Check) -> str:
    """In four digits, or in as many as tell on which side of the limit it lies."""
    held = math.inf if check.limit is None else check.limit
    shown = (Decimal(f"{value:.{digits}g}") for digits in range(4, 18))
    return f"{next(text for text in shown if (float(text) < held) == (value < held)):,f}"


def limit(check: Check) -> str:
    return "–" if check.limit is None else f"{check.limit:,.12g}"
