"""The contract that every adapter keeps, and the exact command lines of the reference workloads."""

import ast
import itertools
import re
from dataclasses import replace
from pathlib import Path

import pytest

from evalsuite import cli
from evalsuite.contracts import registry
from evalsuite.contracts.adapter import exact_amp
from evalsuite.core import paths, placeholders
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Case, Protocol
from evalsuite.launch.provision import virtualenvs
from evalsuite.launch.provision.virtualenvs import Environment
from tests import goldens, sources

ADAPTERS = registry.discover()
RECIPES = [(adapter, recipe) for adapter in ADAPTERS.values() for recipe in adapter.recipes]
REFERENCE = [(framework, recipe) for framework, recipe in RECIPES if recipe.kind == "reference"]
SIZED = [(framework, recipe) for framework, recipe in REFERENCE if not recipe.model.startswith("wide_and_deep")]
PLACEHOLDERS = {*placeholders.BY_PLAN, *placeholders.BY_AGENT}
SCALES = ((1, 1), (1, 2), (1, 8), (2, 8))
SWITCHES = {"": {}, "amp": {"precision": "amp"}, "xla": {"xla": True}}


def case_of(framework, recipe, **changes) -> Case:
    case = Case(
        framework=framework.name,
        recipe=recipe.name,
        model=recipe.model,
        batch_per_device=96,
        protocol=Protocol(warmup_steps=7, measured_steps=31),
    )
    return replace(case, **changes)


def cases_of(framework, recipe) -> list[Case]:
    """The recipe's cases over scales, switches and devices that it does not refuse."""
    every = [
        case_of(framework, recipe, nodes=nodes, devices_per_node=devices, device=device, **switches)
        for device in ("cpu", "gpu")
        for nodes, devices in SCALES
        for switches in SWITCHES.values()
    ]
    return [case for case in every if recipe.refusal(case) is None]


def ids(pairs):
    return [f"{framework.name}-{recipe.name}" for framework, recipe in pairs]


@pytest.mark.parametrize("framework, recipe", RECIPES, ids=ids(RECIPES))
def test_a_command_is_words_with_placeholders_that_somebody_fills(framework, recipe):
    commands = [recipe.command(case) for case in cases_of(framework, recipe)]

    for command in commands:
        words = (*command.argv, *command.environment.values())
        assert all(isinstance(word, str) and word for word in words)
        assert set(re.findall(r"\{\w+\}", " ".join(command.argv))) <= PLACEHOLDERS


@pytest.mark.parametrize("framework, recipe", RECIPES, ids=ids(RECIPES))
def test_a_refusal_is_a_sentence(framework, recipe):
    odd = [
        case_of(framework, recipe, device=device, options=options, **switches)
        for device in ("cpu", "gpu")
        for switches in SWITCHES.values()
        for options in ((), (("colour", "blue"),))
    ]

    refusals = [recipe.refusal(case) for case in odd]

    assert all(refusal is None or len(refusal.split()) >= 4 for refusal in refusals)


@pytest.mark.parametrize("framework, recipe", RECIPES, ids=ids(RECIPES))
def test_a_recipe_names_unit_dialect_model_and_exact_pins_and_the_same_case_gives_the_same_command(framework, recipe):
    assert recipe.unit.endswith("/s")
    assert re.fullmatch(r"[a-z0-9_.]+", recipe.dialect)
    assert re.fullmatch(r"[a-z0-9_.]+", recipe.model)

    pins = (*recipe.requirements, *recipe.pins("gpu"), *itertools.chain(*recipe.other_wheels), *recipe.built)
    assert all(re.fullmatch(r"[\w.-]+(\[[\w,-]+\])?==[\w.+]+", pin) for pin in pins)
    assert not recipe.requirements or recipe.import_name

    cases = cases_of(framework, recipe)
    assert [recipe.command(case) for case in cases] == [recipe.command(case) for case in cases]


@pytest.mark.parametrize("framework, recipe", REFERENCE, ids=ids(REFERENCE))
def test_a_reference_workload_is_there_and_is_valid_python(framework, recipe):
    script = next(word for word in recipe.command(case_of(framework, recipe)).argv if "{workloads}" in word)

    file = Path(script.replace("{workloads}", str(paths.ADAPTERS / "workloads")))

    functions = [node.name for node in sources.tree(file).body if isinstance(node, ast.FunctionDef)]
    assert "main" in functions


@pytest.mark.parametrize(("model", "option", "said"), sources.table("adapters.toml")["refused_sizes"])
def test_a_size_that_a_model_cannot_have_is_refused_by_every_framework(model, option, said):
    refusals = [
        recipe.refusal(case_of(framework, recipe, options=(tuple(option),)))
        for framework, recipe in REFERENCE
        if recipe.model.startswith(model)
    ]

    assert refusals and all(refusal and said in refusal for refusal in refusals)


@pytest.mark.parametrize(("model", "asked", "meant", "words"), sources.table("adapters.toml")["profile_sizes"])
def test_a_recipe_takes_of_a_profile_the_sizes_that_its_model_has(model, asked, meant, words):
    asked, meant = (tuple(map(tuple, options)) for options in (asked, meant))
    for framework, recipe in REFERENCE:
        if recipe.model.startswith(model):
            assert recipe.meant(asked) == meant
            for case in cases_of(framework, recipe):
                assert words in " ".join(recipe.command(replace(case, options=meant)).argv)
                assert "--batch-size 96" in " ".join(recipe.command(case).argv)


