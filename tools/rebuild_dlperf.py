"""The evaluation of `docs/examples/dlperf-v1`: DLPerf's report v1.0, from its published figures.

Every value is *cited*, by a line of a file at a commit. A median rests on its single runs, or the difference is D16.
"""

import functools
import statistics
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HOUSE))  # whatever else is installed

from evalsuite.contracts import registry
from evalsuite.contracts.adapter import Adapter
from evalsuite.core import paths
from evalsuite.core.documents import HostEnvironment, RunCommand, UsedRecipe
from evalsuite.core.findings import SourcesDiffer
from evalsuite.core.model import (
    Case,
    Evaluation,
    Fact,
    Finding,
    Machine,
    Measurement,
    Protocol,
    Run,
    Summary,
    Throughput,
)
from evalsuite.report.sections.author import author, author_file
from evalsuite.results.compare import scaling
from evalsuite.results.judge import criteria
from evalsuite.results.judge.verdicts import verdicts
from evalsuite.results.measure import facts, machines, summary

SOURCE = paths.DATA / "reference" / "dlperf_v1"
TITLE = "dlperf_v1"
LAST_DIGIT = 0.0051  # half of the last printed digit, and floating point


def evaluation(folder: Path = SOURCE) -> Evaluation:
    source = tomllib.loads((folder / "source.toml").read_text(encoding="utf-8"))
    runs = _runs(folder)
    measurements = [m for row in paths.read_rows(folder / "cells.csv") for m in _measurements(row, runs, source)]
    summaries = scaling.with_scaling(summary.summaries(measurements))
    rebuilt = Evaluation(
        title=TITLE,
        profile="dlperf",
        planned=tuple(summary.case for summary in summaries),
        repeats=source["repeats"],
        skips=(),
        summaries=tuple(summaries),
        verdicts=verdicts(summaries, criteria.read()),
        findings=tuple(_findings(summaries)),
        environments={str(_machine(source)): _environment(source)},
        commands=_commands(paths.read_rows(folder / "cells.csv"), measurements),
    )
    return author.attached(rebuilt, author_file.read(folder / "author.toml"))


def _key(row: Mapping[str, str]) -> tuple[str, ...]:
    names = ("model", "framework", "nodes", "devices_per_node", "batch_per_device", "precision", "option")
    return tuple(row[name] for name in names)


def _runs(folder: Path) -> dict[tuple, list[dict[str, str]]]:
    groups: dict[tuple, list[dict[str, str]]] = {}
    for row in paths.read_rows(folder / "runs.csv"):
        groups.setdefault(_key(row), []).append(row)
    return groups


def _measurements(row: Mapping[str, str], runs: Mapping[tuple, list], source: Mapping) -> Iterator[Measurement]:
    published, single = float(row["items_per_s"]), runs.get(_key(row), [])
    median = statistics.median(float(run["items_per_s"]) for run in single) if single else None
    if median is not None and abs(median - published) <= LAST_DIGIT:
        for repeat, run in enumerate(single):
            yield _measurement(row, repeat, float(run["items_per_s"]), run["file"], run["line"], source)
        return
    case = _case(row, source)
    differing = (_differs(case, published, median, single[0]),) if single and not case.xla else ()
    yield _measurement(row, 0, published, source["report"], row["line"], source, differing)


def _measurement(row, repeat: int, value: float, file: str, line: str, source: Mapping, findings=()) -> Measurement:
    case = _case(row, source)
    return Measurement(
        run=Run(case=case, repeat=repeat),
        status="ok",
        origin="cited",
        throughput=Throughput(
            items_per_s=value,
            unit=row["unit"],
            method="cited figure",
            window=None,
            line_first=int(line),
            line_last=int(line),
        ),
        findings=findings,
        environment=_machine(source),
        framework_version=row["framework_version"],
        facts=_facts(case, row, source),
        log=f"{source['repository']}/blob/{source['commit']}/{file}",
        log_sha256=source["sha256"][file],
    )


