from dataclasses import replace
from pathlib import Path

import pytest

from evalsuite.core.errors import EvalsuiteError
from evalsuite.launch.remote import allocations
from evalsuite.plan.commandline import agent_argv, command_line
from evalsuite.plan.engines import ENGINES
from evalsuite.schedulers import SCHEDULERS
from tests.toys import CASE, toynet

SLURM = allocations.engine_on(SCHEDULERS["slurm"], ())
RECIPE = toynet().recipes[0]
AGENT = ("python", "-m", "evalsuite", "sample", "--", "train")
TWO_BY_EIGHT = replace(CASE, nodes=2, devices_per_node=8)


@pytest.mark.parametrize(
    ("engine", "program", "words"),
    [
        (SLURM, "srun", ["--nodes=2", "--ntasks=2", "--ntasks-per-node=1"]),
        (ENGINES["mpi"], "mpirun", ["-np", "2", "--map-by", "ppr:1:node"]),
        (ENGINES["local"], AGENT[0], []),
    ],
)
def test_slurm_and_mpi_start_one_agent_on_every_node_and_the_local_engine_adds_nothing(engine, program, words):
    line = engine.wrap(2, AGENT)

    assert line[0] == program and set(words) <= set(line) and line[-len(AGENT) :] == AGENT
    assert words or line == AGENT


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
