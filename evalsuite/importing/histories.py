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
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from evalsuite.contracts.dialect import NO_ITEMS
from evalsuite.core import files, paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message, message_of
from evalsuite.importing import scalar_records
from evalsuite.importing.scalar_records import Point, Scalars
from evalsuite.importing.user_facts import is_precision
from evalsuite.logs import catalogue
from evalsuite.logs.recognition import find_dialects
from evalsuite.logs.text.records import stamp_s
from evalsuite.logs.unknown import words

KNOWN = paths.read_data("table_columns.toml")
COLUMNS: Mapping[str, Sequence[str]] = KNOWN["history"]
MOST_BYTES = 1 << 28
HEAD_BYTES = 1 << 12
MOST_NAMED = 12
OWN_FACTS = ("tag", "unit", "project")  # that the user may say of histories, and that make no case
ANY = "any"  # project
EARLIEST_S = 6e8  # a time since 1970; what is less counts since the run began
_NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:[eE][-+]?\d{1,3})?", re.ASCII)  # no decimal comma, no nan
_SETTING = re.compile(r"(?m)^([\w.]+): (.+)$")
_UNSAID = "samples/s"  # a batch holds them, whatever they are
_MEAN = re.compile("avg|mean|running")
PANEL = re.compile(r"(?P<run>.+?) - (?P<tag>.+?)(?P<end>__(?:MIN|MAX))?")  # of W&B; a run's name may hold a hyphen
_TAG_IN_NAME = re.compile(r"(?i)[-_]tag[-_](?P<tag>.+)")  # run-NAME-tag-train_loss.csv, as TensorBoard saves it
_SEED = re.compile(r"(?i)[\s_-]*(?:seed|run|rep|repeat|trial|r|s|#)[\s_=-]*\d+$")
_SYSTEM = re.compile(r"(?i)^(?:system|gpu|_)|(?:^|[/_.])(?:system|memory|mem)(?:$|[/_.])")
"""What is no series of training."""


@dataclass(frozen=True, kw_only=True)
class History:
    places: tuple[Path, ...]  # files or folders that it is made of
    source: str  # those, and the run in them
    run: str = ""
    points: Mapping[str, Sequence[Point]]
    facts: Mapping[str, object] = field(default_factory=dict)
    calls: bool = False  # its steps may count how often something was logged
    torn: bool = False


@dataclass(frozen=True, kw_only=True)
class Series:
    """Which series say how fast a run was."""

    rate: str | None
    unit: str
    per_device: bool
    kilo: float = 1.0
    unit_s: float = 1.0  # of *seconds*
    seconds: str | None = None  # of a step
    steps_per_s: str | None = None
    frames: str | None = None  # a counter
    loss: str | None = None


def find(root: Path) -> list[History]:
    """All below *root*, or in it."""
    if root.is_file():
        return _of_file(root)
    found: list[History] = []
    for place, folders, names in os.walk(root):
        folder = Path(place)
        folders.sort()
        if "meta.yaml" in names and "metrics" in folders:
            found.append(_mlflow_run(folder))
            folders.clear()
            continue
        events = sorted(name for name in names if "tfevents" in name)
        if events:
            found += _merge_events(folder, [folder / name for name in events])
        if any(name.endswith(".wandb") for name in names):
            folders.clear()  # its console and settings are the same run
            names = [name for name in names if name.endswith(".wandb")]
        rest = (folder / name for name in sorted(names) if name not in events)
        found += itertools.chain.from_iterable(_of_file(file) for file in rest if files.is_file(file))
    return found


def _of_file(file: Path) -> list[History]:
    with files.open_file(file, follow=True) as opened:
        head = opened.read(HEAD_BYTES)
    if b"brain.Event:" in head[:64]:
        return _merge_events(file, [file])
    if head.startswith(scalar_records.WANDB_HEADER):
        return _named((file.parent,), str(file), scalar_records.wandb_file(_content(file)), calls=True)
    if head.startswith(b"SQLite format 3"):
        return list(_database(file))
    rows = file.suffix.lower() == ".jsonl" and head.lstrip().startswith(b"{")
    if not rows and file.suffix.lower() not in (".csv", ".tsv"):
        return []
    found = _rows_of_json(file) if rows else _table(file, _content(file).decode("utf-8-sig", "replace"))
    return [] if found and find_dialects(file, catalogue.known().values()) else found  # it is a script's own log


def _content(file: Path) -> bytes:
    try:
        return files.read_bytes(file, most=MOST_BYTES, follow=True)
    except OSError as error:
        raise EvalsuiteError.of("importing.history_unread", path=file, error=message_of(error)) from error


