"""Parameter count and first losses as official scripts print them.

They prove no equality; two that start far apart do not compute the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalsuite.core.documents import RunCommand
from evalsuite.core.model import Measurement, Summary


@dataclass(frozen=True, kw_only=True)
class FirstPrint:
    summary: Summary
    run: Measurement
    parameters: str | None  # None: its log names no number, or several
    losses: tuple[tuple[int, float], ...]  # (step, loss); empty where its log prints none


def first_prints(members: Sequence[Summary], commands: Mapping[str, RunCommand]) -> tuple[FirstPrint, ...]:
    prints = (_first_print(each, commands) for each in members)
    return tuple(each for each in prints if each is not None)


def _first_print(summary: Summary, commands: Mapping[str, RunCommand]) -> FirstPrint | None:
    run = next((run for run in summary.measurements if run.counts), None)
    command = commands.get(run.run.id) if run else None
    if run is None or command is None or command.recipe.kind != "official" or run.origin != "measured":
        return None
    stated = (fact.value for fact in run.facts if fact.key == "parameters" and fact.source == "log")
    parameters = next(stated, None)
    if parameters is None and not run.first_losses:
        return None
    return FirstPrint(summary=summary, run=run, parameters=parameters, losses=run.first_losses)
