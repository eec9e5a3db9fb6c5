"""Histories of runs as trackers and loggers keep them, each made into the text of a log and read as any other. A run is
a column of W&B's panel, the rows of one name, the event files of a folder, a run of MLflow or Trackio. What a series
counts is told by its name alone; a wall time is a clock; a series that is no rate gives none."""

import atexit
import contextlib
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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeVar

from evalsuite.contracts.dialect import NO_ITEMS
from evalsuite.core import files, paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message, message_of
from evalsuite.importing import scalar_records
from evalsuite.importing.scalar_records import Row
from evalsuite.importing.user_facts import USER, is_precision
from evalsuite.logs import catalogue
from evalsuite.logs.recognition import find_dialects
from evalsuite.logs.text.logfile import Unreadable, kind
from evalsuite.logs.text.records import stamp_s
from evalsuite.logs.unknown import words

One = TypeVar("One")
KNOWN = paths.read_data("table_columns.toml")
COLUMNS: Mapping[str, Sequence[str]] = KNOWN["history"]
SETTINGS: Mapping[str, Sequence[str]] = KNOWN | KNOWN["sizes"]
FACTS = ("framework", "model", "precision", "nodes", "gpus")  # that trackers keep as we call them
OWN_FACTS = ("tag", "unit", "project")  # that the user may say of histories, and that make no case
ANY = "any"  # project
MOST_BYTES, LARGEST_TEXT = 1 << 28, 1 << 26
HEAD_BYTES = 1 << 12
MOST_NAMED = 12
FEWEST = 3  # reports of a series
_content = functools.partial(files.read_bytes, most=MOST_BYTES, follow=True)
SAYS = ("rate", "seconds", "steps_per_s", "timesteps", "loss")  # a line, in this order (logs/dialects/cited.py)
EARLIEST_S = 6e8  # a time since 1970; what is less counts since the run began
_UNSAID = "samples/s"  # a batch holds them, whatever they are
_PANEL = re.compile(r"(?P<run>.+) - (?P<tag>.+?)(?P<end>__(?:MIN|MAX))?")  # of W&B; a run's name may hold " - "
_UNIT = re.compile(rf"[ _(]+(?:{'|'.join(words.UNIT_S)})\)?$")  # behind the name of a time
_TAG_IN_NAME = re.compile(r"(?i).*[-_]tag[-_]")  # run-NAME-tag-train_loss.csv, as TensorBoard saves it
_SEED = re.compile(r"(?i)(?:(?:^|[\s_-]+)(?:seed|run|rep|repeat|trial)[\s_=-]*|\s*#)\d+$")
_SYSTEM = re.compile(r"(?i)^(?:system|gpu|_)|(?:^|[/_.])(?:system|memory|mem)(?:$|[/_.])")  # no series of training
_TABLES = "'configs', 'experiments', 'metrics', 'params', 'runs'"
_VIEW = f"select name from sqlite_master where type = 'view' and name in ({_TABLES})"  # one may have no end
_NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:[eE][-+]?\d{1,3})?", re.ASCII)  # no decimal comma, no nan
_SETTING = re.compile(r"(?m)^([\w.]+): (.+)$")


class Report(NamedTuple):
    step: float | None
    at_s: float | None  # since 1970, or since the run began
    values: dict[str, float]


class Chosen(NamedTuple):
    series: Mapping[str, tuple[str, float]]  # what a line says → the series that says it, and its factor
    unit: str
    per_device: bool


@dataclass(frozen=True, kw_only=True)
class History:
    places: tuple[Path, ...]  # files or folders that it is made of
    source: str  # those, and the run in them
    run: str
    reports: Sequence[Report]
    facts: Mapping[str, object]
    calls: bool  # its steps may count how often something was logged
    torn: bool
    path: Path = Path()  # as a log, where it is written
    scope: str | None = None
    lack: str | None = None  # no series is a rate or a time of steps, or it is damaged

    @property
    def tags(self) -> tuple[str, ...]:
        """Without what was logged once or twice beside series, such as a mean at the end."""
        counts = Counter(tag for report in self.reports for tag in report.values)
        return tuple(tag for tag, count in counts.items() if count >= min(FEWEST, max(counts.values())))


