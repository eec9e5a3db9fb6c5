"""`evalsuite compare`: plan, run what is missing, report."""

import argparse
from typing import TYPE_CHECKING

from evalsuite.commands.speech import say
from evalsuite.errors import Exit

if TYPE_CHECKING:
    from evalsuite.commands.launching.request import Asked
    from evalsuite.model import Case
    from evalsuite.runs.store import Store

HELP = "plan, run what is missing, and report: the main job"
EXAMPLES = """  evalsuite compare
  evalsuite compare --frameworks tensorflow,mxnet,paddlepaddle,pytorch --scales 1x1,1x2
  evalsuite compare --frameworks pytorch --scales 1x1,1x8 --precision fp32,amp --repeats 5 --steps 20+100
  evalsuite compare --spec my.toml --runs /data/runs --out /data/report
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from evalsuite.commands.options import axes
    from evalsuite.commands.report import add_output_arguments
    from evalsuite.commands.run import add_redo

    axes.add_arguments(parser)
    add_redo(parser)
    add_output_arguments(parser)
    parser.add_argument(
        "--recorded",
        action="store_true",
        help="where nothing can be run, report all runs recorded elsewhere, whatever was asked for",
    )


def run(arguments: argparse.Namespace) -> int:
    from dataclasses import replace

    from evalsuite.commands import report
    from evalsuite.commands.launching import batch_searches
    from evalsuite.commands.launching.request import planned
    from evalsuite.commands.printing.terminal import note
    from evalsuite.commands.run import run_missing
    from evalsuite.launch import campaign
    from evalsuite.results.judge import criteria
    from evalsuite.results.measure.summary import valid

    asked = planned(arguments)
    report.check(arguments, [*asked.plan.cases, *(skip.case for skip in asked.plan.skips)])
    campaign.redo(arguments.redo, asked.plan, asked.store)
    asked = batch_searches.with_batches(arguments, asked)
    if arguments.criteria:
        asked = replace(asked, criteria=criteria.read(arguments.criteria))
    asked, failed = run_missing(asked, arguments.environment)
    if not asked.plan.cases:
        return _recorded(asked, arguments)
    evaluation = report.write(asked.store, arguments, only=[*asked.plan.cases])
    if not valid(evaluation.summaries):
        note(say("compare.nothing_valid"))
        return Exit.NOTHING_MEASURED
    verdict = report.judged(evaluation) if arguments.fail_on_criteria else Exit.DONE
    if failed and verdict != Exit.CRITERION_FAILED:
        return Exit.SOME_FAILED
    return verdict


def _recorded(asked: "Asked", arguments: argparse.Namespace) -> int:
    """The report of the recorded runs, where nothing could be run here; said plainly, also in the report."""
    from evalsuite import paths
    from evalsuite.commands import report
    from evalsuite.commands.printing.terminal import note
    from evalsuite.runs.store import Store

    recorded = Store(paths.DATA / "recorded")
    note(say("compare.nothing_here"))
    if not recorded.finished():
        return Exit.NOTHING_MEASURED
    only = None if arguments.recorded else _asked_for(recorded, asked)
    if only == []:
        note(say("compare.none_recorded"))
        return Exit.NOTHING_MEASURED
    note(say("compare.recorded", root=recorded.root))
    report.write(recorded, arguments, only=only, recorded_elsewhere=True, skips=asked.plan.skips)
    return Exit.NOTHING_MEASURED


def _asked_for(recorded: "Store", asked: "Asked") -> "list[Case]":
    """The recorded cases that were asked for, on however many cores."""
    from dataclasses import replace

    wanted = {replace(skip.case, cores_per_device=None).id for skip in asked.plan.skips}
    found = [folder.run().case for folder in recorded.finished()]
    return [case for case in found if replace(case, cores_per_device=None).id in wanted]
