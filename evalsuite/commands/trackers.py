"""`evalsuite report --to`: the runs of a report as histories of a tracker, written by its own library. A history is a
list of points, and `import` reads it back: what a log's lines say of throughput and loss, at their steps and times;
last, once, what evalsuite says of the run and its case. Each writer only writes."""

import contextlib
import io
import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from evalsuite.core import files
from evalsuite.core.decode import instant
from evalsuite.core.errors import EvalsuiteError, NothingMeasured, look_up
from evalsuite.core.model import RATES, Evaluation, Measurement, Row, Summary
from evalsuite.logs import catalogue
from evalsuite.logs.catalogue import Places
from evalsuite.logs.reading import Reading
from evalsuite.logs.steps.window import Span, Timing
from evalsuite.results.measure import measurement
from evalsuite.runs.store import Store

PROJECT = "evalsuite"
MOST_METRICS = 1000  # that MLflow takes at once
AS_SETTINGS = {  # of a case → what trackers' users call it
    **{"framework": "framework", "model": "model", "precision": "precision", "device": "device"},
    **{"total_devices": "world_size", "known_nodes": "nodes", "known_devices_per_node": "devices_per_node"},
    "batch_per_device": "per_device_train_batch_size",
}


class Point(NamedTuple):
    step: int
    at_s: float  # since 1970, or since the run began where nobody noted when that was
    values: Mapping[str, float]  # by tag


class Recorded(NamedTuple):
    run: str  # the case, and the number of the run behind a last hyphen
    settings: Mapping[str, str | int | float]
    points: Sequence[Point]


Writer = Callable[[Sequence[Recorded], Path], None]


def check(name: str, out: Path) -> None:
    """Raises EvalsuiteError for a tracker that is unknown or not installed, or a folder that holds something."""
    _, library = look_up("core.unknown", WRITERS, name, where="--to", names=tuple(WRITERS))
    if find_spec(library) is None:
        raise NothingMeasured.of("commands.to_library", name=name, library=library)
    if os.path.lexists(out) and not (out.is_dir() and not os.listdir(out)):
        raise EvalsuiteError.of("commands.to_full", path=out)


def write(name: str, out: Path, evaluation: Evaluation, store: Store, places: Places) -> int:
    """How many runs are written into *out*, once all of them are."""
    made = [each for row in evaluation.summaries for each in _recorded(row, store, evaluation, places)]
    logging.disable(logging.INFO)
    with files.scratch("histories") as folder:
        with contextlib.redirect_stdout(io.StringIO()):  # that of `report` is its table
            WRITERS[name][0](made, folder)
        shutil.copytree(folder, out, dirs_exist_ok=True)
    return len(made)


# what they say


def _recorded(row: Row, store: Store, evaluation: Evaluation, places: Places) -> Iterator[Recorded]:
    for run in row.measurements:
        if run.value is None:
            continue
        case, command = run.run.case, evaluation.commands[run.run.id]
        settings = {says: getattr(case, name) for name, says in AS_SETTINGS.items() if getattr(case, name) is not None}
        facts = {fact.key: fact.value for fact in run.facts}
        facts |= {"evalsuite_run": run.run.id, "log": run.log or "", "log_sha256": run.log_sha256 or ""}
        read = measurement.read_logs(
            store.folder(run.run).logs(), case, command.recipe, catalogue.known(places), run.status == "ok"
        )
        points = list(_points(run, read))
        last = points[-1] if points else Point(0, _begins_s(run), {})
        figures = {f"run/{_tag(run)}": run.value}
        figures |= {f"case/{_tag(run)}": row.items_per_s.value} if isinstance(row, Summary) else {}
        yield Recorded(
            run=f"{case.id}-run{run.run.repeat}",
            settings={**facts, **dict(case.options), **settings},
            points=[*points, last._replace(values=figures)],
        )


def _tag(run: Measurement) -> str:
    return (run.throughput.unit if run.throughput else "").replace("/s", "_per_sec")


def _begins_s(run: Measurement) -> float:
    began = instant(run.started_at)
    return (began if began.tzinfo else began.replace(tzinfo=UTC)).timestamp() if began else 0.0