def _merge_events(place: Path, events: Sequence[Path]) -> list[History]:
    merged = Scalars()
    for file in events:
        read = scalar_records.event_file(_content(file))
        merged.torn = merged.torn or read.torn
        for tag, points in read.points.items():
            merged.points[tag] += points
    name = place.name if place.is_dir() else place.resolve().parent.name
    return _named(tuple(events), str(place), merged, run=name)


def _named(
    places: tuple[Path, ...], source: str, read: Scalars, run: str = "", *, calls: bool = False
) -> list[History]:
    if not read.points:
        return []
    run = str(read.facts.get("group") or read.facts.get("run") or run)
    made = History(places=places, source=source, run=run, points=read.points, facts=read.facts, torn=read.torn)
    return [_stepped(replace(made, calls=calls))]


def _stepped(history: History) -> History:
    """By the number of the training's step where it is logged, and not by how often something was."""
    counter = next((tag for name in COLUMNS["step"] for tag in history.points if tag.lower() == name), None)
    if counter is None or counter == "_step" or not history.calls:
        return history
    steps = {own: value for own, _, value in history.points[counter]}
    moved = {
        tag: [(steps.get(own), at, value) for own, at, value in points if own in steps]
        for tag, points in history.points.items()
    }
    return replace(history, points={tag: points for tag, points in moved.items() if points}, calls=False)


def _mlflow_run(folder: Path) -> History:
    points: dict[str, list[Point]] = {}
    for file in sorted(path for path in (folder / "metrics").rglob("*") if files.is_file(path)):
        rows = (line.split() for line in files.read_text(file).splitlines())
        tag = file.relative_to(folder / "metrics").as_posix()
        points[tag] = _mlflow_points((row[0], row[1], row[2]) for row in rows if len(row) > 2)
    texts = {path.name: files.read_text(path).strip() for path in (folder / "params").glob("*") if files.is_file(path)}
    name = folder / "tags" / "mlflow.runName"
    run = files.read_text(name).strip() if files.is_file(name) else folder.name
    experiment = re.search(r"(?m)^name: (.+)$", files.read_text(folder.parent / "meta.yaml"))
    facts = {**texts, **({"project": experiment[1]} if experiment else {})}
    return History(places=(folder.parent.parent,), source=str(folder), run=run, points=points, facts=facts)


def _mlflow_points(rows: Iterable[Sequence[str]]) -> list[Point]:
    """Of a log that gives no step, all have step 0."""
    read = [(number(step), number(at), number(value)) for at, value, step in rows]
    counted = any(step for step, _, _ in read)
    return [(step if counted else None, at and at / 1000, value) for step, at, value in read if value is not None]


def _database(file: Path) -> Iterator[History]:
    """Of Trackio and MLflow."""
    runs: dict[object, Scalars] = defaultdict(Scalars)
    with sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro&immutable=1", uri=True) as base:
        try:
            tables = {name for (name,) in base.execute("select name from sqlite_master where type = 'table'")}
            if {"metrics", "configs"} <= tables:
                for run, at, step, row in base.execute(
                    "select run_name, timestamp, step, metrics from metrics order by id"
                ):
                    for tag, value in _numbers(json.loads(row)):
                        runs[run].points[tag].append((step, _time_s(at), value))
                for run, config in base.execute("select run_name, config from configs"):
                    runs[run].facts |= {**json.loads(config), "run": run, "project": file.stem}
            elif {"metrics", "params", "runs"} <= tables:
                names = "select run_uuid, runs.name, experiments.name from runs join experiments using (experiment_id)"
                for key, run, project in base.execute(names):
                    runs[key].facts |= {"run": run, "project": project}
                for key, name, value in base.execute("select run_uuid, key, value from params"):
                    runs[key].facts[name] = value
                wanted = "select run_uuid, key, timestamp, value, step from metrics where not is_nan order by timestamp"
                for key, tag, at, value, step in base.execute(wanted):
                    runs[key].points[tag].append((step, at / 1000, value))
        except (sqlite3.Error, ValueError) as error:
            raise EvalsuiteError.of("importing.history_unread", path=file, error=str(error)) from error
    trackio = "configs" in tables
    for read in runs.values():
        yield from _named((file,), f"{file}: {read.facts.get('run')}", read, calls=trackio)


def number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text) else None


def _time_s(value: object) -> float | None:
    read = number(str(value))
    return stamp_s(str(value).encode()) if read is None else read


def _numbers(row: Mapping[str, object]) -> Iterator[tuple[str, float]]:
    for tag, value in row.items():
        text = value if isinstance(value, str) else repr(value)
        if not isinstance(value, bool) and (read := number(text.strip())) is not None:
            yield tag, read


# tables


