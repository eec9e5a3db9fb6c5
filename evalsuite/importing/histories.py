"""Histories of runs as trackers and loggers keep them, each made into the text of a log and read as any other.

A run is a column of W&B's panel, the rows of one name, the event files of a folder, a run of MLflow or Trackio. What a
series counts is told by its name alone; a wall time is a clock; a series that is no rate gives none.
"""

import atexit
import csv
import functools
import io
import itertools
import json
import os
import re
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evalsuite.contracts.dialect import NO_ITEMS
from evalsuite.core import files, paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message, message_of
from evalsuite.importing import scalar_records
from evalsuite.importing.scalar_records import Row, Scalars
from evalsuite.importing.user_facts import is_precision
from evalsuite.logs import catalogue
from evalsuite.logs.recognition import find_dialects
from evalsuite.logs.text.logfile import Unreadable
from evalsuite.logs.text.records import stamp_s
from evalsuite.logs.unknown import words

KNOWN = paths.read_data("table_columns.toml")
COLUMNS: Mapping[str, Sequence[str]] = KNOWN["history"]
SETTINGS: Mapping[str, Sequence[str]] = KNOWN | KNOWN["sizes"]
FACTS = ("framework", "model", "precision", "nodes")  # that trackers keep as we call them
OWN_FACTS = ("tag", "unit", "project")  # that the user may say of histories, and that make no case
ANY = "any"  # project
MOST_BYTES = 1 << 28
HEAD_BYTES = 1 << 12
MOST_NAMED = 12
SAYS = ("rate", "seconds", "steps_per_s", "timesteps", "loss")  # a line, in this order (logs/dialects/cited.py)
EARLIEST_S = 6e8  # a time since 1970; what is less counts since the run began
_UNSAID = "samples/s"  # a batch holds them, whatever they are
_PANEL = re.compile(r"(?P<run>.+) - (?P<tag>.+?)(?P<end>__(?:MIN|MAX))?")  # of W&B; a run's name may hold " - "
_UNIT = re.compile(rf"[ _(]+(?:{'|'.join(words.UNIT_S)})\)?$")  # behind the name of a time
_TAG_IN_NAME = re.compile(r"(?i).*[-_]tag[-_]")  # run-NAME-tag-train_loss.csv, as TensorBoard saves it
_SEED = re.compile(r"(?i)[\s_-]*(?:seed|run|rep|repeat|trial|r|s|#)[\s_=-]*\d+$")
_SYSTEM = re.compile(r"(?i)^(?:system|gpu|_)|(?:^|[/_.])(?:system|memory|mem)(?:$|[/_.])")  # no series of training
_MEAN = re.compile("avg|mean|running")
_NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:[eE][-+]?\d{1,3})?", re.ASCII)  # no decimal comma, no nan
_SETTING = re.compile(r"(?m)^([\w.]+): (.+)$")
_DATABASES = {  # a table that tells whose it is → runs with name and project, their settings, their reports
    "configs": (
        "select distinct run_name, run_name, null from metrics",
        "select run_name, config from configs",
        "select run_name, timestamp, step, metrics from metrics order by id",
    ),
    "experiments": (
        "select run_uuid, runs.name, experiments.name from runs join experiments using (experiment_id)",
        "select run_uuid, json_group_object(key, value) from params group by run_uuid",
        "select run_uuid, timestamp / 1000.0, step, json_object(key, value) from metrics where not is_nan order by 2",
    ),
}


@dataclass(frozen=True, kw_only=True)
class Report:
    step: float | None
    at_s: float | None  # since 1970, or since the run began
    values: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class History:
    places: tuple[Path, ...]  # files or folders that it is made of
    source: str  # those, and the run in them
    run: str
    reports: Sequence[Report]
    facts: Mapping[str, object] = field(default_factory=dict)
    calls: bool = False  # its steps may count how often something was logged
    torn: bool = False

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(tag for report in self.reports for tag in report.values))


def find(root: Path) -> list[History]:
    """All below *root*, or in it."""
    if root.is_file():
        return _of_file(root)
    found: list[History] = []
    for place, folders, names in os.walk(root):
        folder = Path(place)
        folders.sort()
        if "meta.yaml" in names and "metrics" in folders:
            found += _mlflow_run(folder)
            folders.clear()
            continue
        events = [folder / name for name in sorted(names) if "tfevents" in name]
        found += _event_files(events, folder) if events else []
        if any(name.endswith(".wandb") for name in names):
            folders.clear()  # its console and settings are the same run
            names = [name for name in names if name.endswith(".wandb")]
        rest = (folder / name for name in sorted(names) if "tfevents" not in name)
        found += itertools.chain.from_iterable(_of_file(file) for file in rest if files.is_file(file))
    return found


