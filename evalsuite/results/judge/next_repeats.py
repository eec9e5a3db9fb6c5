"""The next repeats that would decide something open, with price and command.

An order takes five runs of each, a criterion up to seven.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from evalsuite.core.documents import RunCommand
from evalsuite.core.model import Case, Row, Summary, Verdict, VerdictCell
from evalsuite.results.compare import ranking
from evalsuite.results.compare.answers import Answer, setting_of
from evalsuite.results.compare.ranking import Candidate, RankingScope
from evalsuite.results.judge import rerun_command
from evalsuite.results.measure.summary import FULL, FULL_REPEATS, MOST_REPEATS, median_s, valid

Decides = Literal["order", "criterion"]


@dataclass(frozen=True, kw_only=True)
class NextRepeats:
    decides: Decides
    model: str
    candidates: tuple[Candidate, ...]
    scope: RankingScope  # that they are candidates of
    criterion: str | None  # with "criterion": "C1"
    answers: tuple[Answer, ...]  # with "order": of each scale, which has its own price
    cases: tuple[Case, ...]
    repeats: int  # of each, when they are made
    runs: int  # that are still to be made
    longer: bool
    seconds: float | None  # by the durations on record; None: not known
    device_hours: float | None
    command: tuple[str, ...]

    @property
    def frameworks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(candidate.framework for candidate in self.candidates))


@dataclass(frozen=True, kw_only=True)
class _More:
    decides: Decides
    candidates: tuple[Candidate, ...]
    scope: RankingScope
    criterion: str | None
    of: tuple[tuple[Summary, int], ...]
    repeats: int
    longer: bool = False
    answers: tuple[Answer, ...] = ()


def next_repeats(
    answers: Iterable[Answer], verdicts: Iterable[Verdict], rows: Iterable[Row], commands: Mapping[str, RunCommand]
) -> tuple[NextRepeats, ...]:
    known = valid(rows)
    open_ = _together(more for answer in answers if (more := _of_answer(answer)))
    open_ += [more for verdict in verdicts for cell in verdict.cells for more in _of_cell(verdict, cell, known)]
    priced = [_priced(order, commands) for order in open_]
    return tuple(sorted(priced, key=lambda order: (order.longer, order.runs)))


def _together(orders: Iterable[_More]) -> list[_More]:
    together: dict[object, _More] = {}
    for more in orders:
        key = (setting_of(more.of[0][0].case, more.scope), frozenset(more.candidates), more.longer)
        if known := together.get(key):
            more = replace(known, of=known.of + more.of, answers=known.answers + more.answers)
        together[key] = more
    return list(together.values())


def _of_answer(answer: Answer) -> _More | None:
    needed = answer.deciding.needed if answer.deciding else None
    rivals = [entry.summary for entry in answer.ranked if entry.judged]
    if needed not in ("repeats", "window") or any(row.origin != "measured" for row in rivals):
        return None
    if len({row.case.options for row in rivals}) > 1:
        return None
    longer = needed == "window"
    of = [(row, FULL_REPEATS if longer else FULL_REPEATS - row.n) for row in rivals]
    return _More(
        decides="order",
        candidates=tuple(map(answer.candidate, rivals)),
        scope=answer.scope,
        criterion=None,
        of=tuple((row, more) for row, more in of if more > 0),
        repeats=FULL_REPEATS,
        longer=longer,
        answers=(answer,),
    )


def _of_cell(verdict: Verdict, cell: VerdictCell, known: Sequence[Summary]) -> Iterator[_More]:
    enough = {"partial": FULL_REPEATS, "spans": MOST_REPEATS}.get(cell.reason)
    if cell.outcome != "undetermined" or enough is None or cell.case is None:
        return
    series = [row for row in known if row.case.series == cell.case.series and row.origin == "measured"]
    wanted = [row for row in series if row.case.scale in cell.scales or row.base == row.case]
    of = tuple((row, enough - row.n) for row in wanted if row.n < enough)
    if of and not any(row.partial and row.n >= FULL_REPEATS for row in wanted):  # their windows are too short
        yield _More(
            decides="criterion",
            candidates=(Candidate(framework=cell.framework),),
            scope=ranking.FRAMEWORKS,
            criterion=verdict.criterion,
            of=of,
            repeats=enough,
        )


def _priced(open_: _More, commands: Mapping[str, RunCommand]) -> NextRepeats:
    prices = [(more, median_s(row, open_.longer), row.case.total_devices) for row, more in open_.of]
    known = [(more * seconds, devices) for more, seconds, devices in prices if seconds is not None]
    whole = len(known) == len(prices)
    cases = tuple(row.case for row, _ in open_.of)
    ran = [commands[run.run.id] for row, _ in open_.of for run in row.measurements if run.run.id in commands]
    return NextRepeats(
        decides=open_.decides,
        model=cases[0].model,
        candidates=open_.candidates,
        scope=open_.scope,
        criterion=open_.criterion,
        answers=open_.answers,
        cases=cases,
        repeats=open_.repeats,
        runs=sum(more for more, _, _ in prices),
        longer=open_.longer,
        seconds=sum(seconds for seconds, _ in known) if whole else None,
        device_hours=sum(seconds * devices for seconds, devices in known) / 3600 if whole else None,
        command=rerun_command.words(
            "run",
            cases,
            repeats=open_.repeats,
            protocol=FULL if open_.longer else None,
            engine=ran[0].engine if ran else "",
            participants=rerun_command.titles(ran),
        ),
    )
