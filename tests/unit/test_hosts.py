"""Scripts that reach the other nodes by themselves: the hosts' names, and nodes on which the agent only samples."""

import functools
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from evalsuite import cli
from evalsuite.agent.order import Order, command
from evalsuite.commands.launching import request
from evalsuite.contracts.adapter import Command
from evalsuite.core import placeholders
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.paths import ENTER, FIRST_ENDED
from evalsuite.plan import containers
from evalsuite.plan.commandline import agent_argv, command_line
from evalsuite.plan.engines import ENGINES
from tests.toys import CASE, toynet


def test_a_launcher_that_tells_no_names_is_an_error_where_they_are_wanted(tmp_path):
    place = placeholders.Node(rank=0, nodes=2, master_addr="10.0.0.1", master_port=29500, hosts=())
    wants = Order(argv=("mpirun", "-H", "{hosts_slots}"), folder=tmp_path, host="a")

    with pytest.raises(EvalsuiteError, match="set EVALSUITE_HOSTS=h1,h2"):
        command(wants, place, None, {})


def test_the_other_nodes_wait_for_the_first_and_start_nothing_of_the_script(tmp_path):
    order = Order(argv=("mpirun", "train.py"), folder=tmp_path, host="b", first_node_only=True)
    first = placeholders.Node(rank=0, nodes=2, master_port=29500, hosts=("a", "b"))
    second = placeholders.Node(rank=1, nodes=2, master_port=29500, hosts=("a", "b"))

    here, there = command(order, first, None, {})[0], command(order, second, None, {})[0]
    entering = replace(order, argv=("docker", "run", "toy:1", "sh", ENTER, "--node", "{node_rank}", "{host}", "mpirun"))

    assert here == ["mpirun", "train.py"]
    assert there[0] == sys.executable
    assert command(entering, second, None, {})[0][-4:] == ["--node", "1", "b", "mpirun"]
    assert there[-1] == str(tmp_path / FIRST_ENDED)


@pytest.mark.parametrize(("nodes", "spawn", "alone"), [(2, "once", True), (1, "once", False), (2, "per_node", False)])
def test_only_scripts_with_a_launcher_of_their_own_start_on_one_node_alone(nodes, spawn, alone):
    argv = agent_argv("python", "out", CASE.at_scale(nodes, 8), spawn, 60.0, ("train",))

    assert ("first" in argv) is alone


def test_how_often_a_node_is_sampled_is_the_same_on_every_node(shown):
    assert "--hz 10 " in shown("ngc_pytorch", "resnet50", "--hz", "10")
    assert "--hz 2 " in shown("ngc_pytorch", "resnet50")


@pytest.fixture
def shown(capsys, tmp_path):
    """What a plan shows of a recipe's commands at *scales*, with more *words*."""

    def shown(framework, recipe, *words, scales="2x8", engine="slurm", device="gpu"):
        named = ("plan", "--frameworks", framework, "--recipe", recipe, "--scales", scales, "--engine", engine)
        cli.main([*named, "--device", device, "--profile", "full", "--commands", "--runs", str(tmp_path), *words])
        return capsys.readouterr().out

    return shown


def test_mpirun_is_told_the_variables_that_it_would_hand_to_no_other_node(shown, monkeypatch):
    monkeypatch.setenv("NCCL_DEBUG", "INFO")
    monkeypatch.setenv("MY_TOKEN", "secret")

    said = shown("ngc_pytorch", "resnet50", engine="mpi")

    assert "NCCL_DEBUG=INFO" in said.partition("evalsuite sample")[0].partition("mpirun -np 2")[2]
    assert "secret" not in said
    assert "mpirun cannot start inside another" in shown("bluefog", "benchmark-resnet50", engine="mpi")


@pytest.mark.parametrize("runtime", containers.RUNTIMES)
def test_mpirun_is_entered_in_the_image_on_each_node(runtime, shown):
    said = shown("ngc_tensorflow", "resnet50-2020", "--container", runtime)

    assert "sh enter.sh --node '{node_rank}' '{host}' mpirun -mca plm_rsh_agent 'sh enter.sh'" in said
    assert ".ssh" not in said


@pytest.mark.parametrize("engine", ["slurm", "kubernetes"])
def test_a_scheduler_s_nodes_are_planned_by_the_device_that_is_named(engine, shown):
    said = shown("ngc_tensorflow", "resnet50-2020", engine=engine, scales="1x1,1x8,2x8")

    assert said.count("# ngc_tensorflow-resnet50-2020-gpu") == 3


def test_what_only_submit_starts_on_kubernetes_is_no_engine_of_run(capsys):
    assert cli.main(["run", "--engine", "kubernetes"]) == Exit.USAGE
    assert "evalsuite submit --engine kubernetes" in capsys.readouterr().err


@pytest.mark.parametrize("runtime", containers.RUNTIMES)
def test_a_launcher_in_a_container_of_one_node_is_refused_over_several(runtime, shown):
    more = ("--container", runtime, "--models", "resnet50_v1.5")

    said = " ".join(shown("horovod", "official", *more, scales="1x8,2x8").split())

    assert f"on 2 nodes horovodrun runs in the {runtime} container of the first one" in said


def test_a_launcher_that_the_environment_lacks_is_refused_at_the_scale_that_wants_it():
    (recipe,) = toynet(
        requirements=("toynet==1.0",),
        command=lambda case: Command(argv=("{bin}/horovodrun",) if case.nodes > 1 else ("{python}",)),
    ).recipes
    refusal = functools.partial(request._no_environment, request.MANAGED)

    assert "a launcher of the package horovod" in refusal(replace(CASE, nodes=2), recipe)
    assert refusal(CASE, recipe) is None
    installed = replace(recipe, requirements=("toynet==1.0", "Horovod[torch]==0.28.1"))
    assert "horovod" not in (refusal(replace(CASE, nodes=2), installed) or "")


def test_a_container_wraps_the_training_and_not_the_agent(shown):
    docker = ("--container", "docker")

    assert "torch.cuda.set_device" in shown("ngc_pytorch", "resnet50", *docker, scales="1x8", device="cpu")
    said = shown("ngc_pytorch", "resnet50", *docker).splitlines()
    line = next(line for line in said if line.startswith("srun"))
    assert line.index("evalsuite sample") < line.index(" -- docker run") < line.index("--gpus ")
    assert line.index("nvcr.io/nvidia/pytorch:21.03-py3 python3 ") > line.index("--gpus ")


def test_a_path_that_holds_what_the_agent_replaces_is_refused():
    about = {"python": "python3", "folder": Path("/runs/{node_rank}"), "engine": ENGINES["local"], "timeout_s": 60}

    with pytest.raises(EvalsuiteError, match=r'/runs/\{node_rank\}.*got "\{node_rank\}" in the path.*--runs'):
        command_line(toynet().recipes[0], CASE, **about)