def _of_file(file: Path) -> list[History]:
    with files.open_file(file, follow=True) as opened:
        head = opened.read(HEAD_BYTES)
    try:
        if b"brain.Event:" in head[:64]:
            return _event_files([file], file)
        if head.startswith(scalar_records.WANDB):
            read = scalar_records.wandb_file(_content(file))
            run = str(read.facts.get("group") or read.facts.get("run") or "")
            return _histories((file.parent,), str(file), read, run)
        if head.startswith(b"SQLite format 3"):
            return list(_database(file))
        if file.suffix.lower() in (".csv", ".tsv"):
            found = _table(file)
        elif file.suffix.lower() == ".jsonl" and head.startswith(b"{"):
            found = _rows_of_json(file)
        else:
            return []
        return [] if found and find_dialects(file, catalogue.known().values()) else found  # it is a script's own log
    except Unreadable:
        return []
    except (OSError, sqlite3.Error, ValueError) as error:
        raise EvalsuiteError.of("importing.history_unread", path=file, error=message_of(error)) from error


def _content(file: Path) -> bytes:
    return files.read_bytes(file, most=MOST_BYTES, follow=True)


def _event_files(events: Sequence[Path], place: Path) -> list[History]:
    read = [scalar_records.event_file(_content(file)) for file in events]
    facts = {name: value for each in read for name, value in each.facts.items()}
    rows = [row for each in read for row in each.rows]
    whole = Scalars(rows=rows, facts=facts, torn=any(each.torn for each in read))
    return _histories(tuple(events), str(place), whole, (place if place.is_dir() else place.resolve().parent).name)


def _mlflow_run(folder: Path) -> list[History]:
    rows: list[Row] = []
    for file in sorted(path for path in (folder / "metrics").rglob("*") if files.is_file(path)):
        tag = file.relative_to(folder / "metrics").as_posix()
        lines = (line.split() for line in files.read_text(file).splitlines() if line.count(" ") == 2)
        rows += [{"timestamp": float(at) / 1000, tag: value, "step": step} for at, value, step in lines]
    texts: Row = {
        path.name: files.read_text(path).strip() for path in (folder / "params").glob("*") if files.is_file(path)
    }
    about = [
        files.read_text(each / "meta.yaml") for each in (folder, folder.parent) if files.is_file(each / "meta.yaml")
    ]
    names = [name[1] for text in about if (name := re.search(r"(?m)^(?:run_)?name: (.+)$", text))]
    run, project = [*(name.strip("'\"") for name in names), "", ""][:2]
    read = Scalars(rows=rows, facts={**texts, "project": project})
    return _histories((folder.parent.parent,), str(folder), read, run or folder.name)


def _database(file: Path) -> Iterator[History]:
    """Of Trackio and MLflow."""
    with sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro&immutable=1", uri=True) as base:
        tables = {name for (name,) in base.execute("select name from sqlite_master where type = 'table'")}
        for kind, (names, settings, reports) in _DATABASES.items():
            if not {kind, "metrics"} <= tables:
                continue
            runs = {run: Scalars(facts={"run": name, "project": project}) for run, name, project in base.execute(names)}
            for run, config in base.execute(settings):
                runs[run].facts = json.loads(config) | runs[run].facts
            for run, at, step, row in base.execute(reports):
                runs[run].rows.append({**json.loads(row), "timestamp": at, "step": step})
            for read in runs.values():
                name = str(read.facts["run"])
                yield from _histories((file,), f"{file}: {name}", read, name, calls=kind == "configs")


def _rows_of_json(file: Path) -> list[History]:
    rows: list[Row] = []
    for line in _content(file).decode("utf-8", "replace").splitlines():
        try:
            rows.append(dict(json.loads(line)))
        except (TypeError, ValueError):
            break  # it is still written
    return _histories((file,), str(file), Scalars(rows=rows), file.stem)


