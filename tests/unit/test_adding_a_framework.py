"""Does what docs/adding-a-framework.md says, with the code taken from the page."""

import json
import re
from pathlib import Path

import pytest

from evalsuite import cli, registry
from evalsuite.errors import Exit
from evalsuite.model import Case, Protocol

PAGE = Path(__file__).resolve().parents[2] / "docs" / "adding-a-framework.md"
CODE = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.S).group(1)
COMMANDS = re.search(r"```sh\n(.*?)```", PAGE.read_text(), re.S).group(1).splitlines()


@pytest.fixture
def folder(tmp_path):
    """The page's own folder with the page's own module in it."""
    folder = tmp_path / "my-adapters"
    folder.mkdir()
    (folder / "toynet.py").write_text(CODE)
    return folder


def test_the_adapter_of_the_page_has_at_most_thirty_lines():
    assert len([line for line in CODE.splitlines() if line.strip()]) <= 30


def test_the_adapter_of_the_page_is_found_and_builds_its_command(folder):
    toynet = registry.discover([folder])["toynet"]
    case = Case(
        framework="toynet",
        recipe="train-resnet50",
        model="resnet50_v1.5",
        nodes=2,
        devices_per_node=8,
        batch_per_device=64,
        protocol=Protocol(warmup_steps=20, measured_steps=100),
    )

    words = toynet.recipe("train-resnet50").command(case).argv

    assert words[:3] == ("{python}", "-m", "toynet.run")
    assert words[-4:] == ("--batch", "64", "--steps", "120")


def test_a_switch_that_the_page_declares_absent_is_refused(folder):
    recipe = registry.discover([folder])["toynet"].recipe("train-resnet50")
    case = Case(framework="toynet", recipe=recipe.name, model=recipe.model, batch_per_device=64, xla=True)

    assert "no XLA" in recipe.refusal(case)


def test_the_commands_of_the_page_that_start_nothing_work(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder.parent)
    listing, planning = (line.split()[3:] for line in COMMANDS[:2])

    codes = [cli.main([*listing, "--json"]), cli.main([*planning, "--runs", str(folder.parent / "runs")])]

    assert codes == [Exit.DONE, Exit.DONE]
    printed = capsys.readouterr().out
    assert json.loads(printed[: printed.index("\n]") + 2])[0]["pins"] == ["toynet==1.4.2"]
    assert "toynet.run" in printed