def find(root: Path) -> list[History]:
    """All below *root*, or in it; what is damaged below it lacks all. Raises EvalsuiteError if *root* is damaged."""
    if root.is_file():
        return _of_files([root], root)
    found: list[History] = []
    for parts, place in _below(root):
        try:
            if parts:
                found += _of_files(parts, place)
                continue
            with _refusing(place):
                found += _histories((place.parent.parent,), str(place), list(_mlflow_rows(place)), place.name)
        except EvalsuiteError as error:
            lost = History(
                places=(*parts, place), source=str(place), run="", reports=(), facts={}, calls=False, torn=True
            )
            found.append(replace(lost, lack=error.message))
    return found


def _below(root: Path) -> Iterator[tuple[list[Path], Path]]:
    """The files that may be a history, and its place. MLflow's is a folder."""
    for place, folders, names in os.walk(root):
        folder, own = Path(place), sorted(names)
        folders.sort()
        if "meta.yaml" in own and "metrics" in folders:
            yield [], folder
            folders.clear()
            continue
        if wandb := [name for name in own if name.endswith(".wandb")]:
            folders.clear()  # its console and settings are the same run
            own = wandb
        if events := [folder / name for name in own if "tfevents" in name]:
            yield events, folder
        yield from (([folder / name], folder / name) for name in own if "tfevents" not in name)


def _of_files(parts: Sequence[Path], place: Path) -> list[History]:
    """Of a file, or of the event files of a folder. Raises EvalsuiteError for what is spoilt."""
    file, torn, rows = parts[0], False, list[Row]()
    try:
        with files.open_file(file, follow=True) as opened:
            head = opened.read(HEAD_BYTES)
    except OSError:
        return []  # whoever reads it as a log says why
    form = file.suffix.lower()
    with _refusing(file):
        if b"brain.Event:" in head[:64]:
            for part in parts:
                more, broken = scalar_records.event_file(_content(part))
                rows, torn = rows + more, torn or broken
            name = (place if place.is_dir() else file.resolve().parent).name
            return _whole(_histories(tuple(parts), str(place), rows, name, torn), torn)
        if head.startswith(scalar_records.WANDB):
            rows, torn = scalar_records.wandb_file(_content(file))
            return _whole(_histories((file.parent,), str(file), rows, file.stem, torn), torn)
        if head.startswith(b"SQLite format 3"):
            with sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro&immutable=1", uri=True) as base:
                if view := base.execute(_VIEW).fetchone():
                    raise ValueError(Message("importing.history_view", name=view[0]))
                for queries in KNOWN["databases"].values():
                    with contextlib.suppress(sqlite3.OperationalError):  # it is another tool's
                        rows += [files.parse_json(row) for query in queries for (row,) in base.execute(query) if row]
            return _histories((file,), str(file), rows, file.stem)
        if form == ".wandb" or "tfevents" in file.name:
            return _whole([], True)
        if form not in (".csv", ".tsv", ".jsonl") or kind(head) or file.stat().st_size > LARGEST_TEXT:
            return []
        if is_log(file):
            return []
        text = _content(file).decode("utf-8-sig", "replace")
        try:
            rows = list(_rows_of_table(text, file)) if form != ".jsonl" else []
            with contextlib.suppress(TypeError, ValueError):  # the last is still written
                rows += (dict(files.parse_json(line)) for line in text.splitlines() if form == ".jsonl")
        except csv.Error:
            return []  # a reader of tables says where
        beside = file.with_name("hparams.yaml")  # of Lightning
        rows += [dict(_SETTING.findall(files.read_text(beside)))] if files.is_file(beside) else []
        name = file.resolve().parent.name if file.stem in ("metrics", "progress") else file.stem
        found = _histories((file, beside), str(file), rows, name)
    return found if any(len(each.reports) > 1 for each in found) else []  # a row a run is a table of figures


