"""What a script finds in its run's own folder before it starts: files, links to data, a copy of its repository."""

from pathlib import Path

import pytest

from evalsuite.contracts.adapter import Command, Recipe
from evalsuite.core import paths
from evalsuite.core.model import Case
from evalsuite.launch import runner
from evalsuite.plan import data_sets, engines, repositories
from evalsuite.plan.commandline import command_line

CASE = Case(framework="toynet", recipe="train", model="tiny", batch_per_device=2)


def line(command, folder, **fields):
    recipe = Recipe(name="train", model="tiny", dialect="toynet", command=lambda case: command, **fields)
    engine = engines.engine("local")
    return command_line(recipe, CASE, python="/usr/bin/python3", folder=folder, engine=engine, timeout_s=60)


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALSUITE_DATA", str(tmp_path / "data"))
    (tmp_path / "data" / "clicks").mkdir(parents=True)
    (tmp_path / "data" / "clicks" / "list.txt").write_text("1\n")
    return tmp_path / "data"


def test_a_script_that_reads_beside_itself_finds_a_link_to_the_data(tmp_path, data):
    command = Command(argv=("{python}",), links={"data/clicks": "{data}/clicks"})

    runner._fill_scratch(line(command, tmp_path), tmp_path / "scratch")

    assert (tmp_path / "scratch" / "data" / "clicks" / "list.txt").read_text() == "1\n"
    assert data_sets.names(command) == ["clicks"]
    assert data_sets.folders(command) == [str(data)]


def test_a_file_that_configures_a_script_names_the_folders_of_the_run(tmp_path, data):
    command = Command(argv=("{python}",), files={"config.py": 'train = "{data}/clicks"; out = "{scratch}"; {"a": 1}'})

    runner._fill_scratch(line(command, tmp_path), tmp_path / "scratch")

    written = (tmp_path / "scratch" / "config.py").read_text()
    assert written == f'train = "{data}/clicks"; out = "{tmp_path}/scratch"; {{"a": 1}}'


def test_a_script_that_compiles_beside_its_sources_gets_a_repository_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALSUITE_CACHE", str(tmp_path / "cache"))
    command = Command(argv=("{python}", "{checkout}/pretrain_gpt.py"))
    recipe = {"checkout": "megatron-2021", "builds_in_checkout": True}
    fetched = repositories.folder(Recipe(name="", model="", dialect="", command=lambda case: command, **recipe))
    (fetched / ".git").mkdir(parents=True)
    (fetched / "pretrain_gpt.py").write_text("import helpers\n")

    built = line(command, tmp_path, **recipe)
    runner._fill_scratch(built, tmp_path / "scratch")

    script = Path(built.training[1])
    assert script == tmp_path / "scratch" / "checkout" / "pretrain_gpt.py"
    assert script.read_text() == "import helpers\n"
    assert not (script.parent / ".git").exists()
    assert paths.cache() in fetched.parents
