"""The engines hosts and mpi over launchers of MPI: every host is reached, lost ones are noticed, and nothing is left.
Those of this machine, and newer ones."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from evalsuite.core.errors import Exit
from tests import mpi_launchers, namespaces
from tests.mpi_launchers import LAUNCHERS, Launcher
from tests.toys import TOYNET

TRAINS = (*TOYNET, "--option", "script=train.py", "--repeats", "1", "--runs", "runs", "--share")  # waits for nobody
LONG = "5+100000"
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


@over(*LAUNCHERS)
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


@over(OPEN_MPI[0])
def test_mpirun_in_a_container_starts_its_ranks_in_the_image_on_every_host(reached, tmp_path, launcher):
    hosts, _ = reached
    words = mpi_launchers.images_on(hosts.values(), tmp_path)

    process = started(reached, tmp_path, launcher, *words, "--hosts", "a,b")
    said, _ = process.communicate(timeout=240)

    assert process.returncode == Exit.DONE, said
    assert mpi_launchers.ranks_in_images(tmp_path) == ["a", "b"]