def _rows_of_json(file: Path) -> list[History]:
    rows = []
    for line in _content(file).decode("utf-8", "replace").splitlines():
        try:
            rows.append(json.loads(line))
        except ValueError:
            break  # it is still written
    rows = [row for row in rows if isinstance(row, dict)]
    return _of_rows(file, rows)


def _table(file: Path, text: str) -> list[History]:
    reader = csv.reader(io.StringIO(text.replace("\0", "")), delimiter="\t" if file.suffix.lower() == ".tsv" else ",")
    try:
        head, *rows = [row for row in reader if any(row)] or [[]]
    except csv.Error:
        return []
    panel = {place: match for place, name in enumerate(head) if (match := PANEL.fullmatch(name))}
    ends = {match["end"] for match in panel.values()}
    if {"__MIN", "__MAX"} <= ends and 0 not in panel:
        return list(_panel(file, head, rows, panel))
    named = _TAG_IN_NAME.search(file.stem)
    value = named["tag"] if named else file.stem
    if [name.strip().lower() for name in head] == ["wall time", "step", "value"]:
        head = [*head[:2], value]
    return _of_rows(file, [dict(zip(head, row, strict=False)) for row in rows])


def _panel(
    file: Path, head: Sequence[str], rows: Sequence[Sequence[str]], columns: Mapping[int, re.Match[str]]
) -> Iterator[History]:
    axis = _column(head[:1])
    for place, match in columns.items():
        if match["end"]:
            continue
        cells = ((number(row[0]), number(row[place])) for row in rows if place < len(row))
        points = [_at_axis(axis, x, value) for x, value in cells if value is not None]
        points_of = {match["tag"]: points}
        yield History(places=(file,), source=f"{file}: {match['run']}", run=match["run"], points=points_of, calls=True)


def _at_axis(axis: Mapping[str, str], x: float | None, value: float) -> Point:
    return (x, None, value) if "step" in axis else (None, x, value) if axis else (None, None, value)


def _column(head: Iterable[str]) -> dict[str, str]:
    """What a column says → its name."""
    lower = {name.strip().lower(): name for name in head}
    found = {says: next((lower[name] for name in names if name in lower), None) for says, names in COLUMNS.items()}
    return {says: name for says, name in found.items() if name is not None}


def _of_rows(file: Path, rows: Sequence[Mapping[str, object]]) -> list[History]:
    """Rows of reports: each has a step or a time. None of others."""
    at = _column(dict.fromkeys(name for row in rows for name in row))
    if not {"step", "at", "elapsed", "frames"} & at.keys():
        return []
    runs: dict[str, Scalars] = defaultdict(Scalars)
    for row in rows:
        own = dict(_numbers(row))
        step, when = own.get(at.get("step", "")), _time_s(row.get(at.get("at", "")) or row.get(at.get("elapsed", "")))
        for tag, value in own.items():
            if tag not in at.values() or tag == at.get("frames"):
                runs[str(row.get(at.get("run", ""), ""))].points[tag].append((step, when, value))
    calls = at.get("step", "") == "_step"
    beside = file.with_name("hparams.yaml")  # of Lightning
    settings = dict(_SETTING.findall(files.read_text(beside))) if files.is_file(beside) else {}
    places, histories = (file, beside), []
    for run, read in runs.items():
        read.facts |= settings
        histories += _named(places, f"{file}: {run}" if run else str(file), read, run or file.stem, calls=calls)
    return histories


def of_project(found: Sequence[History], name: str | None) -> Sequence[History]:
    """Those that the user wants. Raises EvalsuiteError where they are of several projects and nobody says which."""
    projects = Counter(str(each.facts["project"]) for each in found if "project" in each.facts)
    if (len(projects) > 1 and name is None) or (name not in (None, ANY) and name not in projects):
        names = tuple(f"{project} ({count})" for project, count in projects.most_common(MOST_NAMED))
        raise EvalsuiteError.of("importing.projects", n=len(found), names=names, first=next(iter(projects), "…"))
    return found if name in (None, ANY) else [each for each in found if each.facts.get("project") == name]


# series → the text of a log


@dataclass(frozen=True, kw_only=True)
class Written:
    """A history as a log, in a folder that goes when the program ends."""

    path: Path
    history: History
    series: Series

    @property
    def scope(self) -> str | None:
        return "per_device" if self.series.per_device else None

    @property
    def lack(self) -> Message | None:
        """That no series is a rate or a time of steps, and which there are."""
        own = self.series
        if own.rate or own.seconds or own.steps_per_s or own.frames:
            return None
        return Message("importing.no_rate", names=tuple(self.history.points)[:MOST_NAMED])


