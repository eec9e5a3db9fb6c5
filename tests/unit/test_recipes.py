"""Every official recipe: what it runs at each scale and on each of its axes, held against golden files."""

import itertools
import json
import re
from dataclasses import replace

import pytest

from evalsuite.contracts import registry
from evalsuite.core import placeholders
from evalsuite.core.placeholders import fill
from evalsuite.plan import repositories
from tests import goldens, sources
from tools.recipe_cases import SCALES, base, points

PLACEHOLDERS = {*placeholders.BY_PLAN, *placeholders.BY_AGENT}
ADAPTERS = registry.discover()
OFFICIAL = [(name, recipe) for name, each in ADAPTERS.items() for recipe in each.recipes if recipe.kind == "official"]
IDS = [f"{name}.{recipe.name}" for name, recipe in OFFICIAL]


@pytest.mark.parametrize(("framework", "recipe"), OFFICIAL, ids=IDS)
def test_the_commands_of_a_recipe_are_those_that_were_read_and_found_right(framework, recipe):
    head = f"{framework} {recipe.name}: {recipe.model} in {recipe.unit}, started {recipe.spawn}\n\n"
    found = head + goldens.commands((words, recipe, case) for words, case in points(framework, recipe))

    assert found == goldens.expected(f"recipes/{framework}.{recipe.name}.txt", found)


def test_no_golden_file_is_left_over_from_a_recipe_that_is_gone():
    assert sorted(file.stem for file in (goldens.FOLDER / "recipes").glob("*.txt")) == sorted(IDS)


@pytest.mark.parametrize(("framework", "recipe"), OFFICIAL, ids=IDS)
def test_each_value_of_an_axis_starts_another_command_or_is_refused(framework, recipe):
    for name, values in recipe.options.items():
        started = []
        for (_, case), value in itertools.product(points(framework, recipe), values or ("48", "96")):
            case = replace(case, nodes=1, devices_per_node=8, options=((name, value),))
            no_scale = name == "loss_scale" and case.precision == "fp32"
            if not (no_scale or recipe.refusal(case)):
                started.append((replace(case, options=()), value, recipe.command(case)))
        for (plain, one, command), (same, other, another) in itertools.combinations(started, 2):
            assert (plain, one) == (same, other) or plain != same or command != another, (name, one, other, plain.id)


@pytest.mark.parametrize(("framework", "recipe"), OFFICIAL, ids=IDS)
def test_a_recipe_says_what_amp_is_there_and_how_evaluation_stays_outside(framework, recipe):
    assert recipe.amp is not None
    assert recipe.xla is not None or framework == "jax"
    assert recipe.options is not None
    assert recipe.outside
    assert recipe.checkout in repositories.known() or recipe.source


@pytest.mark.parametrize(("framework", "recipe"), OFFICIAL, ids=IDS)
def test_twice_the_batch_per_device_is_twice_the_batch_at_every_scale(framework, recipe):
    """Whatever the script's own flag counts, the number behind it grows with batch_per_device alone."""
    for nodes, devices in SCALES:
        case = base(framework, recipe).at_scale(nodes, devices)
        double = replace(case, batch_per_device=2 * case.batch_per_device)
        if recipe.refusal(case) or recipe.refusal(double):
            continue

        first, second = recipe.command(case), recipe.command(double)

        assert (first.argv, first.files) != (second.argv, second.files)


def texts(command):
    return (*command.argv, *command.environment.values(), *command.files.values())


@pytest.mark.parametrize(("framework", "recipe"), OFFICIAL, ids=IDS)
def test_a_rank_in_json_is_a_number_and_mpirun_hands_every_variable_to_the_other_nodes(framework, recipe):
    commands = [recipe.command(case) for _, case in points(framework, recipe) if not recipe.refusal(case)]
    quoted = re.compile(r"""(["'])\{(node_rank|nodes|processes_per_node|master_port|threads)\}\1""")
    assert [text for command in commands for text in texts(command) if quoted.search(text)] == []

    for command in (command for command in commands if command.argv[0] == "mpirun"):
        named = {name for flag, name in itertools.pairwise(command.argv) if flag == "-x"}
        assert set(command.environment) <= named


