"""`evalsuite.load`, `diff` and `read`: results as data frames, for a notebook. Nothing is started or written."""

import glob
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalsuite.commands.parse import read_path
from evalsuite.core import files
from evalsuite.core.errors import EvalsuiteError
from evalsuite.finished import finished
from evalsuite.logs import catalogue
from evalsuite.logs.reading import Reading
from evalsuite.report.book import identity
from evalsuite.report.book.book import Book
from evalsuite.report.data import tables
from evalsuite.results.compare import changes
from evalsuite.results.compare.changes import Changes, Difference
from evalsuite.results.evaluation import evaluate
from evalsuite.results.measure import measurement
from evalsuite.runs import merged, rehearsed, sampled
from evalsuite.runs.store import RunFolder, Store

if TYPE_CHECKING:
    import pandas

Side = str | Path | Sequence[float]
STEP = ("items", "seconds", "items_per_s", "arrival_s", "loss")
TABLES = {"runs": "runs", "cases": "summaries", "utilisation": "utilisation", "findings": "findings"}
_SHOWN: Mapping[str, Any] = {"index": False, "na_rep": "", "float_format": "{:,.2f}".format}
_RATES = ("items_per_s", "items_per_s_low", "items_per_s_high")
SHOWN = ("framework", "model", "precision", "batch_per_device", "nodes", "devices_per_node", *_RATES, "n", "unit")


def _frame(name: str, meaning: str) -> "property":
    def frame(results: "Results") -> "pandas.DataFrame":
        return results._frames[name]

    return property(frame, doc=meaning)


class Results:
    """What `load` read: data frames with the unit in the name of a column; an empty cell was not measured."""

    runs = _frame("runs", "A row for each run: case, campaign, round, status, rate by each clock, machine, log.")
    cases = _frame("cases", "A row for each case over its repeats: median, interval, speed-up, efficiency.")
    utilisation = _frame("utilisation", "A row for each resource of a run over its measured steps.")
    findings = _frame("findings", "A row for each thing that the data rules say.")

    def __init__(self, sources: Sequence[tuple[str, Mapping[str, bytes]]], store: Store | None) -> None:
        import pandas

        seen: dict[str, str] = {}
        self._frames: dict[str, pandas.DataFrame] = {}
        for name, table in TABLES.items():
            frames = [pandas.read_csv(io.BytesIO(each[table])).assign(source=source) for source, each in sources]
            self._frames[name] = pandas.concat(frames, ignore_index=True)
            for (source, _), frame in zip(sources, frames, strict=True) if name == "runs" else ():
                runs = frame.dropna(subset="log_sha256").drop_duplicates("log_sha256").set_index("log_sha256")["run_id"]
                for log in runs.index.intersection([*seen])[:1]:
                    raise EvalsuiteError.of("commands.loaded_twice", path=source, run=runs[log], other=seen[log])
                seen |= dict.fromkeys(runs.index, source)
        begun = pandas.to_datetime(self.runs["started_at"], format="ISO8601", utc=True)
        self._frames["runs"] = self.runs.assign(started_at=begun)
        self._folders, self._source = store.finished() if store else [], sources[-1][0]

    def _repr_html_(self) -> str:
        return str(self.cases[[*SHOWN]].to_html(**_SHOWN))

    def __repr__(self) -> str:
        return str(self.cases[[*SHOWN]].to_string(**_SHOWN))

    @cached_property
    def steps(self) -> "pandas.DataFrame":
        """The reports of the logs in run folders: a report keeps none."""
        import pandas

        columns = ("run_id", "source", "step", "steps", *STEP)
        return pandas.DataFrame((row for of in self._folders for row in _steps(of, self._source)), columns=columns)

    @cached_property
    def samples(self) -> "pandas.DataFrame":
        """A row for each reading of a sensor, from run folders: a report keeps none."""
        import pandas

        frames = [pandas.DataFrame(columns=["run_id", "source", "host", "at_s", "quantity", "value"])]
        for folder in (each for each in self._folders if each.sampled_hosts()):
            head, *rows = sampled.rows(folder)
            long = pandas.DataFrame(rows, columns=head).melt(["host", "at_s"], var_name="quantity").dropna()
            frames.append(long.assign(run_id=folder.run().id, source=folder.label or self._source))
        return pandas.concat(frames, ignore_index=True) if frames[1:] else frames[0]


def load(first: str | Path, *others: str | Path) -> Results:
    """Folders of runs, of which several are one evaluation, and folders of finished reports or their `report.html`.
    A name with `*`, `?` or `[` stands for all that match, as in a shell. Raises EvalsuiteError for other folders."""
    given = [finished.folder_of(path) for name in (first, *others) for path in _matches(Path(name))]
    reports = [path for path in given if (path / finished.SUMMARY).exists()]
    roots = [path for path in given if path not in reports]
    sources = [(str(path), _written(path)) for path in reports]
    if lacking := [path for path in roots if not Store(path).finished() and path.suffix.lower() != ".zip"]:
        raise EvalsuiteError.of("commands.loaded_none", path=lacking[0])
    store = merged.store(roots) if roots else None
    if store is not None:
        rehearsed.refuse(store)
        book = Book(evaluation=identity.ordered(evaluate(store)))
        sources.append((", ".join(map(str, roots)), tables.csv_files(book, TABLES.values())))
    return Results(sources, store)


def diff(before: Side, after: Side, *, across_environments: bool = False) -> Changes | Difference:
    """What the command `diff` says of two reports, or of two lists of rates, one of each run.
    *across_environments*: machines are compared, not the software."""
    if isinstance(before, str | Path) and isinstance(after, str | Path):
        first, second = (finished.read(Path(path), vouched=True).summaries for path in (before, after))
        return changes.between(first, second, across_environments=across_environments)
    if isinstance(before, str | Path) or isinstance(after, str | Path):
        raise EvalsuiteError.of("commands.two_sides", n=1)
    for side in (before, after):
        if not side or not all(0 < value < math.inf for value in side):
            raise EvalsuiteError.of("commands.no_numbers", where="diff", got=str(side)[:60])
    return changes.of_values(before, after)


def read(path: str | Path, *, devices: int | None = None, batch_per_device: float | None = None) -> Reading:
    """What the command `parse` says of a log, or of the folder of `evalsuite sample`."""
    return read_path(Path(path), devices=devices, batch_per_device=batch_per_device)[0]


def _matches(name: Path) -> Sequence[Path]:
    if name.exists() or not glob.has_magic(str(name)):
        return [name]
    if found := sorted(map(Path, glob.glob(str(name)))):
        return found
    raise EvalsuiteError.of("commands.no_match", pattern=name)


def _written(report: Path) -> Mapping[str, bytes]:
    finished.read(report)  # refuses what is none, or is of another version
    places = {name: report / "tables" / f"{name}.csv" for name in TABLES.values()}
    try:
        return {name: files.read_bytes(file, most=files.MOST_SUMMARY_BYTES) for name, file in places.items()}
    except OSError as error:
        raise EvalsuiteError.of("commands.no_table", path=error.filename, error=error) from error


def _steps(folder: RunFolder, source: str) -> Iterator[Sequence[object]]:
    try:
        run, recipe = folder.run(), folder.command().recipe
        read = measurement.read_logs(folder.logs(), run.case, recipe, catalogue.known(), False)
    except EvalsuiteError:
        return  # its row in `runs` says why
    for row in read.steps:
        yield (run.id, folder.label or source, row.index, row.steps, *(getattr(row, name) for name in STEP))
