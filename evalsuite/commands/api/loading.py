"""`evalsuite.load`, `compare` and `parse`: results as typed rows, for a notebook. Nothing is started or written."""

import csv
import functools
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints

from evalsuite.commands.api.rows import KINDS, Case, Finding, Run, Sample, Step, Utilisation
from evalsuite.commands.parse import read_path
from evalsuite.core import files
from evalsuite.core.decode import number
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Evaluation
from evalsuite.finished import finished
from evalsuite.logs import catalogue
from evalsuite.logs.reading import Reading
from evalsuite.report.data import tables
from evalsuite.results.compare import changes
from evalsuite.results.compare.changes import Changes
from evalsuite.results.evaluation import evaluate
from evalsuite.results.measure import measurement
from evalsuite.runs import merged, rehearsed, sampled
from evalsuite.runs.store import RunFolder, Store

if TYPE_CHECKING:
    import pandas

Row = TypeVar("Row", bound=tuple[Any, ...])


class Results:
    """What `load` read: a row a thing, of plain values with the unit in the name; None: not measured."""

    def __init__(self, sources: Iterable[tuple[str, Mapping[str, Sequence[tables.Row]]]], store: Store | None) -> None:
        self._tables = tuple(sources)
        self._store = store

    def __repr__(self) -> str:
        return f"<Results: {len(self.runs)} runs of {len(self.cases)} cases>"

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        return self._rows(Run, "runs")

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        return self._rows(Case, "summaries")

    @cached_property
    def utilisation(self) -> tuple[Utilisation, ...]:
        return self._rows(Utilisation, "utilisation")

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        return self._rows(Finding, "findings")

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Of the runs of run folders: a report keeps none."""
        return tuple(row for folder in self._folders() for row in _steps(folder))

    @cached_property
    def samples(self) -> tuple[Sample, ...]:
        """Of the runs of run folders: a report keeps none."""
        return tuple(row for folder in self._folders() for row in _samples(folder))

    def frame(self, name: str) -> "pandas.DataFrame":
        """The rows called *name* ("runs") as a data frame; of runs and cases each option is a column `option_…`."""
        import pandas

        kind = KINDS.get(name)
        if kind is None:
            raise EvalsuiteError.of("commands.no_rows", name=name, known=tuple(KINDS))
        columns, rows = tables.with_options(kind._fields, [row._asdict() for row in getattr(self, name)])
        return pandas.DataFrame(rows, columns=list(columns))

    def _folders(self) -> list[RunFolder]:
        return self._store.finished() if self._store else []

    def _rows(self, kind: type[Row], name: str) -> tuple[Row, ...]:
        return tuple(_row(kind, row, source) for source, tables in self._tables for row in tables[name])


def load(first: str | Path, *others: str | Path) -> Results:
    """Folders of runs, of which several are one evaluation, and folders of finished reports."""
    given = [Path(path) for path in (first, *others)]
    reports = [path for path in given if (path / finished.SUMMARY).exists()]
    roots = [path for path in given if path not in reports]
    sources: list[tuple[str, Mapping[str, Sequence[tables.Row]]]] = [(str(path), _written(path)) for path in reports]
    store = merged.store(roots) if roots else None
    if store is not None:
        rehearsed.refuse(store)
        sources.append((str(roots[0]), _rows_of(evaluate(store))))
    _refuse_twice(sources)
    return Results(sources, store)


def _refuse_twice(sources: Iterable[tuple[str, Mapping[str, Sequence[tables.Row]]]]) -> None:
    seen: dict[object, str] = {}
    for source, named in sources:
        logs = {row["log_sha256"]: row["run_id"] for row in named["runs"] if row.get("log_sha256")}
        if twice := next((log for log in logs if log in seen), None):
            raise EvalsuiteError.of("commands.loaded_twice", path=source, run=logs[twice], other=seen[twice])
        seen |= dict.fromkeys(logs, source)


def compare(before: str | Path, after: str | Path, *, across_environments: bool = False) -> Changes:
    first, second = (finished.read(Path(path)).summaries for path in (before, after))
    return changes.between(first, second, across_environments=across_environments)


def parse(path: str | Path, *, devices: int | None = None, batch_per_device: float | None = None) -> Reading:
    """What a log says, or the folder of `evalsuite sample`."""
    return read_path(Path(path), devices=devices, batch_per_device=batch_per_device)[0]


def _rows_of(evaluation: Evaluation) -> Mapping[str, Sequence[tables.Row]]:
    from evalsuite.report.book import identity
    from evalsuite.report.book.book import Book

    return tables.rows(Book(evaluation=identity.ordered(evaluation)), _TABLES)


_TABLES = ("runs", "summaries", "utilisation", "findings")


def _written(report: Path) -> Mapping[str, Sequence[tables.Row]]:
    finished.read(report)  # refuses what is none, or is of another version
    return {name: [*_cells(report / "tables" / f"{name}.csv")] for name in _TABLES}


def _cells(file: Path) -> Iterator[tables.Row]:
    try:
        text = files.read_bytes(file, most=files.MOST_SUMMARY_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise EvalsuiteError.of("commands.no_table", path=file, error=error) from error
    yield from csv.DictReader(io.StringIO(text, newline=""))


def _row(kind: type[Row], cells: tables.Row, source: str) -> Row:
    known = {**cells, "source": source}
    return kind(*(_value(known.get(name), hint) for name, hint in _hints(kind).items()))


_hints = functools.cache(get_type_hints)


def _value(value: Any, hint: Any) -> Any:
    if value is None or not isinstance(value, str) or hint is str:
        return value
    types = get_args(hint) or (hint,)
    if not value:
        return None if type(None) in types else value
    if bool in types:
        return value == "True"
    if int in types:
        return int(value)
    return number(value) if float in types else value


def _steps(folder: RunFolder) -> Iterator[Step]:
    try:
        run, recipe = folder.run(), folder.command().recipe
        read = measurement.read_logs(folder.logs(), run.case, recipe, catalogue.known(), False)
    except EvalsuiteError:
        return  # its row in `runs` says why
    for row in read.steps:
        yield Step(
            run.id, folder.label, row.index, row.steps, row.items, row.seconds, row.items_per_s, row.arrival_s, row.loss
        )


def _samples(folder: RunFolder) -> Iterator[Sample]:
    if not folder.sampled_hosts():
        return
    try:
        run, table = folder.run(), sampled.rows(folder)
        head = next(table)
    except EvalsuiteError:
        return
    at = head.index("at_s")
    for row in table:
        yield from (
            Sample(run.id, folder.label, str(row[0]), row[at], str(name), value)  # type: ignore[arg-type]
            for name, value in zip(head[1:], row[1:], strict=True)
            if value is not None and name != "at_s"
        )
