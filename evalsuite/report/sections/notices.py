"""What a reader must know before any number, and how much of the plan is valid.

Every sentence is a template with a condition; none is chosen by taste (docs/report.md#words).
"""

from collections.abc import Sequence

from evalsuite.model import Protocol
from evalsuite.report.book.book import Book
from evalsuite.report.book.tally import tally
from evalsuite.report.sections import background
from evalsuite.report.sections.background import RULES
from evalsuite.report.sections.quality import COUNTS
from evalsuite.report.text import names, numbers
from evalsuite.report.text.words import Rendered, Text, Traced, Words
from evalsuite.results.summary import FULL_REPEATS, MOST_REPEATS

FULL_PROTOCOL = Protocol()


def notices(book: Book, words: Words) -> tuple[tuple[str, Rendered], ...]:
    """What a reader must know before any number: (kind, sentence)."""
    places = {"cited": COUNTS, "profile": RULES, "cores": RULES}
    return tuple(
        (kind, Traced(words=words, inside=said, ref=places[kind]) if kind in places else said)
        for kind, said in _notices(book, words)
    )


def _notices(book: Book, words: Words) -> Sequence[tuple[str, Text]]:
    found: list[tuple[str, Text]] = []
    if book.evaluation.recorded_elsewhere:
        found.append(("recorded", words("notices.recorded_elsewhere")))
    cited = sum(one.origin in ("cited", "digitised") for one in book.valid)
    if cited:
        found.append(("cited", words("notices.cited", cited=numbers.count(cited), all=numbers.count(len(book.valid)))))
    short = _short(book)
    if short is not None:
        found.append(("profile", _profile_notice(book, short, words)))
    processes = max((case.devices_per_node for case in book.planned if case.device == "cpu"), default=0)
    if processes > 1:
        cores = background.usable_cores(book)
        values = {"processes": numbers.count(processes), "scale": f"1×{processes}"}
        if cores is None:
            found.append(("cores", words("notices.shared_cores_unknown", **values)))
        else:
            found.append(("cores", words("notices.shared_cores", cores=numbers.plain(cores), **values)))
    return found


def _short(book: Book) -> Protocol | None:
    """The shortest protocol in the plan, if it or the number of repeats is below the full one."""
    protocols = sorted((case.protocol.measured_steps, case.protocol.warmup_steps) for case in book.planned)
    if not protocols:
        return None
    measured, warmup = protocols[0]
    full = measured >= FULL_PROTOCOL.measured_steps and warmup >= FULL_PROTOCOL.warmup_steps
    if full and book.evaluation.repeats >= FULL_REPEATS:
        return None
    return Protocol(warmup_steps=warmup, measured_steps=measured)


def _profile_notice(book: Book, short: Protocol, words: Words) -> Text:
    quick = book.evaluation.profile == "quick"
    values = {
        "warmup": numbers.count(short.warmup_steps),
        "measured": numbers.count(short.measured_steps),
        "repeats": numbers.count(book.evaluation.repeats),
        "full_warmup": numbers.count(FULL_PROTOCOL.warmup_steps),
        "full_measured": numbers.count(FULL_PROTOCOL.measured_steps),
        "full_repeats": numbers.count(FULL_REPEATS),
        "most_repeats": numbers.count(MOST_REPEATS),
    }
    sizes = sorted({size for case in book.planned if (size := case.option("image_size"))})
    if quick and sizes:
        return words("notices.quick_images", size=names.visible(sizes[0]), **values)
    if quick:
        return words("notices.quick", **values)
    alike = all(case.protocol == short for case in book.planned)
    return words("notices.short" if alike else "notices.shortest", **values)


def coverage(book: Book, words: Words) -> Text:
    """How much of what was planned is valid."""
    found = tally(book)
    counted = {
        "valid": found.cases_valid,
        "planned": found.cases_planned,
        "partial": found.cases_partial,
        "skipped": found.cases_skipped,
        "without": found.cases_without,
    }
    return words("headlines.coverage", **{name: numbers.count(n).about(COUNTS) for name, n in counted.items()})