def write(history: History, tag: str | None = None, unit: str | None = None) -> Written:
    """Raises ValueError where a series that the user names is not there."""
    series = choose(history, tag, unit)
    path = _folder() / f"{len(os.listdir(_folder()))}.log"
    path.write_text(text(history, series), encoding="utf-8")
    return Written(path=path, history=history, series=series)


@functools.cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="evalsuite-histories-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def choose(history: History, tag: str | None = None, unit: str | None = None) -> Series:
    """By their names. *tag*, *unit*: what the user says of the rate. Raises ValueError where that is not there."""
    if tag is not None and tag not in history.points:
        raise ValueError(Message("importing.no_series", tag=tag, names=tuple(history.points)[:MOST_NAMED]))
    rates: list[tuple[int, str, str, float]] = []
    found: dict[str, str] = {}  # what is no rate of items
    for name in history.points:
        label = f"/{name.lower()}"
        if _SYSTEM.search(name) or words.EVALUATION.search(label.encode()) or words.PART.search(label):
            continue
        if rate := words.RATE.search(label):
            items, weight = words.items_of(rate), 2 * (not _MEAN.search(label)) + (not words.PER_DEVICE.search(label))
            if items in NO_ITEMS:
                found.setdefault("steps_per_s", name)
            else:
                rates.append((weight, items, name, words.SUFFIX[rate["kilo"]] if rate["kilo"] else 1.0))
        elif words.PER_STEP.search(label):
            found.setdefault("seconds", name)
        elif name.lower() in COLUMNS["frames"]:
            found["frames"] = name
        elif "loss" in label:
            found.setdefault("loss", name)
    fitting = [each for each in rates if (tag or each[2]) == each[2] and (unit or each[1]) == each[1]]
    said = (0, unit or _UNSAID, tag if unit else None, 1.0)
    _, items, chosen, kilo = said if "frames" in found else max(fitting, key=lambda each: each[0], default=said)
    spelt = re.findall("[a-z]+", found.get("seconds", "").lower())
    units = [words.UNIT_S[word] for word in spelt if word in words.UNIT_S]
    return Series(
        rate=chosen,
        unit="timesteps/s" if "frames" in found else items,
        per_device=bool(chosen and words.PER_DEVICE.search(f"/{chosen.lower()}")),
        kilo=kilo,
        unit_s=units[-1] if units else 1.0,
        **found,
    )


def text(history: History, series: Series) -> str:
    """A line for each report, after what the run's settings say of its size."""
    columns = {"rate": series.rate, "seconds": series.seconds, "steps_per_s": series.steps_per_s}
    columns |= {"timesteps": series.frames, "loss": series.loss}
    longest = max(history.points, key=lambda tag: len(history.points[tag]))
    first = next(filter(None, columns.values()), longest)
    scale = {"rate": series.kilo, "seconds": series.unit_s}
    values = {
        name: {_place(point): point[2] * scale.get(name, 1.0) for point in history.points[tag]}
        for name, tag in columns.items()
        if tag
    }
    steps = [step for step, _, _ in history.points[first] if step is not None]
    calls = history.calls and {after - before for before, after in itertools.pairwise(steps)} <= {1} and not series.rate
    lines = [f"run {json.dumps(history.run)} of {history.source}, series {series.rate or first}"]
    lines += (f"{name}: {value:g}" for name, value in _settings(history.facts))
    for step, at, _ in history.points[first]:
        said = [f"history of {series.unit}:"]
        said += [f"step {step:.0f}"] if step is not None else []
        said += [f"at {at:.3f}" if at > EARLIEST_S else f"after {at:.3f}"] if at is not None and not calls else []
        at_place = ((name, of.get(_place((step, at, 0.0)))) for name, of in values.items())
        lines.append(" ".join([*said, *(f"{name} {value:.10g}" for name, value in at_place if value is not None)]))
    return "\n".join(lines) + ("" if history.torn else "\n")


def _place(point: Point) -> float | None:
    return point[1] if point[0] is None else point[0]


def _settings(facts: Mapping[str, object]) -> Iterator[tuple[str, float]]:
    """As a log prints them: of the job's size alone."""
    for name, own in _flat(facts):
        says = next((says for says, names in KNOWN["config"].items() if name in names), None)
        if says and (value := number(str(own))) is not None:
            yield says, value


def facts_of(history: History) -> dict[str, str]:
    """What its settings and its name say of the case: by the names of `--set`."""
    said = {name: str(own) for name, own in _flat(history.facts)}
    found = {says: said[name] for says, names in KNOWN["facts"].items() for name in names if name in said}
    if not is_precision(found.get("precision", "")):
        found.pop("precision", None)
    return found | ({"run": _SEED.sub("", history.run) or history.run} if history.run else {})


def _flat(facts: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from _flat(value)
        elif value is not None:
            yield re.split(r"[/.]", name.lower())[-1], value