def _table(file: Path) -> list[History]:
    text = _content(file).decode("utf-8-sig", "replace").replace("\0", "")
    head, *rows = [
        row for row in csv.reader(io.StringIO(text), delimiter="\t" if "\t" in text[:HEAD_BYTES] else ",")
    ] or [[]]
    panel = {place: match for place, name in enumerate(head) if (match := _PANEL.fullmatch(name))}
    if panel and len(panel) == len(head) - 1 and 0 not in panel:
        cells = ((row, place, match) for row in rows for place, match in panel.items() if place < len(row))
        melted: list[Row] = [
            {"run": m["run"], head[0]: row[0], m["tag"]: row[at]} for row, at, m in cells if not m["end"]
        ]
        return _histories((file,), str(file), Scalars(rows=melted), "", calls=True)
    if [name.strip().lower() for name in head] == ["wall time", "step", "value"]:
        head = [*head[:2], _TAG_IN_NAME.sub("", file.stem)]
    beside = file.with_name("hparams.yaml")  # of Lightning
    settings = dict(_SETTING.findall(files.read_text(beside))) if files.is_file(beside) else {}
    read = Scalars(rows=[dict(zip(head, row, strict=False)) for row in rows], facts=settings)
    found = _histories((file, beside), str(file), read, file.resolve().parent.name if settings else file.stem)
    return found if any(len(each.reports) > 1 for each in found) else []  # a row a run is a table of figures


def _histories(places: tuple[Path, ...], source: str, read: Scalars, run: str, *, calls: bool = False) -> list[History]:
    """One, or one for each name in a column of them; none where no column is a step or a time."""
    lower = {name.strip().lower(): name for name in dict.fromkeys(name for row in read.rows for name in row)}
    named = {says: next((lower[name] for name in names if name in lower), "") for says, names in COLUMNS.items()}
    if not (named["step"] or named["at"] or named["elapsed"] or named["frames"]):
        return []
    moves = len({row.get(named["step"]) for row in read.rows}) > 1  # MLflow's is 0 where nobody gives one
    runs: dict[str, list[Report]] = {}
    last: dict[object, Report] = {}
    for row in read.rows:
        numbers = {name: number for name, cell in row.items() if (number := _number(cell)) is not None}
        step = numbers.get(named["step"]) if moves else None
        at_s = _time_s(row.get(named["at"]) or row.get(named["elapsed"]))
        kept = {named["frames"], *numbers} - {says for name, says in named.items() if name != "frames"}
        values = {name: number for name, number in numbers.items() if name in kept}
        name = str(row.get(named["run"], ""))
        known = last.get(key := (name, at_s if step is None else step))
        if known is None or not known.values.keys().isdisjoint(values):
            known = last[key] = Report(step=step, at_s=at_s, values={})
            runs.setdefault(name, []).append(known)
        known.values.update(values)
    return [
        History(
            places=places,
            source=f"{source}: {name}" if name else source,
            run=name or run,
            reports=[report for report in reports if report.values],
            facts=read.facts,
            calls=named["step"] == "_step" or (calls and named["step"].lower() == "step"),
            torn=read.torn,
        )
        for name, reports in runs.items()
        if any(report.values for report in reports)
    ]


def _number(cell: object) -> float | None:
    text = str(cell).strip()
    return float(text) if _NUMBER.fullmatch(text) else None


def _time_s(cell: object) -> float | None:
    number = _number(cell)
    return stamp_s(str(cell).encode()) if number is None else number


def of_project(found: Sequence[History], name: str | None) -> Sequence[History]:
    """Those that the user wants. Raises EvalsuiteError where they are of several projects and nobody says which."""
    projects = Counter(str(each.facts["project"]) for each in found if each.facts.get("project"))
    if (len(projects) > 1 and name is None) or (name not in (None, ANY) and name not in projects):
        names = tuple(f"{project} ({count})" for project, count in projects.most_common(MOST_NAMED))
        raise EvalsuiteError.of("importing.projects", n=len(found), names=names, first=next(iter(projects), "…"))
    return found if name in (None, ANY) else [each for each in found if each.facts.get("project") == name]


# series → the text of a log


@dataclass(frozen=True, kw_only=True)
class Chosen:
    series: Mapping[str, tuple[str, float]]  # what a line says → the series that says it, and its factor
    unit: str
    per_device: bool


@dataclass(frozen=True, kw_only=True)
class Written:
    """A history as a log, in a folder that goes when the program ends."""

    path: Path
    history: History
    scope: str | None
    lack: Message | None  # no series is a rate or a time of steps


def write(history: History, tag: str | None = None, unit: str | None = None) -> Written:
    """Raises ValueError where a series that the user names is not there."""
    chosen = choose(history.tags, tag, unit)
    path = _folder() / f"{len(os.listdir(_folder()))}.log"
    path.write_text(_text(history, chosen), encoding="utf-8")
    lack = None if chosen.series.keys() - {"loss"} else Message("importing.no_rate", names=history.tags[:MOST_NAMED])
    return Written(path=path, history=history, scope="per_device" if chosen.per_device else None, lack=lack)


