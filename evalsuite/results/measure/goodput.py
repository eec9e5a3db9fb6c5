"""Where the time of a training went, from its logs as they are: every second of all attempts in one bucket."""

import re
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

from evalsuite.contracts.dialect import Dialect
from evalsuite.core import paths
from evalsuite.core.decode import instant
from evalsuite.core.errors import EvalsuiteError, NothingMeasured
from evalsuite.core.model import Log
from evalsuite.logs.recognition import recognise
from evalsuite.logs.text.logfile import Unreadable, chunks
from evalsuite.logs.text.records import Extractor, Record, place, read_arrivals
from evalsuite.runs.endings import AgentOutcome
from evalsuite.runs.store import RunFolder

OF_STEP = ("data_wait", "steps")
LOST, IDLE, UNEXPLAINED = "lost_progress", "idle_end", "unexplained"
BUCKETS = (
    *("start", "compile", "data_wait", "steps", "evaluation", "checkpoint", "restart"),
    *(LOST, IDLE, UNEXPLAINED),
)
LONGER, STALLED = 2.0, 5.0  # times a usual step: of the first steps, and of any, more is no step alone
FEWEST = 5  # reports for a usual step of its own
Place = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Event:
    at_s: float
    line: int
    kind: str  # "step", one of the marks, or "" of any other line
    place: Place | None = None
    data_s: float = 0.0
    step_s: float | None = None  # as printed, of one step
    begins: bool = False  # the time after it is of its kind, too


@dataclass(frozen=True, kw_only=True)
class TrainingAttempt:
    log: Path
    begin_s: float
    end_s: float
    events: tuple[Event, ...]

    @property
    def steps(self) -> list[Event]:
        return [event for event in self.events if event.kind == "step"]


@dataclass(frozen=True, kw_only=True)
class TimeSpan:
    bucket: str
    seconds: float
    log: Path
    first: int  # lines, from 1; 0: before the first
    last: int
    place: Place | None = None  # of the step that it is of


def read(folders: Sequence[Path], dialects: Mapping[str, Dialect], name: str | None = None) -> list[TrainingAttempt]:
    """Folders in which an agent recorded one attempt each, by their time. Raises EvalsuiteError."""
    recorded = [_recorded(folder) for folder in folders]
    try:
        dialect = recognise([log.path for log, _ in recorded], name, dialects)
    except Unreadable as error:
        raise NothingMeasured.of("logs.goodput_no_steps", path=folders[0], reason=str(error)) from error
    parts = (part for log, agent in recorded for part in _attempts(agent, log, dialect))
    attempts = sorted(parts, key=lambda attempt: attempt.begin_s)
    for attempt, after in pairwise(attempts):
        if after.begin_s < attempt.end_s:
            raise EvalsuiteError.of("logs.goodput_overlap", path=after.log, other=attempt.log)
    return attempts


def _recorded(folder: Path) -> tuple[Log, AgentOutcome]:
    run = RunFolder(folder)
    agents = run.agents()
    log = next((log for log in run.logs() if log.host in agents), None)
    if log is None or (log.path.stat().st_size and not log.arrivals.is_file()):
        raise EvalsuiteError.of("logs.goodput_no_clock", path=folder)
    return log, agents[log.host]


def _attempts(agent: AgentOutcome, log: Log, dialect: Dialect) -> Iterator[TrainingAttempt]:
    """One, or several where a launcher began the script again: behind the last step before each that goes back."""
    whole = _attempt(agent, log, dialect)
    begin_s, begin, last = whole.begin_s, 0, (0, Event(at_s=0.0, line=0, kind=""))
    for number, event in enumerate(whole.events):
        before, step = last
        if event.place and step.place and event.place < step.place:
            yield replace(whole, begin_s=begin_s, end_s=step.at_s, events=whole.events[begin : before + 1])
            begin_s, begin = step.at_s, before + 1
        last = (number, event) if event.place else last
    yield replace(whole, begin_s=begin_s, events=whole.events[begin:])


def _attempt(agent: AgentOutcome, log: Log, dialect: Dialect) -> TrainingAttempt:
    begun, arrival = instant(agent.started_at), read_arrivals(log.arrivals)
    if begun is None:
        raise EvalsuiteError.of("logs.goodput_no_clock", path=log.path.parent)
    begin_s, end_s = begun.timestamp(), begun.timestamp() + agent.duration_s
    events = tuple(
        replace(event, at_s=min(begin_s + at_s, end_s))
        for end, event in _events(log.path, dialect)
        if (at_s := arrival(end) if arrival else None) is not None
    )
    return TrainingAttempt(log=log.path, begin_s=begin_s, end_s=end_s, events=events)


