"""`evalsuite predict`: what a model expects at scales that were not measured."""

import argparse
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path

from evalsuite.commands.compare_reports import case_parts
from evalsuite.commands.import_ import read_table
from evalsuite.commands.options import search_paths
from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say, worded
from evalsuite.commands.printing.terminal import line, note, print_json
from evalsuite.core.decode import whole
from evalsuite.core.errors import Exit
from evalsuite.core.messages import Message
from evalsuite.core.model import Case, Row, Summary, by_key
from evalsuite.plan import spec
from evalsuite.report.data import finished
from evalsuite.report.text import numbers, words
from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.evaluation import evaluate
from evalsuite.results.judge import extrapolation
from evalsuite.results.judge.extrapolation import Outlook
from evalsuite.runs import archive
from evalsuite.runs.store import Store

ORIGINS = ("measured", "imported", "cited", "digitised")


@dataclass(frozen=True, kw_only=True)
class _Series:
    measured: Sequence[Summary]  # by devices
    outlook: Outlook | None
    strong_batch: int | None = None  # of the whole job at every scale: no outlook
    not_beyond: tuple[str, ...] = ()  # what was asked for and is not larger, or not whole nodes


def run(arguments: argparse.Namespace) -> int:
    rows = _summaries(arguments)
    if not rows:
        return Exit.NOTHING_MEASURED
    series = list(_series(rows, arguments.to))
    if arguments.json:
        print_json([_facts(series) for series in series])
    else:
        _print(series)
    return Exit.DONE if any(series.outlook and series.outlook.forecasts for series in series) else Exit.UNDETERMINED


def _summaries(arguments: argparse.Namespace) -> list[Row]:
    source, places = archive.unpack(arguments.source), search_paths(arguments)
    if (source / finished.SUMMARY).is_file():
        return with_scaling(finished.read(source).summaries)
    if source.is_dir():
        return list(evaluate(Store(source), places=places).summaries)
    with tempfile.TemporaryDirectory() as folder:
        cited = read_table(source, Store(Path(folder)), arguments)
        left = [series for series in cited if series.run is None]
        if left:
            note(say("predict.left_out", n=len(left), reason=worded(left[0].reason or "")))
        if len(left) == len(cited):
            return []
        return list(evaluate(Store(Path(folder)), places=places).summaries)


def _series(rows: Iterable[Row], to: str) -> Iterator[_Series]:
    jobs = by_key(
        (replace(members[0].case, nodes=1, devices_per_node=1, batch_per_device=1), members)
        for members in extrapolation.longest_series(rows, ORIGINS)
    )
    for series in jobs.values():
        batches = {summary.case.global_batch for members in series for summary in members}
        if len(series) > 1 and len(batches) == 1:
            every = sorted(chain(*series), key=lambda summary: summary.case.total_devices)
            yield _Series(measured=every, outlook=None, strong_batch=batches.pop())
            continue
        for members in series:
            asked = {text.strip(): _at(text.strip(), members[-1].case) for text in to.split(",")}
            planned = [scale for scale in asked.values() if scale]
            outlook = extrapolation.outlooks(members, planned, ORIGINS)[0] if planned else None
            refused = tuple(text for text, scale in asked.items() if scale is None)
            yield _Series(measured=members, outlook=outlook, not_beyond=refused)


def _at(text: str, largest: Case) -> Case | None:
    per_node = largest.devices_per_node
    devices = whole(text)
    if devices is None:
        nodes, per_node = spec.scale(text)
    elif largest.nodes == 1:
        nodes, per_node = 1, devices
    elif devices % per_node:
        return None
    else:
        nodes = devices // per_node
    return largest.at_scale(nodes, per_node) if nodes * per_node > largest.total_devices else None


def _print(groups: Sequence[_Series]) -> None:
    validations = {}
    for series in groups:
        case = series.measured[-1].case
        line(say("predict.of", series=" · ".join(case_parts(case, i18n.language())), measured=case.scale))
        for forecast in series.outlook.forecasts if series.outlook else ():
            speed, share = forecast.items_per_s, forecast.efficiency
            validations[forecast.validation.doublings] = forecast.validation
            line(
                say(
                    "predict.expected",
                    scale=forecast.case.scale,
                    distance=f"{forecast.distance:g}",
                    speed=_throughput(speed.value),
                    low=_throughput(speed.low),
                    high=_throughput(speed.high),
                    unit=series.measured[-1].unit,
                    efficiency=_percent(share.value),
                    least=_percent(share.low),
                    most=_percent(share.high),
                )
            )
        for scale, reason in _refusals(series, i18n.language()):
            line(say("predict.refused", scale=scale, reason=reason))
    for check in validations.values():
        shares = {"error": _percent(check.median_error), "inside": _percent(check.inside)}
        line(say("predict.error", series=check.series, sources=check.sources, **shares))


def _refusals(series: _Series, language: str) -> Iterator[tuple[str, str]]:
    case = series.measured[-1].case
    if series.strong_batch is not None:
        yield case.scale, worded(Message("commands.predict_strong", batch=series.strong_batch))
    for text in series.not_beyond:
        values = {"measured": case.total_devices, "per_node": case.devices_per_node}
        yield text, worded(Message("commands.predict_to", **values))
    for refusal in series.outlook.refusals if series.outlook else ():
        reason = words.read()(f"forecasts.{refusal.reason}", **dict(refusal.values))
        yield refusal.case.scale, reason.plain(language)


def _throughput(value: float | None) -> str:
    return "—" if value is None else numbers.throughput(value).text


def _percent(value: float | None) -> str:
    return "—" if value is None else numbers.percent(value).text


def _facts(series: _Series) -> dict[str, object]:
    case = series.measured[-1].case
    forecasts = series.outlook.forecasts if series.outlook else ()
    return {
        "framework": case.framework,
        "model": case.model,
        "precision": case.precision,
        "batch_per_device": case.batch_per_device if series.strong_batch is None else None,
        "unit": series.measured[-1].unit,
        "measured": [{"scale": each.case.scale, "items_per_s": each.items_per_s.value} for each in series.measured],
        "forecasts": [
            {
                "scale": each.case.scale,
                "distance": each.distance,
                "items_per_s": asdict(each.items_per_s),
                "efficiency": asdict(each.efficiency),
                "validation": asdict(each.validation),
            }
            for each in forecasts
        ],
        "refused": [{"scale": scale, "reason": reason} for scale, reason in _refusals(series, i18n.language())],
    }
