"""What an author gets wrong is a sentence with the file and what to write instead, never a traceback."""

import pytest

from evalsuite import author_modules, cli, decode, registry
from evalsuite.adapter import Command
from evalsuite.errors import EvalsuiteError, Exit
from evalsuite.logs import catalogue
from tests.toys import CASE, toynet

RECIPE = 'name="train", model="tiny", dialect="pytorch_examples", command=lambda case: Command(argv=("true",))'
HEAD = "from evalsuite.adapter import Adapter, Command, Recipe\n"
LINE = 'Line(pattern=rb"tiny (?P<rate>\\d+)", sample=b"tiny 1", source="here")'
DIALECT = (
    f'name="tiny", title="Tiny", framework=None, unit="images/s", step=({LINE},), scope="global", averaging="step"'
)


def adapter(recipe: str = RECIPE, more: str = "") -> str:
    return f'{HEAD}ADAPTER = Adapter(name="tinynet", title="Tiny", recipes=(Recipe({recipe}{more}),))\n'


def dialect(declared: str = DIALECT, more: str = "") -> str:
    return f"from evalsuite.dialect import Dialect, Line, Timers\nDIALECTS = (Dialect({declared}{more}),)\n"


def refused(load, folder, text: str) -> str:
    (folder / "tinynet.py").write_text(text)
    with pytest.raises(EvalsuiteError) as error:
        load([folder])
    return str(error.value)


ADAPTERS = {
    "it states an unknown fact": (
        adapter(more=', facts={"optimizer": "sgd"}'),
        'tinynet.py: recipe train: facts: unknown fact "optimizer"; the facts are accumulation, ',
    ),
    "it raises": ("1 / 0\n", "tinynet.py, line 1: ZeroDivisionError: division by zero; expected a Python module"),
    "it ends": ("import sys\nsys.exit(3)\n", "tinynet.py, line 2: SystemExit: 3"),
    "it is no Python": ("x = (\n", "tinynet.py, line 1: SyntaxError"),
    "it lacks a package": ("import torchh\n", "tinynet.py, line 1: ModuleNotFoundError: No module named 'torchh'"),
    "no ADAPTER": ("ADAPTERS = 1\n", "the module has no ADAPTER = Adapter(…); see docs/adding-a-framework.md for one"),
    "no ADAPTER but its like": ("ADAPTERS = 1\n", "Did you mean ADAPTERS?"),
    "another thing": ("ADAPTER = 3\n", "tinynet.py: got ADAPTER = 3; expected ADAPTER = Adapter(…)"),
    "a misspelt field": (adapter(RECIPE.replace("model", "modle")), "line 2: Recipe has no field modle; its fields"),
    "the nearest field": (adapter(RECIPE.replace("model", "modle")), "Did you mean model?"),
    "a field is missing": (adapter('name="train", model="tiny"'), "Recipe(…) lacks 'dialect' and 'command'"),
    "a wrong type": (adapter(more=", python=3.11"), "Adapter tinynet: recipes[0].python: got 3.11; expected a text."),
    "a text for a tuple": (adapter(more=', requirements="tiny==1"'), 'requirements: got "tiny==1"; expected a list.'),
    "a wrong word": (adapter(more=', spawn="per_nod"'), "per_device. Did you mean per_node?"),
    "no function": (adapter(more=', unsupported="no"'), 'unsupported: got "no"; expected a function.'),
}  # fmt: skip