def _facts(case: Case, row: Mapping[str, str], source: Mapping) -> tuple[Fact, ...]:
    known = ("framework", "recipe", "precision")
    entry = next((each for each in source["stated"] if all(each.get(key, row[key]) == row[key] for key in known)), {})
    said, left_open = entry.get("facts", {}), entry.get("open", ())
    recipe = (
        recipe_of(row, _features(row)) if "precision" not in said else replace(recipe_of(row, _features(row)), amp=None)
    )
    own = {key: value for key, value in (recipe.facts or {}).items() if key not in said and key not in left_open}
    recipe = replace(recipe, facts=own or None)
    return facts.of_run(
        case,
        replace(command_of(recipe), stated={**said, "xla": row["xla"], "framework_version": row["framework_version"]}),
        {"": _environment(source)},
    )


def case_of(row: Mapping[str, str], options: str, protocol: Protocol) -> Case:
    named = (option.partition("=") for option in options.split(";"))
    return Case(
        framework=row["framework"],
        recipe=row["recipe"],
        model=row["model"],
        nodes=int(row["nodes"]),
        devices_per_node=int(row["devices_per_node"]),
        batch_per_device=int(row["batch_per_device"]),
        precision=row["precision"],
        xla=row.get("xla") == "on",
        device="gpu",
        protocol=protocol,
        options=tuple(sorted((name, value) for name, equals, value in named if equals)),
    )


def _case(row: Mapping[str, str], source: Mapping) -> Case:
    protocol = Protocol(warmup_steps=source["warmup_steps"], measured_steps=source["measured_steps"])
    return case_of(row, row["option"], protocol)


def _differs(case: Case, published: float, median: float, run: Mapping[str, str]) -> Finding:
    other = {"other": f"{median:g}", "other_source": f"{run['file']}, {run['log']}"}
    return SourcesDiffer(printed=f"{published:g}", source="DLPerf", **other, where=case.id)


def _findings(summaries: Sequence[Summary]) -> Iterator[Finding]:
    for each in summaries:
        yield from (finding for run in each.measurements for finding in run.findings)
        yield from each.findings


def _machine(source: Mapping) -> Machine:
    return machines.recorded({"": _environment(source)})


def _environment(source: Mapping) -> HostEnvironment:
    facts = {name: value for name, value in source["environment"].items() if not name.startswith("accelerator")}
    gpus = [{"name": source["environment"]["accelerator"]}] * source["environment"]["accelerators"]
    return HostEnvironment.from_json({"schema": 1, **facts, "gpus": gpus}, SOURCE / "source.toml")


def _commands(rows: Iterable[Mapping[str, str]], measurements: Iterable[Measurement]) -> dict[str, RunCommand]:
    recipes = {(row["framework"], row["recipe"]): recipe_of(row, _features(row)) for row in rows}
    return {m.run.id: command_of(recipes[m.run.case.framework, m.run.case.recipe]) for m in measurements}


def recipe_of(row: Mapping[str, str], features: tuple[str, ...] | None = None) -> UsedRecipe:
    declared = _adapters()[row["framework"]].recipe(row["recipe"])
    return UsedRecipe(
        kind="official",
        source=row["source"],
        commit=row["commit"],
        image=row["image"],
        spawn=declared.spawn,
        amp=declared.amp,
        features=declared.features if features is None else features,
        facts=dict(declared.facts) or None,
    )


def _features(row: Mapping[str, str]) -> tuple[str, ...]:
    source = tomllib.loads((SOURCE / "source.toml").read_text(encoding="utf-8"))
    same = ("framework", "model")
    return next(tuple(kind["names"]) for kind in source["features"] if all(kind[key] == row[key] for key in same))


@functools.cache
def _adapters() -> Mapping[str, Adapter]:
    return registry.discover()


def command_of(recipe: UsedRecipe) -> RunCommand:
    return RunCommand(argv=(), command=(), environment={}, recipe=recipe)
