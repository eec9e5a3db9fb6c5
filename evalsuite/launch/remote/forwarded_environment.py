"""The variables that are handed to hosts which inherit nothing from this shell."""

import importlib.metadata
import os
import re
from collections.abc import Mapping

from evalsuite.core import paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.launch.programs import ask_program
from evalsuite.machine import interfaces, variables

OPEN_MPI = "openmpi"
VERSION_TIMEOUT_S = 20.0
ALSO = ("PATH", interfaces.VARIABLE, "LD_LIBRARY_PATH", "PYTHONPATH", "EVALSUITE_DATA", "EVALSUITE_CACHE", "LC_ALL")


def forwarded_variables(environment: Mapping[str, str]) -> dict[str, str]:
    wanted = [name for name in sorted(environment) if name in variables.KNOWN or name in ALSO]
    values = {name: environment[name] for name in wanted}
    return {interfaces.VARIABLE: interfaces.AUTO, **values, **python_path(environment)}


def python_path(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What lets `python -m evalsuite` start from any folder; {} where it is installed."""
    try:
        importlib.metadata.distribution("evalsuite")
    except importlib.metadata.PackageNotFoundError:
        inherited = environment.get("PYTHONPATH")
        return {"PYTHONPATH": os.pathsep.join(filter(None, [inherited, str(paths.PACKAGE.parent)]))}
    return {}


def with_version(transport: str) -> str:
    """*transport*, Open MPI with its version: "openmpi4". Raises EvalsuiteError where that is absent or unknown."""
    if transport != OPEN_MPI:
        return transport
    answer = ask_program(("mpirun", "--version"), VERSION_TIMEOUT_S)
    if answer is None:
        raise EvalsuiteError.of("launch.no_openmpi")
    match = re.search(r"\(Open MPI\) (\d+)", answer.stdout)
    if match is None or match[1] not in ("4", "5"):
        raise EvalsuiteError.of("launch.other_mpirun", text=answer.stdout.strip().partition("\n")[0][:60])
    return f"{OPEN_MPI}{match[1]}"