def _whole(found: list[History], torn: bool) -> list[History]:
    """Raises ValueError where there is none since the file breaks off before, or does not begin as it should."""
    if torn and not found:
        raise ValueError(Message("importing.history_torn"))
    return found


def is_log(file: Path) -> bool:
    """Whether a script prints it, or it is no text."""
    try:
        return bool(find_dialects(file, catalogue.known().values()))
    except Unreadable:
        return True


@contextlib.contextmanager
def _refusing(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error, ValueError) as error:
        raise EvalsuiteError.of("importing.history_unread", path=path, error=message_of(error)) from error


def _mlflow_rows(folder: Path) -> Iterator[Row]:
    for kind_of in ("params", "metrics"):
        for file in sorted(path for path in (folder / kind_of).rglob("*") if files.is_file(path)):
            name, text = file.relative_to(folder / kind_of).as_posix(), files.read_text(file)
            if kind_of == "params":
                yield {name: text.strip()}
                continue
            for at_ms, value, step in re.findall(r"(?m)^(\d+) (\S+) (\d+)$", text):
                yield {"timestamp": int(at_ms) / 1000, name: value, "step": step}
    for place, says in ((folder, "run"), (folder.parent, "project")):
        if files.is_file(place / "meta.yaml"):
            about = re.search(r"(?m)^(?:run_)?name: (.*\w.*)$", files.read_text(place / "meta.yaml"))
            yield {says: about[1].strip("'\"") if about else None}


def _rows_of_table(text: str, file: Path) -> Iterator[Row]:
    rows = csv.reader(
        io.StringIO(text.replace("\0", ""), newline=None), delimiter="\t" if "\t" in text[:HEAD_BYTES] else ","
    )
    head = next(rows, [])
    panel = {place: match for place, name in enumerate(head) if (match := _PANEL.fullmatch(name))}
    if [name.strip().lower() for name in head] == ["wall time", "step", "value"]:
        head = [*head[:2], _TAG_IN_NAME.sub("", file.stem)]
    for row in rows:
        if len(panel) != len(head) - 1 or 0 in panel:
            yield dict(zip(head, row, strict=False))
            continue
        for place, match in panel.items():
            if place < len(row) and not match["end"]:
                yield {"run": match["run"], head[0]: row[0], match["tag"]: row[place]}


def _histories(
    places: tuple[Path, ...], source: str, rows: Sequence[Row], run: str, torn: bool = False
) -> list[History]:
    """One, or one for each run that the rows name. A row without step and time holds settings. Raises ValueError for a
    step that is no number: the reports would be counted instead."""
    lower = {name.strip().lower(): name for name in dict.fromkeys(name for row in rows for name in row)}
    named = {says: next((lower[name] for name in names if name in lower), "") for says, names in COLUMNS.items()}
    moves = len({row.get(named["step"]) for row in rows} - {None}) > 1  # MLflow's is 0 where nobody gives one
    reports: dict[str, list[Report]] = defaultdict(list)
    settings: dict[str, Row] = defaultdict(dict)
    last: dict[object, Report] = {}
    for row in rows:
        numbers = {name: number for name, cell in row.items() if (number := _number(cell)) is not None}
        at = next((row[name] for name in (named["at"], named["elapsed"]) if row.get(name)), "")
        step, seconds = numbers.get(named["step"]), _number(at)
        at_s = stamp_s(str(at).encode()) if seconds is None else seconds
        own = str(row.get("run_id") or row.get(named["run"]) or "")
        if step is None and at_s is None and named["frames"] not in numbers:
            settings[own] |= row
            continue
        if step is None and row.get(named["step"]) not in (None, ""):
            raise ValueError(Message("importing.history_step", text=str(row[named["step"]])[:60], name=named["step"]))
        says = {*named.values()} - {named["frames"]}
        values = {name: number for name, number in numbers.items() if name not in says}
        step = step if moves else None
        known = last.get(key := (own, at_s if step is None else step))
        if known is None or not known.values.keys().isdisjoint(values):
            known = last[key] = Report(step, at_s, {})
            reports[own].append(known)
        known.values.update(values)
    found = []
    for own, several in reports.items():
        facts = {name: cell for of in ((own, "") if own else tuple(settings)) for name, cell in settings[of].items()}
        name = str(facts.get("group") or facts.get(named["run"]) or own or run)
        filled, calls = [report for report in several if report.values], named["step"] == "_step"
        made = History(places=places, source=source, run=name, reports=filled, facts=facts, calls=calls, torn=torn)
        found.append(replace(made, source=f"{source}: {name}") if own else made)
    return [each for each in found if each.reports]


