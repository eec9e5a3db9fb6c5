"""`evalsuite run --again REPORT CASE`: a case of a report run again here, and its value beside the published one."""

import argparse
from collections.abc import Callable
from pathlib import Path

from evalsuite.commands.evidence import audit
from evalsuite.commands.options import add_arguments, search_paths
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import line
from evalsuite.core.errors import EvalsuiteError, Exit, NothingMeasured, did_you_mean
from evalsuite.core.findings import BusyMachine
from evalsuite.core.model import INPUTS, Summary
from evalsuite.finished import finished
from evalsuite.results import evaluation
from evalsuite.results.judge import rerun_command
from evalsuite.results.measure.summary import valid
from evalsuite.runs.store import Store


def run(arguments: argparse.Namespace, measure: Callable[[argparse.Namespace], int]) -> int:
    """*measure*: runs what is missing of the cases that arguments of `run` name."""
    folder, case = Path(arguments.again[0]), arguments.again[1]
    _, wrong = audit.checked(argparse.Namespace(report=folder, seal=None, signed_by=None))
    if wrong:
        return audit.print_wrong(wrong)
    published = {summary.case.id: summary for summary in valid(finished.read(folder).summaries)}
    if case not in published:
        near = did_you_mean(case, published)
        raise EvalsuiteError.of("commands.reproduce_case", path=folder, case=case, n=len(published), near=near)
    words = rerun_command.words("run", [published[case].case], repeats=published[case].n)
    parser = argparse.ArgumentParser(prog="evalsuite run", allow_abbrev=False, add_help=False)
    add_arguments(parser, "run")
    given = parser.parse_args(words[words.index("run") + 1 :])
    for name, value in vars(arguments).items():
        if value != parser.get_default(name):
            setattr(given, name, value)
    measure(given)
    here = evaluation.evaluate(Store(given.runs), only=[published[case].case], places=search_paths(given))
    if not (measured := valid(here.summaries)):
        raise NothingMeasured.of("commands.reproduce_nothing", path=given.runs, case=case)
    return _print_beside(published[case], measured[0])


def _print_beside(published: Summary, here: Summary) -> int:
    interval, value = published.items_per_s, here.items_per_s.value
    state, between = "no_interval", f"{interval.value:.6g}"
    if interval.low is not None and interval.high is not None:
        state = "inside" if interval.low <= value <= interval.high else "outside"
        between = f"{interval.low:.6g}–{interval.high:.6g}"
    line(say(f"again.{state}", case=here.case.id, value=f"{value:.6g}", unit=here.unit, published=between))
    if busy := sum(isinstance(found, BusyMachine) for run in here.measurements for found in run.findings):
        line(say("again.busy", n=busy))
    for theirs, ours in zip(_made_of(published), _made_of(here), strict=True):
        if theirs != ours:
            line(say("again.differs", theirs=theirs, ours=ours))
    return {"inside": Exit.DONE, "outside": Exit.CRITERION_FAILED}.get(state, Exit.UNDETERMINED)


def _made_of(summary: Summary) -> list[str]:
    runs = [run for run in summary.measurements if run.counts]
    each = [(run.environment, run.framework_version, *map(run.inputs.get, INPUTS)) for run in runs]
    return [", ".join(dict.fromkeys(str(value or "—") for value in values)) for values in zip(*each, strict=True)]
