"""What an author gets wrong is a sentence with the file and what to write instead, never a traceback."""

import pytest

from evalsuite import cli
from evalsuite.contracts import author_modules, registry
from evalsuite.contracts.adapter import Command
from evalsuite.core import decode
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.logs import catalogue
from tests.toys import CASE, toynet

RECIPE = 'name="train", model="tiny", dialect="pytorch_examples", command=lambda case: Command(argv=("true",))'
HEAD = "from evalsuite.contracts.adapter import Adapter, Command, Recipe\n"


def adapter(recipe: str = RECIPE, more: str = "") -> str:
    return f'{HEAD}ADAPTER = Adapter(name="tinynet", title="Tiny", recipes=(Recipe({recipe}{more}),))\n'


@pytest.mark.parametrize("load", [registry.discover, catalogue.known])
def test_a_place_that_is_not_there_is_named(load, tmp_path):
    for place in (tmp_path / "nowhere", tmp_path):  # nor a module
        with pytest.raises(EvalsuiteError, match="there is no such file, nor a folder with a module"):
            load((place,))


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
    assert [mistake for each in house for mistake in decode.mistakes_of(each, type(each))] == []

    (tmp_path / "tinynet.py").write_text(adapter(more=', requirements=["tiny==1"]'))
    assert registry.discover([tmp_path])["tinynet"].recipe("train").requirements == ["tiny==1"]

    recipe = toynet().recipes[0]
    guarded = author_modules.guard(recipe.command, "here", "Command(…)", Command)
    assert guarded(CASE) == recipe.command(CASE)
