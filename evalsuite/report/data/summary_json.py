"""`summary.json`: verdicts and every summary, with the ids that `audit` resolves (docs/contracts.md#summaryjson)."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from evalsuite import __version__
from evalsuite.lab import BothLanguages, KeptProblem, LabDocument
from evalsuite.model import Breakdown, Case, Interval, Summary, Unmeasured, Utilisation, Verdict, VerdictCell
from evalsuite.report.book.book import Book
from evalsuite.report.book.tally import tally
from evalsuite.report.data import answers_json, breaks_json, networks_json, suspicions_json
from evalsuite.report.data.finished import SCHEMA_VERSION
from evalsuite.report.sections.author import author
from evalsuite.report.sections.fairness import fairness
from evalsuite.report.text import findings
from evalsuite.results.compare.equivalence_results import CasePair, case_pairs
from evalsuite.results.compare.fairness import Comparison, Stated
from evalsuite.results.judge.next_repeats import NextRepeats
from evalsuite.results.measure import convergence
from evalsuite.results.measure import latency as latency_room
from evalsuite.results.measure.first_prints import first_prints
from evalsuite.results.measure.summary import counts
from evalsuite.results.rules import flops_and_energy


def document(book: Book, build_hash: str) -> Mapping[str, Any]:
    """The whole file as plain values. A field is added with a new minor meaning; none is renamed or removed
    without a new *schema_version*."""
    evaluation = book.evaluation
    return {
        "schema_version": SCHEMA_VERSION,
        "evalsuite": __version__,
        "input_sha256": build_hash,
        "title": evaluation.title,
        "document": _document(evaluation.document),
        "profile": evaluation.profile,
        "repeats": evaluation.repeats,
        "most_repeats": evaluation.most_repeats,
        "recorded_elsewhere": evaluation.recorded_elsewhere,
        "verdicts": [_verdict(verdict) for verdict in evaluation.verdicts],
        "summaries": [_summary(book, one) for one in book.summaries],
        "author_findings": [_author(row) for row in author.rows(book)],
        "problems": [_problem(problem) for problem in evaluation.kept_problems],
        "skips": [{"case": _case(skip.case), "kind": skip.kind, "reason": skip.reason} for skip in book.skips],
        "findings": [findings.document(finding) for finding in book.findings],
        "breaks": breaks_json.document(book.breaks),
        "suspicions": [suspicions_json.document(one) for one in book.suspicions],
        "answers": [answers_json.document(one) for one in book.answers],
        "fairness": [_comparison(one, book) for one in fairness.comparisons(book)],
        "data_quality": _quality(book),
        "environments": sorted(evaluation.environments),
        "campaigns": [asdict(one) for one in evaluation.campaigns],
        "superseded_attempts": [asdict(one) for one in evaluation.superseded],
        "spent": [asdict(one) for one in book.spent],
        "next_repeats": [_next(one) for one in book.next_repeats],
        "networks": [networks_json.document(one) for one in evaluation.networks],
    }


def _case(case: Case) -> dict[str, Any]:
    return {
        "id": case.id,
        "series": case.series,
        "framework": case.framework,
        "recipe": case.recipe,
        "model": case.model,
        "precision": case.precision,
        "xla": case.xla,
        "device": case.device,
        "cores_per_device": case.cores_per_device,
        "batch_per_device": case.batch_per_device,
        "global_batch": case.global_batch,
        "nodes": case.nodes,
        "devices_per_node": case.devices_per_node,
        "total_devices": case.total_devices,
        "warmup_steps": case.protocol.warmup_steps,
        "measured_steps": case.protocol.measured_steps,
        "options": dict(case.options),
        "batch_policy": case.batch_policy,
        "strong_batch": case.strong_batch,
    }


def _summary(book: Book, one: Summary | Unmeasured) -> dict[str, Any]:
    return {
        "id": one.case.id,
        "case": _case(one.case),
        "state": book.state(one.case),
        "unit": one.unit or "",
        **(_numbers(one) if isinstance(one, Summary) else _no_numbers()),
        "final_scores": _final_scores(one),
        "time_to_solution": _solution(book, one),
        "partial": isinstance(one, Summary) and one.partial,
        "origin": one.origin,
        "findings": sorted({finding.code for finding in book.findings_of(one)}),
        "runs": [
            {
                "id": run.run.id,
                "repeat": run.run.repeat,
                "status": run.status,
                "reason": run.reason,
                "counts": counts(run),
                "value": run.value,
                "origin": run.origin,
                "fault": run.fault,
                "started_at": run.started_at,
                "environment": run.environment,
                "framework_version": run.framework_version,
                "log": run.log,
                "log_sha256": run.log_sha256,
                "campaign": run.campaign,
                "round": run.round,
            }
            for run in one.measurements
        ],
    }


def _numbers(one: Summary) -> dict[str, Any]:
    return {
        "throughput": _interval(one.items_per_s),
        "throughput_per_device": one.items_per_s_per_device,
        "n": one.n,
        "cv": one.cv,
        "latency": _latency(latency_room.of_case(one)),
        "base": one.base.id if one.base else None,
        "base_devices": one.base.total_devices if one.base else None,
        "speedup": _interval(one.speedup),
        "efficiency": _interval(one.efficiency),
        "utilisation": [_utilisation(used) for used in one.utilisation],
        "breakdown": _breakdown(one.breakdown),
        "compute": _compute(flops_and_energy.compute(one)),
        "peak_memory": _peak_memory(flops_and_energy.peak_memory(one)),
        "energy": _energy(flops_and_energy.energy(one)),
    }


def _no_numbers() -> dict[str, Any]:
    """The same fields of a case without a valid run."""
    absent = ("cv", "latency", "base", "base_devices", "speedup", "efficiency")
    return {
        "throughput": None,
        "throughput_per_device": None,
        "n": 0,
        **dict.fromkeys(absent),
        "utilisation": [],
        "breakdown": None,
        "compute": None,
        "peak_memory": None,
        "energy": None,
    }


def _interval(found: Interval | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"value": found.value, "low": found.low, "high": found.high, "coverage": found.coverage}


def _latency(found: latency_room.Latency | None) -> dict[str, Any] | None:
    if found is None:
        return None
    named = {f"p{each}_s": value for each, value in zip(latency_room.PERCENTILES, found.percentiles_s, strict=True)}
    return {**named, "reports": found.reports, "steps_per_report": found.steps_per_report}


def _utilisation(used: Utilisation) -> dict[str, Any]:
    return {
        "resource": used.resource,
        "device": used.device,
        "unit": used.unit,
        "mean": used.mean,
        "p5": used.p5,
        "p95": used.p95,
        "samples": used.samples,
        "coverage": used.coverage,
        "capacity": used.capacity,
    }


def _breakdown(found: Breakdown | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "of": found.of,
        "seconds": found.seconds,
        "reports": found.reports,
        "phases": [{"name": one.name, "seconds": one.seconds, "parent": one.parent} for one in found.phases],
    }


def _compute(found: flops_and_energy.Compute | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "flops_per_item": found.flops_per_item,
        "tflops_per_device": found.tflops_per_device,
        "peak_tflops": found.peak_tflops,
        "above_peak": found.above_peak,
        "mfu": found.mfu,
        "source": found.source,
    }


def _energy(found: flops_and_energy.Energy | None) -> dict[str, Any] | None:
    return None if found is None else {"joules_per_item": found.joules_per_item, "method": found.method}


def _peak_memory(found: flops_and_energy.PeakMemory) -> dict[str, Any] | None:
    if found.printed_bytes is None and found.sampled_bytes is None:
        return None
    return {"printed_bytes": found.printed_bytes, "sampled_bytes": found.sampled_bytes}


def _final_scores(one: Summary | Unmeasured) -> list[dict[str, Any]]:
    """Of the run that trained longest, the last value of each metric on each split."""
    run = convergence.run_of(one)
    last = {(score.split, score.metric): score for score in run.scores} if run else {}
    return [
        {"split": split, "metric": metric, "epoch": score.epoch, "value": score.value, "at_s": score.at_s}
        for (split, metric), score in sorted(last.items())
    ]


def _solution(book: Book, one: Summary | Unmeasured) -> dict[str, Any] | None:
    run = convergence.run_of(one)
    found = convergence.target_of(one.case, run, book.evaluation.targets) if run else None
    solved = convergence.solution(run, found[0]) if run and found else None
    if solved is None:
        return None
    return {"seconds": solved.seconds, "epochs": solved.epochs, "scaled_by": solved.factor}


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "criterion": verdict.criterion,
        "outcome": verdict.outcome,
        "within_noise": verdict.within_noise,
        "scope": {axis: list(chosen) for axis, chosen in verdict.scope},
        "aggregation": "largest_scale" if verdict.largest_only else "every_scale",
        "threshold": verdict.threshold,
        "measured": _interval(verdict.measured),
        "n": verdict.n,
        "case": verdict.case.id if verdict.case else None,
        "reason": verdict.reason,
        "values": dict(verdict.values),
        "cells": [_cell(cell) for cell in verdict.cells],
    }


def _cell(cell: VerdictCell) -> dict[str, Any]:
    return {
        "framework": cell.framework,
        "model": cell.model,
        "precision": cell.precision,
        "outcome": cell.outcome,
        "scales": list(cell.scales),
        "measured": _interval(cell.measured),
        "n": cell.n,
        "case": cell.case.id if cell.case else None,
        "reason": cell.reason,
        "values": dict(cell.values),
    }


def _next(one: NextRepeats) -> dict[str, Any]:
    found = asdict(one)
    del found["entrants"], found["contest"]
    found |= {"cases": [case.id for case in one.cases], "frameworks": one.frameworks, "command": one.command}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}


def _comparison(one: Comparison, book: Book) -> dict[str, Any]:
    """The fairness matrix of one comparison; a fact that nobody states of a case is null there."""
    ids = [summary.case.id for summary in one.members]
    return {
        "standing": one.standing,
        "cases": ids,
        "ranked_together": [[summary.case.id for summary in part] for part in one.ranked],
        "facts": [
            {
                "fact": row.rule.key,
                "kind": row.rule.kind,
                "likeness": row.likeness,
                "keeps_apart": row.apart,
                "values": dict(zip(ids, map(_stated, row.values), strict=True)),
            }
            for row in one.rows
        ],
        "first_prints": [
            {
                "case": each.summary.case.id,
                "run": each.run.run.id,
                "parameters": each.parameters,
                "losses": [list(pair) for pair in each.losses],
            }
            for each in first_prints(one.members, book.evaluation.commands)
        ],
        "computation": [_computation(pair) for pair in _pairs(book, one)],
    }


def _pairs(book: Book, one: Comparison) -> tuple[CasePair, ...]:
    return case_pairs(one.members, book.evaluation.commands, book.evaluation.receipts)


def _computation(pair: CasePair) -> dict[str, Any]:
    """What is shown of the computation of two reference workloads; null where no receipt is about both as run."""
    measured = pair.measured
    return {
        "cases": [pair.first.case.id, pair.second.case.id],
        "shown": pair.shown,
        "causes": [one.cause for one in measured.differences] if measured else [],
        "losses": list(measured.losses) if measured else None,
        "gradient_norm": measured.gradient_norm if measured else None,
        "float32": measured.float32 if measured else None,
        "receipt": pair.day,
        "receipt_by_lab": pair.by_lab if pair.day else None,
    }


def _stated(stated: Stated) -> list[dict[str, str]] | None:
    return [{"value": fact.value, "source": fact.source} for fact in stated] if stated else None


def _author(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "cases": [name for name in row["cases"].split(";") if name]}


def _document(document: LabDocument | None) -> dict[str, Any] | None:
    if document is None:
        return None
    return {"title": _both(document.title), "organisation": _both(document.organisation), "outline": document.outline}


def _problem(problem: KeptProblem) -> dict[str, Any]:
    """A problem as its file has it: computed numbers stand on the page."""
    return {
        "question": _both(problem.question),
        "owner": problem.owner,
        "answer": _both(problem.answer),
        "status": problem.status,
        "asked": problem.asked.isoformat() if problem.asked else None,
        "answered": problem.answered.isoformat() if problem.answered else None,
    }


def _both(text: BothLanguages | None) -> dict[str, str] | None:
    return {"zh": text.zh, "en": text.en} if text else None


def _quality(book: Book) -> dict[str, Any]:
    found = tally(book)
    return {
        "cases_planned": found.cases_planned,
        "cases_valid": found.cases_valid,
        "cases_partial": found.cases_partial,
        "cases_skipped": found.cases_skipped,
        "cases_without_result": found.cases_without,
        "runs_planned": found.runs_planned,
        "runs_made": found.runs_made,
        "runs_valid": found.runs_valid,
        "runs_by_state": dict(found.runs_by_state),
        "findings_by_severity": dict(found.findings_by_severity),
    }