@functools.cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="evalsuite-histories-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def choose(tags: Sequence[str], tag: str | None = None, unit: str | None = None) -> Chosen:
    """By their names; *tag*, *unit*: what the user says of the rate. Raises ValueError where that is not there."""
    if tag is not None and tag not in tags:
        raise ValueError(Message("importing.no_series", tag=tag, names=tags[:MOST_NAMED]))
    rates: list[tuple[int, str, str, float]] = []
    found: dict[str, tuple[str, float]] = {}
    for name in tags:
        label = f"/{name.lower()}"
        if _SYSTEM.search(name) or words.EVALUATION.search(label.encode()) or words.PART.search(label):
            continue
        if rate := words.RATE.search(label):
            items, weight = words.items_of(rate), 2 * (not _MEAN.search(label)) + (not words.PER_DEVICE.search(label))
            if items in NO_ITEMS:
                found.setdefault("steps_per_s", (name, 1.0))
            else:
                rates.append((weight, items, name, words.SUFFIX[rate["kilo"]] if rate["kilo"] else 1.0))
        elif words.PER_STEP.search(label) or words.PER_STEP.search(_UNIT.sub("", label)):
            spelt = [words.UNIT_S[word] for word in re.findall("[a-z]+", label) if word in words.UNIT_S]
            found.setdefault("seconds", (name, spelt[-1] if spelt else 1.0))
        elif name.lower() in COLUMNS["frames"]:
            found["timesteps"] = (name, 1.0)
        elif "loss" in label:
            found.setdefault("loss", (name, 1.0))
    if "timesteps" in found:  # the rate beside is a mean since the start
        return Chosen(series=found, unit="timesteps/s", per_device=False)
    fitting = [each for each in rates if (tag or each[2]) == each[2] and (unit or each[1]) == each[1]]
    said = (0, unit or _UNSAID, tag if unit else None, 1.0)
    _, items, chosen, kilo = max(fitting, key=lambda each: each[0], default=said)
    whose = bool(chosen and words.PER_DEVICE.search(f"/{chosen.lower()}"))
    return Chosen(series=found | ({"rate": (chosen, kilo)} if chosen else {}), unit=items, per_device=whose)


def _text(history: History, chosen: Chosen) -> str:
    """A line for each report that says one of the series, after what the run's settings say of its size."""
    steps = [report.step for report in history.reports if report.step is not None]
    by_one = {after - before for before, after in itertools.pairwise(steps)} <= {1}
    clocked = not (history.calls and by_one and "rate" not in chosen.series)
    series = [(name, *chosen.series[name]) for name in SAYS if name in chosen.series]
    lines = [f"run {json.dumps(history.run)} of {history.source}: {', '.join(tag for _, tag, _ in series)}"]
    lines += (f"{name}: {value:g}" for name, value in _settings(history.facts))
    for report in history.reports:
        if series and series[0][1] not in report.values:
            continue
        said = [f"history of {chosen.unit}:"]
        said += [f"step {report.step:.0f}"] if report.step is not None else []
        if report.at_s is not None and clocked:
            said.append(f"at {report.at_s:.3f}" if report.at_s > EARLIEST_S else f"after {report.at_s:.3f}")
        told = (f"{name} {report.values[tag] * factor:.10g}" for name, tag, factor in series if tag in report.values)
        lines.append(" ".join([*said, *told]))
    return "\n".join(lines) + ("" if history.torn else "\n")


def _settings(facts: Mapping[str, object]) -> Iterator[tuple[str, float]]:
    """As a log prints them: of the job's size alone."""
    for name, own in _flat(facts):
        says = next((says for ours, says in KNOWN["printed"].items() if name in SETTINGS[ours]), None)
        if says and (value := _number(own)) is not None:
            yield says, value


def facts_of(history: History) -> dict[str, str]:
    """What its settings and its name say of the case: by the names of `--set`."""
    said = {name: str(own) for name, own in _flat(history.facts)}
    found = {says: said[name] for says in FACTS for name in KNOWN[says] if name in said}
    if not is_precision(found.get("precision", "")):
        found.pop("precision", None)
    return found | ({"run": without_seed(history.run)} if history.run else {})


def without_seed(run: str) -> str:
    """What runs have in common that are repeats by their names."""
    return _SEED.sub("", run) or run


def _flat(facts: Mapping[str, object]) -> Iterable[tuple[str, object]]:
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from _flat(value)
        elif value is not None:
            yield re.split(r"[/.]", name.lower())[-1], value
