"""Run folders out of the rows of a table, their origin *cited*: never measured, never deciding. A row holds a single
run or a median. A figure that is printed again stays one figure. Single runs of one log set are repeats of one another,
and so are rows that nothing tells apart. Printed speed-ups keep their base, medians their runs."""

import functools
import hashlib
import itertools
import re
import statistics
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from evalsuite.contracts.dialect import Dialect
from evalsuite.core import decode
from evalsuite.core.documents import Citation, CitedFigure, Source
from evalsuite.core.messages import Message, message_of
from evalsuite.core.model import Case, Run, by_key
from evalsuite.importing import histories, published_tables, user_facts
from evalsuite.importing.log_import import HOST, Imported, command, compare_facts, contents, write_first_free
from evalsuite.importing.published_tables import CitedRow, CitedTable
from evalsuite.importing.user_facts import Facts
from evalsuite.logs import reading
from evalsuite.logs.dialects.cited import ITEMS
from evalsuite.logs.text.records import positive
from evalsuite.runs.endings import Outcome
from evalsuite.runs.store import RunFolder, Store

KINDS: Mapping[str, Literal["run", "median"]] = {"run": "run", "median": "median"}
OF_A_CASE = tuple(
    name
    for name in published_tables.COLUMNS
    if name in user_facts.FIELDS or name in ("version", "features", *published_tables.SIZES)
)
SAID = (*OF_A_CASE, *user_facts.RECORDED)  # where the user says them too, both must agree
FAILED = ("crashed", "failed", "killed")
ASKING = tuple(f"importing.{name}" for name in ("says", "row_no_unit", "contradict", "row_throughput"))
"""What of one row is asked before any is written: it may be true of all of them. Others are left out alone."""
_NOTHING = reading.Reading(
    dialect=None, framework=None, model=None, scope=None, status="unrecognised", total_devices=None
)


@dataclass(frozen=True, kw_only=True)
class _Figure:
    row: CitedRow
    where: str  # "dlperf.csv:12"
    case: Case
    facts: Facts
    printed: str
    items: str
    kind: Literal["run", "median"] | None
    source: str | None
    log_set: str | None

    @property
    def value(self) -> Decimal:
        return Decimal(self.printed)

    def citation(self, base: "_Figure | None" = None) -> Citation:
        speedup, printed = self.row.cells.get("speedup"), base.printed if base else None
        return Citation(row=self.where, source=self.source, speedup=speedup, base=printed)


@dataclass(frozen=True, kw_only=True)
class _Cited:
    members: Sequence[_Figure]
    case: Case
    repeat: int = 0
    runs: Sequence[_Figure] = ()  # of a median
    others: Sequence[_Figure] = ()  # other figures of the case

    @property
    def first(self) -> _Figure:
        return self.members[0]


def cite_table(
    table: CitedTable,
    into: Store,
    user: Mapping[str, str],
    dialects: Mapping[str, Dialect],
    *,
    common: Collection[str] = (),
) -> Iterator[Imported]:
    """An answer for each row of *table*, in their order."""
    results: dict[int, Imported] = {}
    figures: list[_Figure] = []
    numbered: dict[object, _Figure] = {}
    rows = histories.of_project(table.rows, lambda row: row.cells.get("project"), user.get("project"))
    for row in rows:
        where = f"{table.file}:{row.number}"
        try:
            figure = _figure(row, where, table.columns, user, common)
        except ValueError as error:
            results[row.number] = Imported(source=where, reason=message_of(error))
            continue
        number = figure.facts.get("repeat", row.number)
        key = figure.case, figure.items, figure.source, figure.log_set, number
        first = numbered.setdefault(key, figure) if figure.kind == "run" else figure
        if "repeat" in figure.facts and first.value != figure.value:
            both = {"printed": figure.printed, "other": first.printed, "where": first.where}
            reason = Message("importing.repeat_contradicts", repeat=figure.facts["repeat"], **both)
            results[row.number] = Imported(source=where, reason=reason)
            continue
        figures.append(figure)
    if any(getattr(each.reason, "id", "") in ASKING for each in results.values()):
        waits = {f.row.number: Imported(source=f.where, reason=Message("importing.waits")) for f in figures}
        yield from (results.get(row.number) or waits[row.number] for row in rows)
        return
    series = by_key((_series(figure), figure) for figure in figures if figure.kind != "run")
    known = contents(into)  # by their bytes
    for case, those in by_key((figure.case, figure) for figure in figures).items():
        units = by_key((figure.items, figure) for figure in those)
        own = ((case if len(units) == 1 else _with(case, "unit", items), units[items]) for items in units)
        for cited in (cited for each, members in own for cited in _runs_of(each, members)):
            first = cited.first
            there = known.get((hashlib.sha256(_text(first)).hexdigest(),) * len(cited.members))
            if there and there.finished:
                made = compare_facts(first.where, there, first.facts)
            else:
                runs = (Run(case=each, repeat=cited.repeat) for each in _cases(cited))  # another figure is no repeat
                fill = functools.partial(_fill, cited=cited, dialects=dialects, series=series.get(_series(first), ()))
                id, alone = write_first_free(into, runs, fill)[0].id, Message("logs.log_final_alone")
                made = Imported(source=first.where, run=id, status="partial", reason=alone)
            for member in cited.members:
                alike: Any = {"status": "cited", "reason": ""} if member is not cited.first and made.run else {}
                results[member.row.number] = replace(made, source=member.where, **alike)
    yield from (results[row.number] for row in rows)