def _events(log: Path, dialect: Dialect) -> Iterator[tuple[int, Event]]:
    """With where in the file each line ends. Of several printers the first is read."""
    extractor, first = Extractor(dialect), None
    for chunk in chunks(log):
        records: list[Record] = []
        extractor.extend(records, chunk)
        first = first or next(iter(records), None)
        of_line = {record.line: record for record in records if first and record.rank == first.rank}
        end = 0
        for number, text in enumerate(chunk.text.splitlines(keepends=True), chunk.first_line):
            end += len(text)
            yield chunk.raw_offset(end), _event(number, text.decode("utf-8", "replace"), of_line.get(number))


def _event(number: int, text: str, record: Record | None) -> Event:
    if record is None:
        kind = next((name for name, shape in _shapes("marks").items() if shape.search(text)), "")
        return Event(at_s=0.0, line=number, kind=kind, begins=bool(kind and _shapes("of_line")["begins"].search(text)))
    waited = _shapes("of_line")["data_wait"].search(text)
    seconds = float(next(filter(None, waited.groups()))) if waited else 0.0
    return Event(at_s=0.0, line=number, kind="step", place=place(record), data_s=seconds, step_s=record.step_s)


@cache
def _shapes(table: str) -> Mapping[str, re.Pattern[str]]:
    return {name: re.compile(text, re.IGNORECASE) for name, text in paths.read_data("goodput.toml")[table].items()}


def divide(attempts: Sequence[TrainingAttempt]) -> list[TimeSpan]:
    """All time from the first begin to the last end, in order. What a later attempt had to do again is lost."""
    every = [gap for attempt in attempts for gap in _bare_steps(attempt)]
    spans: list[TimeSpan] = []
    for number, attempt in enumerate(attempts):
        if number and (gap := attempt.begin_s - attempts[number - 1].end_s):
            spans.append(TimeSpan(bucket="restart", seconds=gap, log=attempt.log, first=0, last=0))
        resumed = attempt.steps[0].place if attempt.steps else None
        spans = [
            replace(span, bucket=LOST) if resumed and span.place and span.place >= resumed else span for span in spans
        ]
        own = _bare_steps(attempt)
        usual = statistics.median(own if len(own) >= FEWEST else every or [0.0])
        spans += _divide_attempt(attempt, usual, again=number > 0, last=attempt is attempts[-1])
    return [span for span in spans if span.seconds > 0]


def _bare_steps(attempt: TrainingAttempt) -> list[float]:
    pairs = pairwise(attempt.events)
    return [after.at_s - before.at_s for before, after in pairs if before.kind == after.kind == "step"]


def _divide_attempt(attempt: TrainingAttempt, usual: float, *, again: bool, last: bool) -> Iterator[TimeSpan]:
    at_s, line, mark, cold = attempt.begin_s, 0, "", True
    before: Event | None = None  # the last step
    lead = "restart" if again else "start"
    for event in attempt.events:
        if event.kind == "" and before:
            continue  # says nothing of its time
        seconds = max(0.0, event.at_s - at_s)
        parts = [(event.kind if before else lead, seconds)]
        if event.kind == "step":
            step_s = min(seconds, _step_s(event, before, seconds, usual, cold=cold))
            cold = cold and step_s < seconds
            waited = min(step_s, event.data_s)
            why = (lead if lead == "restart" else "compile") if cold else UNEXPLAINED
            more = ((mark if before else "") or why, seconds - step_s)
            parts, before = [("data_wait", waited), ("steps", step_s - waited), more], event
        for bucket, took in parts:
            own = event.place if bucket in OF_STEP else None
            yield TimeSpan(bucket=bucket, seconds=took, log=attempt.log, first=line, last=event.line, place=own)
        at_s, line, mark = max(at_s, event.at_s), event.line, event.kind if event.begins else ""
    tail = IDLE if last else mark if mark and before else LOST if before else lead
    yield TimeSpan(bucket=tail, seconds=attempt.end_s - at_s, log=attempt.log, first=line, last=line)


def _step_s(event: Event, before: Event | None, seconds: float, usual: float, *, cold: bool) -> float:
    """Of *seconds*: as printed, where the line is of this step alone, or as usual; all, where nothing else was done."""
    alone = before is not None and event.place and before.place == (event.place[0], event.place[1] - 1)
    own = event.step_s if event.step_s and alone else usual
    if before is None or event.line > before.line + 1:
        return own
    return own if seconds > (LONGER if cold else STALLED) * max(own, usual) else seconds


def totals(spans: Iterable[TimeSpan]) -> dict[str, float]:
    seconds = dict.fromkeys(BUCKETS, 0.0)
    for span in spans:
        seconds[span.bucket] += span.seconds
    return seconds
