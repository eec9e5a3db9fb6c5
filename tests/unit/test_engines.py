from dataclasses import replace
from pathlib import Path

import pytest

from evalsuite.errors import EvalsuiteError
from evalsuite.launch.remote import allocations
from evalsuite.plan.commandline import agent_argv, command_line
from evalsuite.plan.engines import ENGINES
from evalsuite.schedulers import SCHEDULERS
from tests.toys import CASE, toynet

SLURM = allocations.engine_on(SCHEDULERS["slurm"], ())
RECIPE = toynet().recipes[0]
AGENT = ("python", "-m", "evalsuite", "sample", "--", "train")
TWO_BY_EIGHT = replace(CASE, nodes=2, devices_per_node=8)


def test_the_local_engine_adds_nothing():
    assert ENGINES["local"].wrap(1, AGENT) == AGENT


def test_slurm_starts_one_agent_on_every_node():
    line = SLURM.wrap(2, AGENT)

    assert line[0] == "srun"
    assert {"--nodes=2", "--ntasks=2", "--ntasks-per-node=1"} <= set(line)
    assert line[-len(AGENT) :] == AGENT


def test_mpi_starts_one_agent_on_every_node():
    line = ENGINES["mpi"].wrap(2, AGENT)

    assert line[:5] == ("mpirun", "-np", "2", "--map-by", "ppr:1:node")
    assert line[-len(AGENT) :] == AGENT


def test_processes_are_started_by_the_agent_only_where_the_recipe_asks_for_it():
    per_device = agent_argv("python", "out", TWO_BY_EIGHT, "per_device", 60.0, ["train"])
    per_node = agent_argv("python", "out", TWO_BY_EIGHT, "per_node", 60.0, ["train"])

    assert per_device[per_device.index("--processes") + 1] == "8"
    assert "--processes" not in per_node
    assert per_node[-2:] == ("--", "train")


def test_the_plan_fills_the_interpreter_and_leaves_the_node_s_own_words():
    recipe = toynet(
        command=lambda case: RECIPE.command(case).__class__(argv=("{python}", "t.py", "{node_rank}"))
    ).recipes[0]

    line = command_line(
        recipe, CASE, python="/env/bin/python", folder=Path("out"), engine=ENGINES["local"], timeout_s=1
    )

    assert line.training == ("/env/bin/python", "t.py", "{node_rank}")


def test_the_same_case_gives_the_same_command_line():
    asked = {"python": "py", "folder": Path("out"), "engine": SLURM, "timeout_s": 60.0}

    assert command_line(RECIPE, CASE, **asked) == command_line(RECIPE, CASE, **asked)


def test_a_path_that_holds_what_the_agent_replaces_is_refused():
    adapter = toynet()

    with pytest.raises(EvalsuiteError, match=r'/runs/\{node_rank\}.*got "\{node_rank\}" in the path.*--runs'):
        command_line(
            adapter.recipes[0],
            replace(CASE, recipe=adapter.recipes[0].name),
            python="/usr/bin/python3",
            folder=Path("/runs/{node_rank}"),
            engine=ENGINES["local"],
            timeout_s=60,
        )
