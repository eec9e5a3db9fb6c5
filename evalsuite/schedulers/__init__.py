"""The batch schedulers: each module in this folder but the contract is one, found because it lies here."""

import importlib
import pkgutil
from collections.abc import Mapping

from evalsuite.schedulers import contract
from evalsuite.schedulers.contract import Scheduler


def _discover() -> Mapping[str, Scheduler]:
    names = (f"{__name__}.{each.name}" for each in pkgutil.iter_modules(__path__))
    known: list[Scheduler] = [importlib.import_module(name).SCHEDULER for name in names if name != contract.__name__]
    return {scheduler.name: scheduler for scheduler in known}


SCHEDULERS = _discover()