def _points(run: Measurement, read: Reading) -> Iterator[Point]:
    """At the arrival of its lines; where nobody noted that, after the seconds by which the run was measured."""
    method, told = (run.throughput.method if run.throughput else ""), read.throughput and read.throughput.items_per_s
    scale = run.value / told if run.value and told else 1.0  # samples of the log, tokens of the report
    whole, passed_s = Span(before=None, reports=tuple(read.steps), complete=False), 0.0
    seconds_of = dict(Timing(span=whole, method=method).seconds)
    for step in read.steps:
        seconds = seconds_of.get(step) or 0.0
        passed_s += seconds
        rate = step.items / seconds if step.items and seconds > 0 and method != RATES else step.items_per_s
        says = {f"train/{_tag(run)}": rate and rate * scale, "train/loss": step.loss}
        if values := {tag: value for tag, value in says.items() if value is not None}:
            at_s = _begins_s(run) + (passed_s if step.arrival_s is None else step.arrival_s)
            yield Point(step.index, at_s, values)


# each tracker


def _write_tensorboard(runs: Sequence[Recorded], out: Path) -> None:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.compat.proto.tensor_pb2 import TensorProto
    from tensorboard.plugins.text.metadata import create_summary_metadata
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    for run in runs:
        writer = EventFileWriter(str(out / run.run))
        said = TensorProto(dtype="DT_STRING", string_val=[json.dumps(run.settings, indent=1).encode()])
        text = Summary.Value(tag="settings", metadata=create_summary_metadata("settings", ""), tensor=said)
        writer.add_event(Event(wall_time=run.points[0].at_s, summary=Summary(value=[text])))
        for step, at_s, values in run.points:
            scalars = [Summary.Value(tag=tag, simple_value=value) for tag, value in values.items()]
            writer.add_event(Event(step=step, wall_time=at_s, summary=Summary(value=scalars)))
        writer.close()


def _write_mlflow(runs: Sequence[Recorded], out: Path) -> None:
    from mlflow.entities import Metric, Param
    from mlflow.tracking import MlflowClient

    client = MlflowClient(f"sqlite:///{out}/mlflow.db")
    experiment = client.create_experiment(PROJECT)
    for run in runs:
        began_ms = round(run.points[0].at_s * 1000)
        made = client.create_run(experiment, run_name=run.run, start_time=began_ms).info.run_id
        metrics = [
            Metric(tag, value, round(p.at_s * 1000), p.step) for p in run.points for tag, value in p.values.items()
        ]
        client.log_batch(made, params=[Param(name, str(value)) for name, value in run.settings.items()])
        for begin in range(0, len(metrics), MOST_METRICS):
            client.log_batch(made, metrics[begin : begin + MOST_METRICS])
        client.set_terminated(made, end_time=round(run.points[-1].at_s * 1000))


def _write_trackio(runs: Sequence[Recorded], out: Path) -> None:
    os.environ["TRACKIO_DIR"] = str(out)  # read when it is imported
    from trackio.sqlite_storage import SQLiteStorage

    for run in runs:
        times = [datetime.fromtimestamp(point.at_s, UTC).isoformat() for point in run.points]
        values, steps = [dict(point.values) for point in run.points], [point.step for point in run.points]
        SQLiteStorage.bulk_log(PROJECT, run.run, values, steps, times, dict(run.settings))


def _write_wandb(runs: Sequence[Recorded], out: Path) -> None:
    import wandb

    quiet = wandb.Settings(console="off", silent=True, disable_git=True, x_disable_stats=True, x_disable_meta=True)
    for run in runs:
        named = {"project": PROJECT, "name": run.run, "group": run.run.rpartition("-")[0], "config": dict(run.settings)}
        with wandb.init(dir=str(out), mode="offline", settings=quiet, **named) as history:
            for step, at_s, values in run.points:
                history.log({**values, "_timestamp": at_s}, step=step)
    for path in (out / "wandb").iterdir():
        if path.is_symlink() or path.is_file():  # to the last run; what the library says of itself
            path.unlink()


WRITERS: Mapping[str, tuple[Writer, str]] = {  # name → how, and the library, which is an extra of its name
    "tensorboard": (_write_tensorboard, "tensorboard"),
    "mlflow": (_write_mlflow, "mlflow"),
    "trackio": (_write_trackio, "trackio"),
    "wandb-offline": (_write_wandb, "wandb"),
}
