"""The evaluation of `docs/examples/tianshu`: the 天枢 report with all of its sections.

The text is `data/reference/tianshu/author.toml`; the figures are DLPerf's: those of dlperf-v1, and others in
`data/reference/tianshu`. Every value is *cited*: it has †, decides nothing, and leads to a line of a file.
"""

import sys
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(HOUSE), str(HOUSE / "tools")]  # whatever else is installed

import rebuild_dlperf as dlperf

from evalsuite.core import paths
from evalsuite.core.documents import HostEnvironment, RunCommand, stated_figures
from evalsuite.core.model import Case, Evaluation, Machine, Measurement, Protocol, Run, Throughput
from evalsuite.report.sections.author import author, author_file
from evalsuite.results.compare import scaling
from evalsuite.results.judge import criteria
from evalsuite.results.judge.verdicts import verdicts
from evalsuite.results.measure import facts, machines, summary

SOURCE = paths.DATA / "reference" / "tianshu"
BESIDE = {"latency": "step_ms", "memory": "memory_mib", "tflops": "tflops"}  # the column of each stated figure
PROTOCOL = Protocol(warmup_steps=20, measured_steps=100)  # by the repository's README


def evaluation(folder: Path = SOURCE) -> Evaluation:
    known = dlperf.evaluation()
    [host] = known.environments.values()
    machine = machines.recorded({"": host})
    source = tomllib.loads((folder / "source.toml").read_text(encoding="utf-8"))
    rows = paths.read_rows(folder / "cells.csv")
    runs = [(row, _measurement(row, source, machine, host)) for row in rows]
    before = [run for summary in known.summaries for run in summary.measurements]
    summaries = scaling.with_scaling(summary.summaries([*before, *(run for _, run in runs)]))
    rebuilt = replace(
        known,
        title="tianshu",
        profile="tianshu",
        planned=tuple(summary.case for summary in summaries),
        summaries=tuple(summaries),
        verdicts=verdicts(summaries, criteria.read()),
        findings=tuple(dict.fromkeys(dlperf._findings(summaries))),
        commands={**known.commands, **{run.run.id: dlperf.command_of(dlperf.recipe_of(row)) for row, run in runs}},
    )
    return author.attached(rebuilt, author_file.read(folder / "author.toml"))


def _measurement(row: Mapping[str, str], source: Mapping, machine: Machine, host: HostEnvironment) -> Measurement:
    case = dlperf.case_of(row, row["options"], PROTOCOL)
    return Measurement(
        run=Run(case=case, repeat=0),
        status="failed" if row["reason"] else "ok",
        reason=row["reason"],  # as printed
        origin="cited",
        throughput=None if row["reason"] else _throughput(row, case),
        environment=machine,
        framework_version=row["framework_version"],
        figures=tuple(stated_figures({name: row[column] for name, column in BESIDE.items()})),
        facts=facts.of_run(case, _command(row, source), {"": host}),
        log=f"{source['repository']}/blob/{source['commit']}/{row['file']}",
        log_sha256=source["sha256"][row["file"]],
    )


def _command(row: Mapping[str, str], source: Mapping) -> RunCommand:
    options = set(row["options"].split(";"))
    of_model = (entry for entry in source["stated"] if entry["model"] == row["model"])
    said = next((entry["facts"] for entry in of_model if options >= set(entry["options"].split(";"))), {})
    recipe = dlperf.recipe_of(row)
    own = {key: value for key, value in (recipe.facts or {}).items() if key not in said}
    stated = {**said, "framework_version": row["framework_version"]}
    return replace(dlperf.command_of(replace(recipe, facts=own or None)), stated=stated)


def _throughput(row: Mapping[str, str], case: Case) -> Throughput:
    printed, step_ms = row["items_per_s"], row["step_ms"]
    return Throughput(
        items_per_s=float(printed) if printed else case.global_batch / float(step_ms) * 1000,
        unit=row["unit"],
        method="cited figure" if printed else "cited step time",
        window=None,
        line_first=int(row["line"]),
        line_last=int(row["line"]),
    )
