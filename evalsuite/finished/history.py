"""Finished reports → the history of each case, with its regressions. A line is one case in one environment with one
unit and origin: between its points the day and the framework's version differ. Two reports with the same runs are one
measurement; the later, larger one counts."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.files import is_file, read_text, sha256
from evalsuite.core.messages import Message, message_of
from evalsuite.core.model import Case, Machine, Summary, by_key
from evalsuite.finished import finished, manifest
from evalsuite.finished.finished import Finished, instant, moment
from evalsuite.results.compare import changes, fairness
from evalsuite.results.compare.changes import Change
from evalsuite.results.measure import machines
from evalsuite.results.measure.summary import valid

REPORTS, MARKER = "reports", "site.json"  # the latter marks a folder as a site, and lists what was published
ID_DIGITS = 16  # 64 bits of the content's SHA-256
LISTED = re.compile(rf'"id": "([0-9a-f]{{{ID_DIGITS}}})"')  # in site.json
BELOW_BEST = 0.1  # the best of several campaigns is high by chance: a smaller loss from it is none
UNDATED = datetime.min.replace(tzinfo=UTC)  # a point without a date is alone in its line


@dataclass(frozen=True, kw_only=True)
class HistoryPoint:
    report: str  # the id of the report on the site
    started_at: str | None  # of its first run that counts; None where no run says when it was
    summary: Summary
    change: Change | None = None  # against the last full measurement before it; None for the first

    @property
    def versions(self) -> tuple[str, ...]:
        return fairness.versions(self.summary)


@dataclass(frozen=True, kw_only=True)
class HistoryLine:
    case: Case
    machines: tuple[Machine, ...]  # empty where none is recorded
    unit: str
    origin: str
    points: tuple[HistoryPoint, ...]  # by the time of their data
    since_best: Change | None = None  # the last full point, where it is slower than the best before it

    @property
    def environment(self) -> str:
        return " + ".join(map(str, self.machines))

    @property
    def last(self) -> HistoryPoint:
        return self.points[-1]

    @property
    def judged(self) -> HistoryPoint | None:
        return next((point for point in reversed(self.points) if not point.summary.partial), None)

    @property
    def slowed(self) -> Change | None:
        """How the last full measurement is slower than the best before it, or than the one before."""
        change = self.judged.change if self.judged else None
        return self.since_best or (change if change and change.outcome == "slower" else None)


@dataclass(frozen=True, kw_only=True)
class History:
    lines: tuple[HistoryLine, ...]
    undated: tuple[HistoryLine, ...] = ()  # results without a date, one point each: shown, and compared with nothing

    @property
    def regressions(self) -> tuple[HistoryLine, ...]:
        return tuple(line for line in self.lines if line.slowed)

    @property
    def tested(self) -> int:
        return sum(point.change.tested for line in self.lines for point in line.points if point.change)


def history(reports: Iterable[tuple[str, Finished]]) -> History:
    points = []
    for name, row in ((name, row) for name, report in reports for row in valid(report.summaries)):
        starts = [run.started_at for run in row.measurements if run.counts and run.started_at]
        started_at = min(filter(moment, starts), key=instant, default=None)
        points.append((row, HistoryPoint(report=name, started_at=started_at, summary=row)))
    by_line = by_key(
        (fairness.group(row, fairness.VERSIONS) if point.started_at else None, point) for row, point in points
    )
    undated = [line([point]) for point in by_line.pop(None, ())]
    return History(
        lines=tuple(sorted(map(line, by_line.values()), key=_order)),
        undated=tuple(sorted(undated, key=lambda line: (*_order(line), line.last.report))),
    )


def _order(line: HistoryLine) -> tuple[object, ...]:
    case = line.case
    return (case.model, case.series, case.total_devices, case.nodes, line.environment, line.unit)


def line(points: Sequence[HistoryPoint]) -> HistoryLine:
    """Each of *points* is compared with the last full measurement before it, or the one before where none is full."""
    apart: list[HistoryPoint] = []
    for point in sorted(points, key=lambda point: (moment(point.started_at) or UNDATED, point.summary.n, point.report)):
        runs = fairness.receipts(point.summary)
        apart = [earlier for earlier in apart if runs.isdisjoint(fairness.receipts(earlier.summary))]
        apart.append(point)
    compared = apart[:1]
    for point in apart[1:]:
        before = next((point for point in reversed(compared) if not point.summary.partial), compared[-1])
        change = changes.pair(before.summary, point.summary)
        compared.append(replace(point, change=change) if isinstance(change, Change) else point)
    example = points[0].summary
    return HistoryLine(
        case=example.case,
        machines=machines.distinct(fairness.machines(example)),
        unit=example.unit,
        origin=example.origin,
        points=tuple(compared),
        since_best=_since_best([point.summary for point in compared if not point.summary.partial]),
    )


def _since_best(full: Sequence[Summary]) -> Change | None:
    """The last of *full* measurements against the best, where that is earlier than the one just before it."""
    best = max(full[:-2], key=lambda summary: summary.items_per_s.value, default=None)
    change = best and changes.pair(best, full[-1], least=BELOW_BEST)
    return change if isinstance(change, Change) and change.outcome == "slower" else None


@dataclass(frozen=True, kw_only=True)
class StoredReport:
    id: str
    report: Finished | None = None
    broken: str = ""  # why it does not count, where it is None
    seal: str = ""  # SHA-256 of its summary.json

    @property
    def folder(self) -> str:
        return f"{REPORTS}/{self.id}"


def content_id(folder: Path) -> str:
    lines = (f"{file.relative_to(folder).as_posix()}\0{sha256(file)}\n" for file in manifest.files_of(folder))
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()[:ID_DIGITS]


def read_reports(site: Path) -> list[StoredReport]:
    """The newest data first; those without dates stand behind the others, and what cannot be read or is gone last."""
    inside = (site / REPORTS).iterdir() if (site / REPORTS).is_dir() else ()
    folders = sorted(path for path in inside if path.is_dir() and path.name[0] != ".")
    listed = LISTED.findall(read_text(site / MARKER)) if is_file(site / MARKER) else ()
    gone = sorted({*listed} - {folder.name for folder in folders})

    def when(entry: StoredReport) -> tuple[bool, str]:
        period = entry.report.period if entry.report else None
        return entry.report is not None, finished.instant(period[1]).isoformat() if period else ""

    lost = [StoredReport(id=name, broken=Message("site.report_gone", path=f"{REPORTS}/{name}")) for name in gone]
    return sorted([*map(_read_report, folders), *lost], key=when, reverse=True)


def _read_report(folder: Path) -> StoredReport:
    try:
        report = finished.read(folder)
        if content_id(folder) != folder.name:
            raise EvalsuiteError.of("site.other_content", path=folder)
        return StoredReport(id=folder.name, report=report, seal=sha256(folder / finished.SUMMARY))
    except EvalsuiteError as error:
        text = message_of(error)
        place, short = str(folder), f"{REPORTS}/{folder.name}"
        named = text.map(lambda part: part.replace(place, short)) if isinstance(text, Message) else text
        return StoredReport(id=folder.name, broken=named)