def _figure(
    row: CitedRow, where: str, columns: Mapping[str, str], user: Mapping[str, str], common: Collection[str]
) -> _Figure:
    cells = row.cells
    if row.beyond:
        raise ValueError(Message("importing.row_longer", n=row.beyond))
    own = {name: text for name, text in cells.items() if name in SAID or name not in published_tables.COLUMNS}
    if "name" in cells and "run" not in user:
        own["run"] = histories.without_seed(cells["name"])
    said = {name: value for name, value in user.items() if name not in ("tag", "project")}
    facts = user_facts.merge_facts((user_facts.USER, said), (user_facts.TABLE, own))
    user_facts.check_facts(facts, columns)
    if cells.get("state", "").lower() in FAILED:
        raise ValueError(Message("importing.row_failed_run", state=cells["state"]))
    text, kind = cells.get("throughput"), cells.get("kind", "run" if "repeat" in facts else "median").lower()
    if text is None or not re.search(r"\d", text):  # OOM
        raise ValueError(Message("importing.no_throughput_recorded"))
    if kind not in KINDS:
        raise ValueError(Message("importing.row_kind", text=cells["kind"]))
    if not user_facts.is_whole(cells.get("n", "1").removesuffix(".0"), least=1):
        least = Message("importing.whole_above")
        raise ValueError(Message("importing.whole", where=f'column "{columns["n"]}"', text=cells["n"], least=least))
    if decode.number(text) is None or positive(text.encode()) is None:  # Python alone reads 1_000
        raise ValueError(Message("importing.row_throughput", column=columns["throughput"], text=text))
    return _Figure(
        row=row,
        where=where,
        case=user_facts.case(facts, _NOTHING, Message("importing.row_nor_set"), common),
        facts=facts,
        printed=text,
        items=_items(facts.get("unit", "")),
        kind=KINDS[kind] if "kind" in cells or kind == "run" else None,
        source=cells.get("source"),
        log_set=cells.get("log_set"),
    )


def _items(unit: str) -> str:
    name = re.sub(r"/s(?:ec(?:ond)?)?$", "", unit.strip().lower())
    name += "s" if f"{name}s" in ITEMS else ""
    if name not in ITEMS:
        known, told = tuple(f"{items}/s" for items in ITEMS), {"name": unit} if name else {}
        raise ValueError(Message(f"importing.row_{'unit' if name else 'no_unit'}", names=known, **told))
    return name


def _runs_of(case: Case, rows: Sequence[_Figure]) -> Iterator[_Cited]:
    """Single runs are repeats where one source prints them of one log set; without numbers, in one block of rows."""
    if all((row.kind, row.source, row.log_set) == (None, None, None) for row in rows):
        values = by_key((row.value.normalize(), row) for row in rows).values()
        yield from (_Cited(members=same, case=case, repeat=place) for place, same in enumerate(values))
        return
    figures = sorted(
        by_key((row.value.normalize(), row) for row in rows if row.kind != "run").values(),
        key=lambda same: (-len(same), same[0].value),
    )
    sets = _log_sets([row for row in rows if row.kind == "run"])
    for place, same in enumerate(figures):
        alone = len(figures) == 1 or (place == 0 and len(same) > len(figures[1]))
        own = case if alone else _with(case, "source", _source_of(same[0]))
        others = [other[0] for other in figures if other is not same]
        yield _Cited(members=same, case=own, runs=_runs_behind(same, sets), others=others)
    for runs in sets:
        own = _with(case, "figure", "single_run") if figures else case
        own = own if len(sets) == 1 else _with(own, "log_set", _set_name(runs, sets))
        for place, same in enumerate(by_key((row.facts.get("repeat", row.row.raw), row) for row in runs).values()):
            repeat = user_facts.whole_number(same[0].facts, "repeat")
            yield _Cited(members=same, case=own, repeat=place if repeat is None else repeat)