def _number(cell: object) -> float | None:
    text = str(cell).strip()
    return float(text) if _NUMBER.fullmatch(text) else None


def of_project(found: Sequence[One], project_of: Callable[[One], object], name: str | None) -> list[One]:
    """Those that the user wants. Raises EvalsuiteError where they are of several projects and nobody says which."""
    projects = Counter(str(project) for each in found if (project := project_of(each)))
    if (len(projects) > 1 and name is None) or (name not in (None, ANY) and name not in projects):
        names = tuple(f"{project} ({count})" for project, count in projects.most_common(MOST_NAMED))
        raise EvalsuiteError.of("importing.projects", n=len(found), names=names, first=next(iter(projects), "…"))
    return [each for each in found if name in (None, ANY, project_of(each))]


# series → the text of a log


def write(history: History, tag: str | None = None, unit: str | None = None) -> History:
    """With its text in a folder that goes when the program ends. Raises ValueError where there is no series *tag*."""
    chosen = choose(history.tags, tag, unit)
    path = _folder() / f"{len(os.listdir(_folder()))}.log"
    path.write_text(_text(history, chosen), encoding="utf-8")
    lack = None if chosen.series.keys() - {"loss"} else Message("importing.no_rate", names=history.tags[:MOST_NAMED])
    return replace(history, path=path, scope="per_device" if chosen.per_device else None, lack=history.lack or lack)


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
            items = words.items_of(rate)
            weight = 2 * (not words.MEAN.search(label)) + (not words.PER_DEVICE.search(label))
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
        return Chosen(found, "timesteps/s", False)
    named = [each for each in rates if (tag or each[2]) == each[2]]
    fitting = [each for each in named if (unit or each[1]) == each[1]]
    if tag and named and not fitting:
        told = {"name": "unit", "first": USER, "known": unit, "who": tag, "value": named[0][1]}
        raise ValueError(Message("importing.contradict", **told))
    said = (0, unit or _UNSAID, tag if unit else None, 1.0)
    _, items, chosen, kilo = max(fitting, key=lambda each: each[0], default=said)
    whose = bool(chosen and words.PER_DEVICE.search(f"/{chosen.lower()}"))
    return Chosen(found | ({"rate": (chosen, kilo)} if chosen else {}), items, whose)


def _text(history: History, chosen: Chosen) -> str:
    """A line for each report that says one of the series, after what the run's settings say of its size."""
    steps = [report.step for report in history.reports if report.step is not None]
    by_one = {after - before for before, after in itertools.pairwise(steps)} <= {1}
    clocked = not (history.calls and by_one and "rate" not in chosen.series)
    series = [(name, *chosen.series[name]) for name in SAYS if name in chosen.series]
    lines = [f"run {json.dumps(history.run)}: {', '.join(tag for _, tag, _ in series)}"]  # wherever it stands
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
    """As a log prints them: of the job's size alone. What may count one node's devices says nothing of several."""
    read = {name: value for name, own in _flat(facts) if (value := _number(own)) is not None}
    unclear = SETTINGS["on_node"] if max((read.get(name, 1) for name in SETTINGS["nodes"]), default=1) > 1 else ()
    for ours, says in KNOWN["printed"].items():
        yield from ((says, read[name]) for name in SETTINGS[ours] if name in read and name not in unclear)


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


def _flat(facts: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from _flat(value)
        elif value is not None:
            yield re.split(r"[/.]", name.lower())[-1], value
