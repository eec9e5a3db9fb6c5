"""A lab's document and the problems it keeps, read from the tables of its TOML file and checked."""

import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import urlsplit

from evalsuite.authored import from_table, shown
from evalsuite.errors import EvalsuiteError, did_you_mean
from evalsuite.lab import BothLanguages, KeptProblem, LabDocument, Platform
from evalsuite.report.book.outline import ORDERED, TIANSHU_FIXED

PLACE = re.compile(r"\{(\w+)(?::([^{}|]+))?(?:\|([^{}]*))?\}")  # of a computed number in a text
SIZE = re.compile(r"[1-9]\d{0,4}x[1-9]\d{0,3}")
PARAGRAPHS = re.compile(r"\n\s*\n")


def document(table: object, where: str) -> LabDocument:
    """The document that *table* declares. Raises EvalsuiteError with the key of the first mistake in it."""
    found = from_table(LabDocument, table, where)
    if found.platform:
        _check_platform(found.platform, f"{where}: platform")
    _check_order(found, f"{where}: order")
    _check_texts(texts(found, ()), where)
    return found


def problems(tables: Sequence[object], where: str) -> tuple[KeptProblem, ...]:
    """The problems in *tables*. Raises EvalsuiteError with the number and the key of the first mistake in them."""
    found = tuple(from_table(KeptProblem, table, f"{where} {place}") for place, table in enumerate(tables, 1))
    for place, problem in enumerate(found, 1):
        if problem.status == "closed" and problem.answer is None:
            raise EvalsuiteError(
                f'{where} {place}: status = "closed" without an answer; expected answer = {{ zh = …, en = … }}, '
                'or the status "open".'
            )
        if problem.asked and problem.answered and problem.answered < problem.asked:
            raise EvalsuiteError(
                f"{where} {place}: answered = {problem.answered} lies before asked = {problem.asked}; expected a day "
                "after it. Are the two exchanged?"
            )
    _check_texts(texts(None, found), where)
    return found


def paragraphs(text: BothLanguages) -> tuple[BothLanguages, ...]:
    """*text*, one for each paragraph."""
    parts = (PARAGRAPHS.split(text.zh), PARAGRAPHS.split(text.en))
    return tuple(BothLanguages(zh=zh.strip(), en=en.strip()) for zh, en in zip(*parts, strict=True))


def texts(document: LabDocument | None, problems: Iterable[KeptProblem]) -> Iterator[BothLanguages]:
    """Every text in which computed numbers may stand."""
    if document:
        yield from document.expected
        if document.platform and document.platform.text:
            yield document.platform.text
        yield from (section.text for section in document.sections)
    for problem in problems:
        yield problem.question
        if problem.answer:
            yield problem.answer


def _check_texts(found: Iterable[BothLanguages], where: str) -> None:
    for text in found:
        places = [sorted(match[0] for match in PLACE.finditer(one)) for one in (text.zh, text.en)]
        if places[0] != places[1]:
            raise EvalsuiteError(
                f"{where}: {shown(text.en)} has the numbers {places[1]} and the Chinese text {places[0]}; "
                "expected the same."
            )
        counts = [len(PARAGRAPHS.split(one)) for one in (text.zh, text.en)]
        if counts[0] != counts[1]:
            raise EvalsuiteError(
                f"{where}: {shown(text.en)} has {counts[1]} paragraphs and the Chinese text {counts[0]}; expected as "
                "many. An empty line parts two of them."
            )


def _check_platform(platform: Platform, where: str) -> None:
    for size in platform.sizes:
        if not SIZE.fullmatch(size):
            raise EvalsuiteError(
                f"{where}: sizes has {shown(size)}; expected nodes x devices per node, such as 1x1 or 4x8."
            )
    for link in platform.links:
        if not _is_page(link.url):
            raise EvalsuiteError(
                f"{where}: url = {shown(link.url)}; expected one that begins with https:// or http://."
            )


def _is_page(url: str) -> bool:
    if re.search(r"[\s\x00-\x1f\x7f<>\"]", url):
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False


def _check_order(document: LabDocument, where: str) -> None:
    known = [key for key in ORDERED if document.outline == "free" or key not in TIANSHU_FIXED]
    for key in document.order:
        if key not in known:
            fixed = " Its number is fixed by the outline." if key in ORDERED else did_you_mean(key, known, cutoff=0.4)
            raise EvalsuiteError(f'{where} has "{key}"; expected some of {", ".join(known)}.{fixed}')
    if twice := sorted({key for key in document.order if document.order.count(key) > 1}):
        raise EvalsuiteError(f'{where} has "{twice[0]}" twice; expected each chapter once.')