def _log_sets(runs: Sequence[_Figure]) -> list[list[_Figure]]:
    blocks = ("repeat" in run.facts or run.row.number - place for place, run in enumerate(runs))  # alike within one
    numbered = len({run.facts.get("repeat") for run in runs}) == len(runs)  # each is its own, wherever it stands
    of = ((None if numbered else run.source, run.log_set, block) for run, block in zip(runs, blocks, strict=True))
    return list(by_key(zip(of, runs, strict=True)).values())


def _set_name(runs: Sequence[_Figure], sets: Sequence[Sequence[_Figure]]) -> str:
    names = [(row.log_set, row.source) for row, *_ in sets]
    for own, every in zip((runs[0].log_set, runs[0].source), zip(*names, strict=True), strict=True):
        if own is not None and len(set(every)) == len(sets):
            return own
    return Message("importing.rows_from_to", first=runs[0].row.number, last=runs[-1].row.number)


def _runs_behind(figure: Sequence[_Figure], sets: Sequence[Sequence[_Figure]]) -> Sequence[_Figure]:
    """The single runs that a source of the figure prints too, and whose median it is where there are several sets."""
    fitting = [runs for runs in sets if runs[0].source in {row.source for row in figure}]
    medians = [runs for runs in fitting if statistics.median([run.value for run in runs]) == figure[0].value]
    return next(iter(medians or (fitting if len(fitting) == 1 else ())), ())


def _source_of(figure: _Figure) -> str:
    return " ".join(part for part in (figure.source, figure.log_set) if part) or f"row_{figure.row.number}"


def _with(case: Case, name: str, value: str) -> Case:
    return replace(case, options=tuple(sorted((*case.options, (name, user_facts.safe_value(value))))))


def _series(figure: _Figure) -> tuple[Case, str]:
    return figure.case.at_scale(1, 1), figure.items


def _base(figure: _Figure, series: Sequence[_Figure]) -> _Figure | None:
    """The figure with a speed-up of 1 or on one device, in the same source; else the one that all sources print."""
    if "speedup" not in figure.row.cells:
        return None
    here = (other for other in series if other.source == figure.source)
    if candidates := [other for other in here if _is_one(other) or other.case.total_devices == 1]:
        return min(candidates, key=lambda other: (not _is_one(other), other.case.total_devices, other.row.number))
    elsewhere = [other for other in series if other.case.total_devices == 1]
    return elsewhere[0] if len({other.value for other in elsewhere}) == 1 else None


def _is_one(figure: _Figure) -> bool:
    return bool(re.fullmatch(r"1(\.0*)?", re.sub(r"[\s%x×]", "", figure.row.cells.get("speedup", ""))))


def _cases(cited: _Cited) -> Iterator[Case]:
    yield cited.case
    named = _source_of(cited.first) if cited.first.source else Path(cited.first.where.rpartition(":")[0]).name
    for attempt in itertools.count(1):
        yield _with(cited.case, "table", named if attempt == 1 else f"{named}.{attempt}")


def _text(first: _Figure) -> bytes:
    value = positive(first.printed.encode())
    return f"{first.row.raw}\nevalsuite cites {value:.10g} {first.items}/s of the whole job\n".encode()


def _fill(folder: RunFolder, cited: _Cited, dialects: Mapping[str, Dialect], series: Sequence[_Figure]) -> None:
    first, text = cited.first, _text(cited.first)
    folder.log_path(HOST).write_bytes(text)
    sources = [Source(path=member.where, sha256=hashlib.sha256(text).hexdigest()) for member in cited.members]
    made = command(dialects[f"cited_{first.items}"], f"{first.items}/s", sources, "cited")
    n = {member.row.cells["n"].removesuffix(".0") for member in cited.members if "n" in member.row.cells}
    kinds = Counter(member.kind for member in cited.members if member.kind)
    figure = CitedFigure(
        printed=first.printed,
        kind=kinds.most_common(1)[0][0] if kinds else None,
        n=int(next(iter(n))) if len(n) == 1 else None,
        log_set=first.log_set,
        citations=tuple(member.citation(_base(member, series)) for member in cited.members),
        runs=tuple(run.printed for run in cited.runs),
        others=tuple(other.citation() for other in cited.others),
        others_printed=tuple(other.printed for other in cited.others),
    )
    folder.write_command(replace(made, stated=user_facts.recorded_facts(first.facts), figure=figure))
    folder.write_outcome(Outcome(status="completed", reason="", origin="cited"))
