"""Tells a rehearsal from a measurement: no report takes one, and no stand-in takes part in a measurement."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from evalsuite.core import files
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Case, Device
from evalsuite.runs.store import CASE, RunFolder, Store

VARIABLE = "EVALSUITE_STAND_INS"  # which stand-ins a script finds
FOLDER = "stand_ins"  # where they lie
DEVICE: Device = "stand_in"
MARK = b"evalsuite rehearsal: steps on a CPU with stand-ins; no figure here is a measurement\n"


def stand_in(environment: Mapping[str, str]) -> str | None:
    """The variable of *environment* by which a stand-in takes part in a training; None if none does."""
    if environment.get(VARIABLE):
        return f"{VARIABLE}={environment[VARIABLE]}"
    folders = environment.get("PYTHONPATH", "").split(os.pathsep)
    place = next((folder for folder in folders if FOLDER in Path(folder).parts), None)
    return f"PYTHONPATH={place}" if place else None


def refuse_stand_in(environment: Mapping[str, str]) -> None:
    """Raises EvalsuiteError where a stand-in would take part in a measurement."""
    if variable := stand_in(environment):
        raise EvalsuiteError.of("runs.stand_in", variable=variable)


def is_rehearsal(case: Case, command: Iterable[str] = ()) -> bool:
    given = dict(word.partition("=")[::2] for word in command if word.startswith((VARIABLE, "PYTHONPATH")))
    return case.device == DEVICE or stand_in(given) is not None


def is_folder(run: Path) -> bool:
    return f"-{DEVICE}-" in run.parent.name


def refuse(store: Store) -> None:
    refuse_any(folder for folder in store.finished() if is_folder(folder.path))


def refuse_log(file: Path) -> None:
    """Raises EvalsuiteError for the log of a rehearsal, in its run folder or as it was kept."""
    try:
        log = files.open_file(file, follow=True)
    except OSError:
        return  # the reading of it says why
    with log:
        if log.readline(len(MARK)) == MARK:
            raise EvalsuiteError.of("runs.rehearsed", path=file)
    if (file.parent / CASE).is_file():
        refuse_any([RunFolder(file.parent)])


def refuse_any(folders: Iterable[RunFolder]) -> None:
    for folder in folders:
        if is_rehearsal(folder.run().case):
            raise EvalsuiteError.of("runs.rehearsed", path=folder.path)
