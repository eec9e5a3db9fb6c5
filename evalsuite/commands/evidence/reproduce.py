"""`evalsuite reproduce`: published tables recomputed, or a case of a report run again here."""

import argparse
from dataclasses import asdict
from pathlib import Path

from evalsuite.commands import run as door
from evalsuite.commands.evidence import audit
from evalsuite.commands.options import add_arguments, search_paths
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import aligned, line, note, print_json
from evalsuite.core.errors import EvalsuiteError, Exit, NothingMeasured, did_you_mean
from evalsuite.core.findings import BusyMachine
from evalsuite.core.model import INPUTS, Summary
from evalsuite.report.data import finished
from evalsuite.results import evaluation
from evalsuite.results.compare import recomputed
from evalsuite.results.judge import rerun_command
from evalsuite.results.measure.summary import valid
from evalsuite.runs.store import Store

COLUMNS = ("table", "place", "devices", "figure", "printed", "value", "difference", "rule")


def run(arguments: argparse.Namespace) -> int:
    sources = {folder.name: folder for folder in sorted(recomputed.SOURCES.iterdir())}
    folder = sources.get(arguments.source, Path(arguments.source))
    if (folder / finished.SUMMARY).is_file():
        return _run_again(folder, arguments)
    if not (folder / recomputed.RULES).is_file():
        raise EvalsuiteError.of("commands.reproduce", name=arguments.source, names=list(sources))
    rules, rows = recomputed.read(folder)
    if arguments.case:
        rows = [row for row in rows if arguments.case.casefold() in row["table"].casefold()]
        if not rows:
            raise EvalsuiteError.of("commands.reproduce_table", name=arguments.source, case=arguments.case)
    figures = list(recomputed.recompute(rules, rows))
    wrong = [figure for figure in figures if not figure.holds]
    if arguments.json:
        print_json([asdict(figure) for figure in figures])
    elif shown := figures if arguments.all else wrong:
        aligned([[say(f"reproduce.{name}") for name in COLUMNS], *map(_row, shown)])
    note(say("reproduce.counted", title=rules.title, n=len(figures), wrong=len(wrong), rows=len(rows)))
    return Exit.CRITERION_FAILED if wrong else Exit.DONE if figures else Exit.UNDETERMINED


def _row(figure: recomputed.Recomputed) -> list[str]:
    printed = figure.printed.partition("±")[0]
    difference = f"{100 * (float(printed) / figure.value - 1):+.1f}%" if figure.value else "—"
    place = [figure.table, figure.place, figure.devices, figure.figure, figure.printed.removesuffix("±0")]
    return [*place, f"{figure.value:.6g}", difference, figure.rule]


def _run_again(folder: Path, arguments: argparse.Namespace) -> int:
    _, wrong = audit.checked(argparse.Namespace(report=folder, seal=arguments.seal, signed_by=arguments.signed_by))
    if wrong:
        return audit.print_wrong(wrong)
    published = {summary.case.id: summary for summary in valid(finished.read(folder).summaries)}
    if arguments.case not in published:
        asked, near = arguments.case or "–", did_you_mean(arguments.case or "", published)
        raise EvalsuiteError.of("commands.reproduce_case", path=folder, case=asked, n=len(published), near=near)
    summary = published[arguments.case]
    words = rerun_command.words("run", [summary.case], repeats=arguments.repeats or summary.n)
    parser = argparse.ArgumentParser(prog="evalsuite run", allow_abbrev=False, add_help=False)
    add_arguments(parser, "run")
    asked = [*words[words.index("run") + 1 :], "--runs", str(arguments.runs), *arguments.run_options]
    door.run(given := parser.parse_args(asked))
    here = evaluation.evaluate(Store(arguments.runs), only=[summary.case], places=search_paths(given))
    if not (measured := valid(here.summaries)):
        raise NothingMeasured.of("commands.reproduce_nothing", path=arguments.runs, case=arguments.case)
    return _print_beside(summary, measured[0])


def _print_beside(published: Summary, here: Summary) -> int:
    interval, value = published.items_per_s, here.items_per_s.value
    state, between = "no_interval", f"{interval.value:.6g}"
    if interval.low is not None and interval.high is not None:
        state = "inside" if interval.low <= value <= interval.high else "outside"
        between = f"{interval.low:.6g}–{interval.high:.6g}"
    line(say(f"reproduce.{state}", case=here.case.id, value=f"{value:.6g}", unit=here.unit, published=between))
    if busy := sum(isinstance(found, BusyMachine) for run in here.measurements for found in run.findings):
        line(say("reproduce.busy", n=busy))
    for theirs, ours in zip(_made_of(published), _made_of(here), strict=True):
        if theirs != ours:
            line(say("reproduce.differs", theirs=theirs, ours=ours))
    return {"inside": Exit.DONE, "outside": Exit.CRITERION_FAILED}.get(state, Exit.UNDETERMINED)


def _made_of(summary: Summary) -> list[str]:
    runs = [run for run in summary.measurements if run.counts]
    each = [(run.environment, run.framework_version, *map(run.inputs.get, INPUTS)) for run in runs]
    return [", ".join(dict.fromkeys(str(value or "—") for value in values)) for values in zip(*each, strict=True)]
