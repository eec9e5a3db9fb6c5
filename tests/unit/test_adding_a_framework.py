"""Does what docs/adding-a-framework.md says, with the code taken from the page."""

import re
import sys
from pathlib import Path

import pytest

from evalsuite import cli
from evalsuite.commands.authoring import checking
from evalsuite.contracts import registry
from evalsuite.core import placeholders
from evalsuite.core.errors import Exit
from evalsuite.core.model import Case, Protocol
from evalsuite.logs import catalogue
from tests import sources

PAGES = (Path(__file__).resolve().parents[2] / "docs" / "adding-a-framework.md").read_text(encoding="utf-8")
PAGE = PAGES.partition("\n## Adding a sensor\n")[0]
(TOYNET,) = re.findall(r"```python[^\n]*\n(.*?)```", PAGE, re.DOTALL)
(MOON,) = re.findall(r"```toml[^\n]*\n(.*?)```", PAGE, re.DOTALL)
_INIT, OWN, CHECK, FIRST, _LOCK = (block.splitlines() for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The page's own folder with the page's own module in it, beside which its commands are typed."""
    (folder := tmp_path / "my-adapters").mkdir()
    (folder / "toynet.py").write_text(TOYNET)
    (tmp_path / "moon.toml").write_text(MOON)
    (tmp_path / "train.py").touch()
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").touch()
    monkeypatch.chdir(tmp_path)
    return folder


def typed(line: str, *more: str) -> int:
    """The exit code of a command line of the page."""
    words = line.removeprefix("python -m ").split()
    assert words[0] == "evalsuite"
    return cli.main([*words[1:], *more])


def test_the_adapter_of_the_page_has_thirty_lines_at_most_lacks_nothing_and_builds_its_command(folder):
    recipe = registry.discover([folder])["toynet"].recipe("train-resnet50")
    named = {"framework": "toynet", "recipe": recipe.name, "model": recipe.model, "batch_per_device": 64}
    protocol = Protocol(warmup_steps=20, measured_steps=100)
    loaded = registry.load_author_adapters(folder / "toynet.py")

    words = recipe.command(Case(**named, nodes=2, devices_per_node=8, protocol=protocol)).argv

    assert words[:3] == ("{python}", "-m", "toynet.run")
    assert words[-6:] == ("--batch", "64", "--image-size", "224", "--steps", "120")
    assert "no XLA" in recipe.refusal(Case(**named, xla=True))
    answers = checking.check_adapters(loaded, folder, catalogue.known())
    assert [lack for answer in answers for lack in answer.missing] == []
    assert len([line for line in TOYNET.splitlines() if line.strip()]) <= 30


def test_the_script_of_the_page_has_eight_lines_and_its_commands_take_it(folder, capsys):
    assert len(MOON.splitlines()) == 8
    assert (typed(OWN[0]), typed(OWN[2])) == (Exit.DONE, Exit.DONE)
    assert "train.py --batch 32 --steps 120" in capsys.readouterr().out
    assert typed(OWN[3].replace("compare", "plan")) == Exit.DONE  # ours has no recipe of this model, and that is said
    assert typed(CHECK[0], "--json") == Exit.DONE


@pytest.mark.parametrize(("line", "said", "unsaid"), sources.cases("adding_a_framework.toml")["plans_page_need"])
def test_the_plans_of_the_page_need_no_further_option(line, said, unsaid, folder, capsys):
    assert typed(line) == Exit.DONE

    printed = capsys.readouterr().out
    assert all(word.replace("$PYTHON", sys.executable) in printed for word in said)
    assert not any(word in printed for word in unsaid)


def test_the_page_names_every_placeholder_of_a_run():
    named = set(re.findall(r"`(\{\w+\})`", PAGE))

    assert {*placeholders.BY_PLAN, *placeholders.BY_AGENT} <= named
