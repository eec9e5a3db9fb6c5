"""The batch schedulers: each module in this folder but the contract is one, found because it lies here."""

import importlib
import pkgutil
from collections.abc import Mapping

from evalsuite.schedulers import contract
from evalsuite.schedulers.contract import Scheduler

_NAMES = (f"{__name__}.{each.name}" for each in pkgutil.iter_modules(__path__))
_KNOWN: list[Scheduler] = [importlib.import_module(name).SCHEDULER for name in _NAMES if name != contract.__name__]
SCHEDULERS: Mapping[str, Scheduler] = {scheduler.name: scheduler for scheduler in _KNOWN}
