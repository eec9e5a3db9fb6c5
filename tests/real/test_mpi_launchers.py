"""The engines hosts and mpi over ssh and launchers of MPI, on three hosts with sshd, each with a network, a name and a
list of hosts of its own: every host is reached, lost ones are noticed, and nothing is left. Launchers of this machine,
and newer ones."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from evalsuite.core.errors import Exit
from tests import mpi_launchers, namespaces
from tests.mpi_launchers import LAUNCHERS, SSH, Launcher
from tests.processes import running, soon
from tests.toys import TOYNET

ONCE = (*TOYNET, "--repeats", "1", "--runs", "runs", "--share")  # waits for nobody
OPEN_MPI = [launcher for launcher in LAUNCHERS if launcher.via == "openmpi"]


def over(*launchers: Launcher):
    return pytest.mark.parametrize("launcher", launchers, ids=[launcher.name for launcher in launchers])


def started(reached, folder: Path, launcher: Launcher, *words: str, script: str = "train.py") -> subprocess.Popen:
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
    return namespaces.evalsuite(hosts["a"], folder, "run", *ONCE, "--option", f"script={script}", *words, **variables)


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
    # in the order given, but for a host that was found slow, which comes last
    assert (sorted(found), sorted(found.values())) == (["a", "b", "c"], [0, 1, 2])
    (file,) = tmp_path.glob("runs/*/r0/environment.c.json")
    switches = json.loads(file.read_text())["environment_variables"]
    assert (switches["GLOO_SOCKET_IFNAME"], switches["NCCL_SOCKET_IFNAME"]) == ("eth0", "=eth0")


def test_a_host_that_nobody_knows_is_named_before_anything_is_started(reached, tmp_path):
    process = started(reached, tmp_path, SSH, "--scales", "2x1", "--steps", "5+60", "--hosts", "a,nowhere")
    said, _ = process.communicate(timeout=120)

    assert process.returncode == Exit.USAGE
    assert "nowhere: not reached: ssh: Could not resolve hostname nowhere" in said
    assert "1 of 2 nodes are fit and 2 are wanted" in said
    assert list((tmp_path / "runs").glob("*/r0")) == []


def test_what_fails_on_a_host_is_the_reason(reached, tmp_path):
    words = ("--scales", "2x1", "--steps", "5+60", "--hosts", "a,b")
    started(reached, tmp_path, SSH, *words, script="fails.py").communicate(timeout=120)

    (file,) = tmp_path.glob("runs/*/r0/outcome.json")
    outcome = json.loads(file.read_text())
    assert (outcome["status"], outcome.get("fault")) == ("failed", None)


def test_the_evaluator_that_is_killed_leaves_nothing_running_anywhere(reached, tmp_path):
    process = started(reached, tmp_path, SSH, "--scales", "2x1", "--steps", "5+100000", "--hosts", "a,b")
    assert soon(lambda: len(list((tmp_path / "runs").glob("*/r0/log.*.txt"))) == 2)

    process.kill()  # the evaluator, and nobody tells the hosts
    process.communicate()

    assert soon(lambda: not running(str(tmp_path)))


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
