"""`evalsuite largest-batch`: the largest batch of each case that fits into memory, found by short runs."""

import argparse
from dataclasses import asdict, replace
from typing import Any

from evalsuite.commands.launching.batch_searches import history, search_batches
from evalsuite.commands.launching.found_batches import MOST
from evalsuite.commands.launching.request import Request, read_request
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import line, print_json, table
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.model import Case
from evalsuite.launch.batch_search import DeviceHourBudget
from evalsuite.plan.largest import Largest


def run(arguments: argparse.Namespace) -> int:
    request = read_request(arguments)
    most = _most(arguments, request)
    if request.plan.spec.find_batch:
        raise EvalsuiteError.of("commands.largest_max")
    budget = DeviceHourBudget(most=request.plan.spec.max_device_hours)
    searches = search_batches(request.plan, request.place, request.options, _starts, most, budget)
    if arguments.json:
        print_json([_facts(case, largest) for case, largest in searches])
    else:
        _print(searches)
    if not searches:
        return Exit.NOTHING_MEASURED
    return Exit.DONE if all(largest.batch for _, largest in searches) and not budget.refused else Exit.SOME_FAILED


def _most(arguments: argparse.Namespace, request: Request) -> int:
    """Up to which batch is tried. Raises EvalsuiteError where too much would take the whole machine down."""
    limited = request.plan.spec.memory_gb_per_device is not None
    if arguments.most is None and request.place.machine.device == "cpu" and not limited:
        raise EvalsuiteError.of("commands.most_none")
    most = MOST if arguments.most is None else arguments.most
    if not 1 <= most <= MOST:
        raise EvalsuiteError.of("commands.most_range", text=most, most=MOST)
    return int(most)


def _starts(cases: tuple[Case, ...]) -> list[Case]:
    first: dict[Case, Case] = {}
    for case in sorted(cases, key=lambda case: case.batch_per_device):
        first.setdefault(replace(case, batch_per_device=1), case)
    return list(first.values())


def _print(searches: list[tuple[Case, Largest]]) -> None:
    names = ("framework", "recipe", "scale", "precision", "batch", "note")
    columns = [(say(f"columns.{name}"), "right" if name == "batch" else "left") for name in names]
    rows = [
        (case.framework, case.recipe, case.scale, case.precision, str(largest.batch or "–"), history(largest))
        for case, largest in searches
    ]
    table(say("largest.title"), columns, rows)
    for batch in sorted({largest.batch for _, largest in searches if largest.batch}):
        line(f'batch_per_device = [{batch}]\nbatch_policy = "max"')


def _facts(case: Case, largest: Largest) -> dict[str, Any]:
    return {
        **{name: getattr(case, name) for name in ("framework", "recipe", "model", "scale", "precision", "xla")},
        "options": dict(case.options),
        **asdict(largest),
    }
