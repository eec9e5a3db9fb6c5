"""Data quality: counts, findings grouped by what they say, failed and excluded runs, skips, problems."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from evalsuite.model import Case, Finding, Measurement, Skip, Summary
from evalsuite.report import cells, names
from evalsuite.report.cells import Book, State
from evalsuite.report.words import Rendered, Text, Words, placeholders
from evalsuite.results.summary import counts

NOISY_CV = 0.05  # D08


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a finding was made, with the anchor of its receipt if it is a case or a run of ours."""

    text: str
    ref: str | None


@dataclass(frozen=True, kw_only=True)
class Group:
    """Findings that say the same, and all the places they were made at."""

    finding: Finding
    places: tuple[Place, ...]


@dataclass(frozen=True, kw_only=True)
class Failure:
    """One run that counts for nothing."""

    run: Measurement
    state: State

    @property
    def ref(self) -> str:
        return names.case_anchor(self.run.run.case)


@dataclass(frozen=True, kw_only=True)
class SkipGroup:
    """Cases that were skipped for one reason."""

    framework: str
    kind: str
    reason: str
    cases: tuple[Case, ...]


@dataclass(frozen=True, kw_only=True)
class Counts:
    """How many of everything."""

    cases_planned: int
    cases_valid: int
    cases_partial: int
    cases_skipped: int
    cases_without: int  # begun or planned, and without a valid run
    runs_planned: int
    runs_made: int
    runs_valid: int
    runs_by_state: tuple[tuple[State, int], ...]  # the runs that count for nothing
    findings_by_severity: tuple[tuple[str, int], ...]


def tally(book: Book) -> Counts:
    states = Counter(cells.run_state(run) for run in book.measurements)
    severities = Counter(finding.severity for finding in book.findings)
    valid = len(book.valid)
    runnable = len(book.planned) - len(book.skips)
    return Counts(
        cases_planned=len(book.planned),
        cases_valid=valid,
        cases_partial=sum(one.partial for one in book.valid),
        cases_skipped=len(book.skips),
        cases_without=len(book.planned) - valid - len(book.skips),
        runs_planned=max(runnable * book.evaluation.repeats, len(book.measurements)),
        runs_made=len(book.measurements),
        runs_valid=states["value"],
        runs_by_state=tuple((state, states[state]) for state in cells.WORST_FIRST if states[state]),
        findings_by_severity=tuple(
            (name, severities[name]) for name in ("reject", "exclude", "flag", "note") if severities[name]
        ),
    )


def groups(book: Book) -> tuple[Group, ...]:
    """Findings by what they say; the gravest first."""
    found: dict[tuple, list[Finding]] = {}
    for finding in book.findings:
        found.setdefault((finding.code, finding.severity, finding.values, finding.text), []).append(finding)
    return tuple(Group(finding=same[0], places=tuple(_places(book, same))) for same in found.values())


def _places(book: Book, same: Iterable[Finding]) -> Iterable[Place]:
    for where in sorted({finding.where for finding in same}):
        if where:
            yield Place(text=names.visible(where), ref=_ref(book, where))


def _ref(book: Book, where: str) -> str | None:
    for name in (where, where.rpartition("/r")[0], where.partition("/r")[0]):
        if name in book.planned_ids:
            return names.anchor("c", name)
    return None


def failures(book: Book) -> tuple[Failure, ...]:
    bad = (run for run in book.measurements if not counts(run) and run.value is None)
    return tuple(Failure(run=run, state=cells.how(run)) for run in bad)


def excluded(book: Book) -> tuple[Measurement, ...]:
    """Runs with a value that a data rule keeps out of the median: shown with it."""
    return tuple(run for run in book.measurements if run.value is not None and not counts(run))


def noisy(book: Book) -> tuple[Summary, ...]:
    """Cases whose repeats vary by more than 5 %."""
    return tuple(one for one in book.valid if one.cv is not None and one.cv > NOISY_CV)


def skip_groups(book: Book) -> tuple[SkipGroup, ...]:
    found: dict[tuple, list[Skip]] = {}
    for skip in book.skips:
        found.setdefault((skip.case.framework, skip.kind, skip.reason), []).append(skip)
    return tuple(
        SkipGroup(framework=names.framework(key[0]), kind=key[1], reason=key[2], cases=tuple(s.case for s in same))
        for key, same in found.items()
    )


def sentence(finding: Finding, words: Words) -> Text:
    """What *finding* says in the languages of the report; its own English text where no sentence fits it."""
    key = f"findings.{finding.code}"
    values = {name: _worded(name, value, words) for name, value in finding.values}
    if finding.code == "D18" and dict(finding.values).get("coverage") == "":
        key = "findings.D18_rejected"  # the other half of the rule: samples out of range
    if key in words:
        wanted = placeholders(words.sentence(key))
        given = {name: values.get(name, values.get(name.removesuffix("_text"))) for name in wanted}
        if None not in given.values():
            return words(key, **given)
    return words("findings.other", text=names.visible(finding.text))


def _worded(name: str, value: str, words: Words) -> Rendered | str:
    """A value of a finding in the reader's language, where it is a word of ours."""
    if name == "resources":
        found = (f"resources.{each}" for each in value.split(", "))
        return words.listed(words(key) if key in words else names.visible(key.partition(".")[2]) for key in found)
    key = f"values.{'method' if name == 'other_method' else name}.{value}"
    return words(key) if key in words else names.visible(value)


def rule(code: str, words: Words) -> Text:
    """The rule behind a finding's code, in words."""
    key = f"rules.{code}"
    return words(key) if key in words else words("rules.other", code=names.visible(code))
