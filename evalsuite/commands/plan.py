"""`evalsuite plan`: the test matrix as a table. Nothing is started."""

import argparse
import json
import shlex
import sys
from typing import TYPE_CHECKING

from evalsuite.commands import speech
from evalsuite.commands.speech import say
from evalsuite.errors import Exit

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalsuite.commands.launching.request import Asked
    from evalsuite.model import Case, Finding

HELP = "show the test matrix; nothing is started"
EXAMPLES = """  evalsuite plan
  evalsuite plan --frameworks pytorch,paddlepaddle --scales 1x1,1x8,2x8 --precision fp32,amp
  evalsuite plan --frameworks pytorch --scales 1x1,1x2,1x4 --batch-sizes 64 --scaling strong
  evalsuite plan --frameworks pytorch --device cpu --batch-sizes max --memory-per-device 2
  evalsuite plan --frameworks pytorch --scales 2x8 --engine slurm --commands
  evalsuite plan --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from evalsuite.commands.options import axes

    axes.add_arguments(parser)
    parser.add_argument("--commands", action="store_true", help="print each exact command line")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    speech.add_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    from evalsuite.commands.launching.request import planned

    asked = planned(arguments)
    if arguments.json:
        from evalsuite import redaction

        print(json.dumps(redaction.shown(_facts(asked, arguments)), indent=1, ensure_ascii=False))
    elif arguments.commands:
        _print_commands(asked)
    else:
        _print_table(asked)
    return Exit.DONE if asked.plan.cases else Exit.NOTHING_MEASURED


def _print_table(asked: "Asked") -> None:
    from evalsuite.commands.launching import prices
    from evalsuite.commands.printing.terminal import table

    flags, done = _flags(asked, speech.finding), asked.done()
    _note_searches(asked, flags)
    rows = [
        (*_axes(case), f"{done[case.id]}/{asked.repeats}", "; ".join(flags.get(case.id, ())))
        for case in asked.plan.cases
    ]
    rows += [(*_axes(skip.case), say("plan.skip"), speech.retold(skip.reason)) for skip in asked.plan.skips]
    sides = {"framework": "left", "recipe": "left", "model": "left", "scale": "left", "precision": "left",
             "batch": "right", "done": "right", "note": "left"}  # fmt: skip
    columns = [(say(f"columns.{name}"), side) for name, side in sides.items()]
    runs, device = len(asked.plan.runs), say(f"plan.on_{asked.machine.device}")
    table(say("plan.title", name=asked.plan.spec.name, runs=runs, device=device), columns, rows)
    left = asked.missing()
    if not left:
        print(say("plan.nothing_left", runs=runs) if runs else say("plan.nothing_can"))
        return
    for sentence in prices.sentences(asked, left):
        print(sentence)


def _axes(case: "Case") -> tuple[str, ...]:
    from evalsuite.commands.printing.terminal import SIZES

    precision = case.precision + ("+XLA" if case.xla else "")
    recipe = " ".join([case.recipe, *(f"{name}={value}" for name, value in case.options if name not in SIZES)])
    batch = str(case.batch_per_device)
    if case.strong_batch is not None:
        batch = say("plan.strong_batch", batch=batch, whole=case.strong_batch)
    return (case.framework, recipe, case.model, case.scale, precision, batch)


def _note_searches(asked: "Asked", flags: dict[str, list[str]]) -> None:
    """Notes where the batch is not found yet, and how it was found."""
    from evalsuite.commands.launching import batch_searches
    from evalsuite.plan import searched

    unfound = [searched.series(case) for case in asked.plan.to_search]
    for case in asked.plan.cases:
        found = searched.behind(case, asked.plan.spec.searched) if case.batch_policy else None
        if searched.series(case) in unfound:
            flags.setdefault(case.id, []).append(say("plan.batch_unfound", batch=case.batch_per_device))
        elif found is not None:
            flags.setdefault(case.id, []).append(say("plan.batch_found", history=batch_searches.history(found)))


def _flags(asked: "Asked", told: "Callable[[Finding], str]") -> dict[str, list[str]]:
    """The id of each case that there is something to know of → what, each finding as *told* says it."""
    found: dict[str, list[str]] = {}
    for finding in asked.plan.findings:
        found.setdefault(finding.where, []).append(told(finding))
    return found


def _print_commands(asked: "Asked") -> None:
    from evalsuite import redaction

    for case in asked.plan.cases:
        print(f"# {case.id} ({case.nodes} node{'s' if case.nodes > 1 else ''})")
        whole = asked.command_line(case)
        print(shlex.join(redaction.words(whole.engine)))
        for node, line in enumerate(whole.on_nodes(case, asked.recipe(case))):
            words = shlex.join(redaction.words(line)) if line else "(samples only: the first node reaches it)"
            print(f"#   on node {node}: {words}")
        if why := asked.without_python(case):
            print(f"#   {why}")
    for skip in asked.plan.skips:
        print(f"# skipped: {skip.case.id}: {skip.reason}", file=sys.stdout)


def _facts(asked: "Asked", arguments: argparse.Namespace) -> dict[str, object]:
    from dataclasses import asdict

    from evalsuite import redaction
    from evalsuite.commands.launching import prices
    from evalsuite.report.text.findings import english

    flags, done = _flags(asked, english), asked.done()
    left = asked.missing()
    estimate = asked.estimate(left)
    return {
        "profile": asked.plan.spec.name,
        "repeats": asked.plan.spec.repeats,
        "most_repeats": asked.plan.spec.most_repeats,
        "estimated_seconds": estimate.total(left),
        "prices": [asdict(one) for one in estimate.prices(left)],
        "search_prices": [asdict(one) for one in prices.searches(asked)],
        "cases": [
            {"id": case.id, "framework": case.framework, "model": case.model, "scale": case.scale,
             "precision": case.precision, "xla": case.xla, "batch_per_device": case.batch_per_device,
             "strong_batch": case.strong_batch, "batch_policy": case.batch_policy,
             "done": done[case.id], "notes": flags.get(case.id, []),
             **({"command": list(redaction.words(asked.command_line(case).engine))} if arguments.commands else {})}
            for case in asked.plan.cases
        ],
        "searches": [
            {"of": one.of.id, "batch": one.batch, "tried": [asdict(each) for each in one.tried]}
            for one in asked.plan.spec.searched
        ],
        "to_search": [case.id for case in asked.plan.to_search],
        "skips": [{"id": skip.case.id, "reason": skip.reason} for skip in asked.plan.skips],
    }  # fmt: skip