@pytest.mark.parametrize("framework, recipe", SIZED, ids=ids(SIZED))
def test_the_size_of_the_input_is_part_of_the_case_where_the_spec_says_nothing(framework, recipe):
    ((name, size),) = recipe.meant(())

    words = recipe.command(case_of(framework, recipe, options=((name, size),))).argv

    assert words == recipe.command(case_of(framework, recipe)).argv
    assert size in ("128", "224", "32", "112")


def test_a_head_that_is_split_is_another_layout_and_has_no_amp():
    pytorch = ADAPTERS["pytorch"]
    whole, split = pytorch.recipe("reference-face-tiny"), pytorch.recipe("reference-face-tiny-split")

    assert whole.facts["parallel_layout"] == "DP"
    assert split.facts == {**whole.facts, "parallel_layout": "DP, classifier split"}
    assert "no AMP" in split.refusal(case_of(pytorch, split, precision="amp"))


@pytest.mark.parametrize("name", ["reference-resnet50", "reference-mobilenetv2-cifar10"])
def test_a_case_that_would_silently_run_as_another_is_refused(name):
    mxnet, paddle = ADAPTERS["mxnet"], ADAPTERS["paddlepaddle"]
    xla = case_of(mxnet, mxnet.recipe(name), xla=True)
    amp = case_of(paddle, paddle.recipe(name), precision="amp")

    assert "no XLA" in mxnet.recipe(name).refusal(xla)
    assert "no effect on a CPU" in paddle.recipe(name).refusal(amp)
    assert paddle.recipe(name).refusal(replace(amp, device="gpu")) is None


@pytest.mark.parametrize("framework, recipe", RECIPES, ids=ids(RECIPES))
def test_the_exact_name_of_what_amp_is_in_a_script_starts_the_same_and_another_is_refused(framework, recipe):
    for case in (each for each in cases_of(framework, recipe) if (each.precision, each.device) == ("amp", "gpu")):
        exact = exact_amp(recipe.amp, case.device)
        assert exact is not None and recipe.refusal(replace(case, precision=exact)) is None
        assert recipe.precisions or recipe.command_of(replace(case, precision=exact)) == recipe.command(case)
        assert recipe.refusal(replace(case, precision="fp8")) is not None


@pytest.mark.parametrize("file", sorted((paths.ADAPTERS / "workloads").glob("*.py")), ids=lambda file: file.stem)
def test_a_workload_needs_nothing_of_evalsuite(file):
    names = {
        alias.name if isinstance(node, ast.Import) else node.module
        for node in sources.nodes(file)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }

    assert not [name for name in names if name.startswith("evalsuite")]


def points(framework, recipe):
    """(words, recipe, case): each device and scale, plain and with each switch."""
    for device in ("cpu", "gpu"):
        for nodes, devices in SCALES:
            for words, switches in SWITCHES.items():
                case = case_of(framework, recipe, nodes=nodes, devices_per_node=devices, device=device, **switches)
                yield f"{device} {nodes}x{devices} {words}".rstrip(), recipe, case


@pytest.mark.parametrize("framework, recipe", REFERENCE, ids=ids(REFERENCE))
def test_the_command_lines_are_those_of_the_golden_file(framework, recipe):
    found = f"{framework.name} {recipe.name}, started {recipe.spawn}\n\n" + goldens.commands(points(framework, recipe))

    assert found == goldens.expected(f"commands/{framework.name}-{recipe.name}.txt", found)


# Finding adapters


def test_an_unknown_framework_or_a_module_without_an_adapter_is_answered_with_where_to_look(tmp_path):
    with pytest.raises(EvalsuiteError) as error:
        registry.choose_adapters(["pytorhc"], ADAPTERS)
    assert "tensorflow" in str(error.value)
    assert "Did you mean pytorch?" in str(error.value)

    (tmp_path / "empty.py").write_text("x = 1\n")
    with pytest.raises(EvalsuiteError, match=r"empty\.py: the module has no ADAPTER.*adding-a-framework"):
        registry.discover([tmp_path])


def test_the_list_begins_with_what_runs_here_and_has_reference_recipes_that_are_alike_in_one_row(monkeypatch, capsys):
    made = Environment(folder=Path("/e"), pins=(), device="cpu", size_bytes=7_000_000, packages={})
    here = ("tensorflow-cpu==2.15.1", "mxnet==1.9.1")
    monkeypatch.setattr(
        virtualenvs, "existing", lambda recipe, device: made if {*recipe.requirements} & {*here} else None
    )

    assert cli.main(["adapters", "--frameworks", "oneflow,pytorch,tensorflow,mxnet"]) == 0

    reference = capsys.readouterr().out.partition("official")[0].splitlines()
    rows = [line.split() for line in reference if "reference-" in line]
    assert [row[0] for row in rows] == ["tensorflow", "tensorflow", "mxnet", "oneflow", "pytorch", "pytorch"]
    assert [line.count("7 MB") for line in reference if "reference-" in line] == [1, 1, 1, 0, 0, 0]
    assert rows[0][:2] == ["tensorflow", "reference-*"]
