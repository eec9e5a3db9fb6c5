"""The engines hosts and mpi over launchers of MPI: every host is reached, lost ones are noticed, and nothing is left.

tests/real/test_ssh_hosts.py trains over those of Debian; here stand the newer ones too.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from evalsuite.core.errors import Exit
from tests import mpi_launchers, namespaces, sources
from tests.mpi_launchers import LAUNCHERS, Launcher
from tests.toynet import TOYNET, TOYS

TRAINS = (*TOYNET, "--option", "script=train.py", "--repeats", "1", "--runs", "runs", "--share")  # waits for nobody
LONG = "5+100000"
NEWER = [launcher for launcher in LAUNCHERS if launcher.wheel]
OPEN_MPI = [launcher for launcher in LAUNCHERS if launcher.via == "openmpi"]


def over(*launchers: Launcher):
    return pytest.mark.parametrize("launcher", launchers, ids=[launcher.name for launcher in launchers])


def started(reached, folder: Path, launcher: Launcher, *words: str) -> subprocess.Popen:
    """`evalsuite run` on host a, with *launcher* the first on the PATH."""
    place = mpi_launchers.folder(launcher)
    if place is None:
        pytest.skip(f"no {launcher.name} here")
    hosts, config = reached
    (folder / "hostfile").write_text("a slots=1\nb slots=1\nc slots=1\n")
    variables = mpi_launchers.variables(config) | {"PATH": os.pathsep.join((str(place), os.environ["PATH"]))}
    for name in ("OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile"):  # for the engine mpi
        variables[name] = str(folder / "hostfile")
    variables["EVALSUITE_INTERFACE"] = "eth0"
    return namespaces.evalsuite(hosts["a"], folder, "run", *TRAINS, *words, **variables)


def ranks(folder: Path) -> dict[str, int]:
    files = folder.glob("runs/*/r0/environment.*.json")
    return {file.name.split(".")[1]: json.loads(file.read_text())["node_rank"] for file in files}


@over(*NEWER)
def test_every_host_trains_over_every_launcher_through_the_interface_that_is_named(reached, tmp_path, launcher):
    words = ("--scales", "3x1", "--steps", "5+20", "--hosts", "b,a,c", "--via", launcher.via)

    process = started(reached, tmp_path, launcher, *words)
    said, _ = process.communicate(timeout=120)

    assert process.returncode == Exit.DONE, said
    found = ranks(tmp_path)
    assert (sorted(found), sorted(found.values())) == (["a", "b", "c"], [0, 1, 2])


@over(*OPEN_MPI)
def test_the_engine_mpi_learns_from_open_mpi_where_its_nodes_meet(reached, tmp_path, launcher):
    process = started(reached, tmp_path, launcher, "--scales", "2x1", "--steps", "5+20", "--engine", "mpi")
    said, _ = process.communicate(timeout=120)

    assert process.returncode == Exit.DONE, said
    assert ranks(tmp_path) == {"a": 0, "b": 1}


STARTED_BY_MPIRUN = sources.text("mpi_launchers_started_by_mpirun.py.in")


DOCKER = sources.text("mpi_launchers_docker.py.in")
SAYING_WHERE = """"sh", "-c", 'echo "rank of $(hostname) in $IN_IMAGE"; exec "$@"', "sh", "python3", """


@over(OPEN_MPI[0])
def test_mpirun_in_a_container_starts_its_ranks_in_the_image_on_every_host(reached, tmp_path, launcher):
    programs = [place for place in ("/usr/bin/docker", "/usr/local/bin/docker") if Path(place).exists()]
    if not programs or shutil.which("bwrap") is None:
        pytest.skip("no bwrap, or no docker in whose place it could stand")
    hosts, config = reached
    (own := tmp_path / "own" / "scripts").mkdir(parents=True)
    shutil.copy(TOYS / "scripts" / "train.py", own)
    adapter = STARTED_BY_MPIRUN.replace('"{python}", ', SAYING_WHERE).replace("SCRIPTS", str(own))
    (own.parent / "mpinet.py").write_text(adapter)
    (tmp_path / "docker").write_text(DOCKER.replace("KEYS", str(config.parent)))
    (tmp_path / "docker").chmod(0o755)
    for host in hosts.values():
        subprocess.run(host.enter("mount", "--bind", str(config), "/etc/ssh/ssh_config"), check=True)
        for place in programs:
            subprocess.run(host.enter("mount", "--bind", str(tmp_path / "docker"), place), check=True)
    words = ("--frameworks", "mpinet", "--adapters", str(own.parent), "--scales", "2x1", "--steps", "5+20")

    process = started(
        reached, tmp_path, launcher, *words, "--hosts", "a,b", "--container", "docker", "--image", "toy:1"
    )
    said, _ = process.communicate(timeout=240)

    log = "".join(file.read_text() for file in tmp_path.glob("runs/*/r0/log.*"))
    assert process.returncode == Exit.DONE, said + log
    assert sorted(re.findall(r"rank of (\w) in toy:1", log)) == ["a", "b"]