@pytest.mark.parametrize(("framework", "recipe"), OFFICIAL, ids=IDS)
def test_a_script_over_several_nodes_with_the_strategy_of_tensorflow_finds_its_workers(framework, recipe):
    """MultiWorkerMirroredStrategy without TF_CONFIG trains alone on every node."""
    case = base(framework, recipe).at_scale(2, 8)
    command = recipe.command(case) if not recipe.refusal(case) else None
    if command is None or not any("multi_worker_mirrored" in text for text in texts(command)):
        return
    place = placeholders.Node(rank=1, nodes=2, master_addr="a", master_port=7, hosts=("a", "b"))

    told = json.loads(fill(command.environment["TF_CONFIG"], placeholders.of_node(place, processes=8, threads=1)))

    assert told == {"cluster": {"worker": ["a:7", "b:7"]}, "task": {"type": "worker", "index": 1}}


@pytest.mark.parametrize(("framework", "recipe"), OFFICIAL, ids=IDS)
def test_what_carries_gradients_between_gpus_is_built_with_nccl(framework, recipe):
    asked = set(recipe.variables_of_build("gpu").items())

    if any(pin.startswith("horovod==") for pin in recipe.built):
        assert ("HOROVOD_GPU_OPERATIONS", "NCCL") in asked and "nvcc" in recipe.programs("gpu")
    if any(pin.startswith("bluefog==") for pin in recipe.built):
        assert ("BLUEFOG_WITH_NCCL", "1") in asked and "nvcc" in recipe.programs("gpu")
    assert "NCCL" not in str(recipe.variables_of_build("cpu"))


def numbers(recipe, case, flag):
    argv = recipe.command(case).argv
    joined = [token.split("=", 1)[1] for token in argv if token.startswith(f"{flag}=")]
    spaced = [argv[place + 1] for place, token in enumerate(argv) if token == flag]
    return [int(word) for word in (*joined, *spaced)]


@pytest.mark.parametrize(("framework", "name", "flag", "expected"), sources.table("recipes.toml")["batches"])
def test_batch_per_device_means_the_same_everywhere(framework, name, flag, expected):
    recipe = ADAPTERS[framework].recipe(name)

    given = numbers(recipe, base(framework, recipe).at_scale(2, 8), flag)

    assert given == [expected]


def test_a_replica_of_several_devices_gets_the_batches_of_all_and_a_layout_that_does_not_divide_them_is_refused():
    recipe = ADAPTERS["megatron"].recipe("gpt2")
    case = replace(
        base("megatron", recipe).at_scale(2, 8), options=(("pipeline_parallel", "2"), ("tensor_parallel", "4"))
    )

    micro, whole = numbers(recipe, case, "--micro-batch-size"), numbers(recipe, case, "--global-batch-size")

    assert (micro, whole) == ([64 * 8], [64 * 16])

    case = replace(base("megatron", recipe).at_scale(1, 8), options=(("tensor_parallel", "3"),))

    assert "3 x 1 does not divide 8 devices" in recipe.refusal(case)


@pytest.mark.parametrize(("change", "said"), sources.cases("recipes.toml")["refused"])
def test_an_axis_that_the_script_lacks_is_a_refusal_and_never_another_run(change, said):
    recipe = ADAPTERS["pytorch"].recipe("examples-imagenet")

    assert recipe.refusal(replace(base("pytorch", recipe), **change)) == said


def test_gpt_2_of_a_size_that_is_asked_for_is_another_case_whose_size_is_always_said():
    recipe = ADAPTERS["oneflow"].recipe("gpt2")
    asked = replace(base("oneflow", recipe), options=(("attention_heads", "12"), ("hidden_size", "1536")))

    assert dict(recipe.meant([]))["num_layers"] == "24" and dict(recipe.meant([]))["hidden_size"] == "1024"
    assert numbers(recipe, asked, "--hidden-size") == [1536] and numbers(recipe, asked, "--num-layers") == [24]
    assert "heads must divide the hidden size" in recipe.refusal(replace(asked, options=(("attention_heads", "20"),)))