DIALECTS = {
    "it raises": ("1 / 0\n", "tinynet.py, line 1: ZeroDivisionError"),
    "no DIALECTS": ("DIALECT = 1\n", "the module has no DIALECTS = (Dialect(…), …)"),
    "no tuple": (dialect().replace("),)\n", "))\n"), "A single one is written (Dialect(…),)."),
    "a misspelt field": (dialect(DIALECT.replace("averaging", "avreaging")), "Dialect has no field avreaging"),
    "the nearest field": (dialect(DIALECT.replace("averaging", "avreaging")), "Did you mean averaging?"),
    "a field of a line": (dialect(DIALECT.replace("sample=", "smaple=")), "Line has no field smaple"),
    "a wrong scope": (dialect(DIALECT.replace('"global"', '"globl"')), 'Dialect tiny: scope: got "globl"; expected'),
    "the nearest scope": (dialect(DIALECT.replace('"global"', '"globl"')), "Did you mean global?"),
    "timers": (
        dialect(more=f', timers=Timers(line={LINE}, whole="all", of="steps", phases={{}})'),
        'timers.of: got "steps"; expected one of step, task. Did you mean step?',
    ),
    "it is no Python": ("def (\n", "tinynet.py, line 1: SyntaxError"),
    "it misses its sample": (dialect(DIALECT.replace('b"tiny 1"', 'b"tiny one"')), "does not match its own sample"),
    "an unknown group": (dialect(DIALECT.replace("<rate>", "<speed>")), "unknown group speed"),
    "the groups": (dialect(DIALECT.replace("<rate>", "<speed>")), "the groups are "),
    "text for bytes": (dialect(DIALECT.replace('rb"', 'r"')), "pattern: got "),
}  # fmt: skip


@pytest.mark.parametrize(("text", "said"), ADAPTERS.values(), ids=ADAPTERS)
def test_a_mistake_in_an_adapter_is_a_sentence(text, said, tmp_path):
    assert said in refused(registry.discover, tmp_path, text)


@pytest.mark.parametrize(("text", "said"), DIALECTS.values(), ids=DIALECTS)
def test_a_mistake_in_a_dialect_is_a_sentence(text, said, tmp_path):
    assert said in refused(catalogue.discover, tmp_path, text)


@pytest.mark.parametrize("load", [registry.discover, catalogue.discover])
def test_a_place_that_is_not_there_is_named(load, tmp_path):
    with pytest.raises(EvalsuiteError, match="there is no such folder or file"):
        load([tmp_path / "nowhere"])


def test_a_command_that_raises_is_a_mistake_in_its_file_and_names_the_case(tmp_path, capsys):
    text = adapter(RECIPE.replace('argv=("true",)', 'argv=("true", dict()["nothing"])'), ', kind="reference"')
    (tmp_path / "tinynet.py").write_text(text)
    words = ["plan", "--adapters", str(tmp_path), "--frameworks", "tinynet", "--models", "tiny", "--scales", "1x1"]

    code = cli.main([*words, "--runs", str(tmp_path / "runs")])

    assert code == Exit.USAGE
    said = capsys.readouterr().err
    assert f"{tmp_path / 'tinynet.py'}: recipe train: command, line 2 raised KeyError: 'nothing' for the case " in said
    assert "expected Command(…)" in said


@pytest.mark.parametrize("gives", ["('true',)", "None", "Command(argv='true')"])
def test_a_command_that_gives_no_command_is_refused(gives, tmp_path):
    (tmp_path / "tinynet.py").write_text(adapter(RECIPE.replace('Command(argv=("true",))', gives)))
    recipe = registry.discover([tmp_path])["tinynet"].recipe("train")

    with pytest.raises(EvalsuiteError, match=r"tinynet\.py: recipe train: command"):
        recipe.command(CASE)


def test_what_the_house_and_an_author_may_write_is_taken_and_a_guarded_function_gives_what_it_gave(tmp_path):
    house = [*registry.discover().values(), *catalogue.known().values()]
    assert [found for one in house for found in decode.mistakes_of(one)] == []

    (tmp_path / "tinynet.py").write_text(adapter(more=', requirements=["tiny==1"]'))
    assert registry.discover([tmp_path])["tinynet"].recipe("train").requirements == ["tiny==1"]

    recipe = toynet().recipes[0]
    guarded = author_modules.guard(recipe.command, "here", "Command(…)", Command)
    assert guarded(CASE) == recipe.command(CASE)
