"""What a reader must know before any number, a line each, and how much of the plan is valid."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evalsuite.core.findings import BusyMachine, OwnCriteria
from evalsuite.core.model import Protocol
from evalsuite.report.book.book import Book
from evalsuite.report.book.tally import COUNTS
from evalsuite.report.sections.background import machines
from evalsuite.report.sections.background.background import RULES
from evalsuite.report.text import names, numbers
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Rendered, Text, Words
from evalsuite.results.measure.summary import FULL_REPEATS, MOST_REPEATS

FULL_PROTOCOL = Protocol()


@dataclass(frozen=True, kw_only=True)
class Notice:
    kind: str
    line: Rendered
    whole: Rendered | None = None


def notices(book: Book, words: Words) -> tuple[Notice, ...]:
    first = (
        _since(book, words),
        *_own_criteria(book, words),
        _recorded(book, words),
        _cited(book, words),
        _printed(book, words),
    )
    return (*filter(None, first), *_short(book, words), *_quiet(book, words), *_cores(book, words))


def _notice(kind: str, line: Text, whole: Text | None, ref: str) -> Notice:
    wrapped = whole.about(ref) if whole else None
    return Notice(kind=kind, line=line.about(ref), whole=wrapped)


def _since(book: Book, words: Words) -> Notice | None:
    change = book.evaluation.since
    if change is None:
        return None
    of_all = sum(n for _, n in change.outcomes)
    counts = {"all": numbers.count(of_all).about(COUNTS)}
    parts = [words("notices.since_order")] if change.ordered and not change.reordered else []
    if change.reordered:
        parts = [words("notices.since_reordered", models=words.listed(map(names.model, change.reordered)))]
    for outcome, n in change.outcomes if not change.together else ():
        parts.append(words(f"notices.since_{outcome}", n=numbers.count(n).about(COUNTS), **counts))
    if change.together:
        way, *shares = change.together
        ends = "–".join(dict.fromkeys(f"{100 * share:.0f}" for share in shares)) + "%"
        parts.append(words(f"notices.since_together_{way}", change=ends, **counts))
    if not of_all:
        parts.append(words("notices.since_none"))
    if any(change.disturbed):
        then, now = map(numbers.count, change.disturbed)
        parts.append(words("notices.since_disturbed", before=then, after=now))
    date = {"date": names.minute(change.at)} if change.at else {}
    said = words.pick(
        "notices.since" if date else "notices.since_earlier", {"parts_text": words.clauses(parts), **date}
    )
    return _notice("since", said, None, COUNTS)


def _own_criteria(book: Book, words: Words) -> Iterable[Notice]:
    for finding in book.evaluation.findings:
        if isinstance(finding, OwnCriteria):
            values = {"file": names.visible(finding.where), "differences": names.visible(finding.differences)}
            yield Notice(kind="criteria", line=words("notices.own_criteria", **values))


def _recorded(book: Book, words: Words) -> Notice | None:
    if not book.evaluation.recorded_elsewhere:
        return None
    return Notice(
        kind="recorded", line=words("notices.recorded_elsewhere_line"), whole=words("notices.recorded_elsewhere")
    )


def _cited(book: Book, words: Words) -> Notice | None:
    cited = sum(summary.origin in ("cited", "digitised") for summary in book.valid)
    if not cited:
        return None
    values = {"cited": numbers.count(cited), "all": numbers.count(len(book.valid))}
    every = cited == len(book.valid)
    line = words("notices.cited_all_line", all=values["all"]) if every else words("notices.cited_line", **values)
    return _notice("cited", line, words("notices.cited", **values), COUNTS)


def _printed(book: Book, words: Words) -> Notice | None:
    printed = sum(summary.grounds == "printed" for summary in book.valid)
    if not printed:
        return None
    values = {"printed": numbers.count(printed), "all": numbers.count(len(book.valid))}
    return _notice("printed", words("notices.printed_line", **values), None, COUNTS)


def _short(book: Book, words: Words) -> Iterable[Notice]:
    short = _shortest(book)
    if short is None:
        return
    values = {
        "warmup": numbers.count(short.warmup_steps),
        "measured": numbers.count(short.measured_steps),
        "repeats": numbers.count(book.evaluation.repeats),
        "full_warmup": numbers.count(FULL_PROTOCOL.warmup_steps),
        "full_measured": numbers.count(FULL_PROTOCOL.measured_steps),
        "full_repeats": numbers.count(FULL_REPEATS),
        "most_repeats": numbers.count(MOST_REPEATS),
    }
    in_line = {name: values[name] for name in values if "warmup" not in name}
    yield _notice("profile", words("notices.short_line", **in_line), _profile(book, short, values, words), RULES)


def _quiet(book: Book, words: Words) -> Iterable[Notice]:
    busy = {
        run.run.id: finding.others
        for run in book.measurements
        for finding in run.findings
        if isinstance(finding, BusyMachine)
    }
    watched = all(any(used.resource == "job_cpu" for used in run.utilisation) for run in book.measurements)
    counted = {"all": numbers.count(len(book.measurements))}
    if busy:
        values = {"busy": numbers.count(len(busy)), "most": numbers.percent(max(busy.values())), **counted}
        yield _notice("busy", words("notices.busy", **values), None, COUNTS)
    elif watched and are_others_seen(book) and book.measurements and _shortest(book):
        yield _notice("quiet-machine", words("notices.quiet", **counted), None, COUNTS)


def are_others_seen(book: Book) -> bool:
    """False under a container's quota: its own processor time alone is read, whatever its neighbours take."""
    return not any(host.container and host.container.cpus for host in book.evaluation.environments.values())


def _cores(book: Book, words: Words) -> Iterable[Notice]:
    processes = max((case.devices_per_node for case in book.planned if case.shares_cores), default=0)
    if processes < 2:
        return
    cores = machines.usable_cores(book)
    values = {"processes": numbers.count(processes), "scale": f"1×{processes}"}
    key = "notices.shared_cores_unknown" if cores is None else "notices.shared_cores"
    known = {} if cores is None else {"cores": numbers.plain(cores)}
    line = words("notices.shared_cores_line", processes=values["processes"])
    yield _notice("cores", line, words(key, **values, **known), RULES)


def _shortest(book: Book) -> Protocol | None:
    protocols = sorted((case.protocol.measured_steps, case.protocol.warmup_steps) for case in book.planned)
    if not protocols:
        return None
    measured, warmup = protocols[0]
    full = measured >= FULL_PROTOCOL.measured_steps and warmup >= FULL_PROTOCOL.warmup_steps
    if not book.valid or (full and book.evaluation.repeats >= FULL_REPEATS):
        return None
    return Protocol(warmup_steps=warmup, measured_steps=measured)


def _profile(book: Book, short: Protocol, values: Mapping[str, Number], words: Words) -> Text:
    quick = book.evaluation.profile == "quick"
    sizes = sorted({size for case in book.planned if (size := case.option("image_size"))})
    if quick and sizes:
        return words("notices.quick_images", size=names.visible(sizes[0]), **values)
    if quick:
        return words("notices.quick", **values)
    alike = all(case.protocol == short for case in book.planned)
    return words("notices.short" if alike else "notices.shortest", **values)
