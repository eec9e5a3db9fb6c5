"""Does what docs/adding-a-framework.md says, with the code taken from the page."""

import json
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

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "adding-a-framework.md").read_text(encoding="utf-8")
TOYNET, TINYNET = re.findall(r"```python[^\n]*\n(.*?)```", PAGE, re.DOTALL)
CHECK, FIRST, OWN, _LOCK = (block.splitlines() for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The page's own folder with the page's own modules in it, beside which its commands are typed."""
    (folder := tmp_path / "my-adapters").mkdir()
    (folder / "toynet.py").write_text(TOYNET)
    (folder / "tinynet.py").write_text(TINYNET)
    (tmp_path / "train.log").write_text("".join(f"tinynet: step {step} took 20.2 ms\n" for step in range(1, 200)))
    monkeypatch.chdir(tmp_path)
    return folder


def typed(line: str, *more: str) -> int:
    """The exit code of a command line of the page."""
    words = line.split()
    assert words[:3] == ["python", "-m", "evalsuite"]
    return cli.main([*words[3:], *more])


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


def test_the_checks_of_the_page_say_what_the_page_says(folder, capsys):
    codes = [typed(CHECK[0], "--json"), typed(OWN[0], "--json")]

    assert codes == [Exit.UNDETERMINED, Exit.UNDETERMINED]
    printed = capsys.readouterr().out
    (tinynet,) = json.loads(printed[printed.index("\n]") + 2 :])
    assert typed(OWN[1]) == Exit.DONE
    assert ["--environment current" in lack for lack in tinynet["missing"]] == [True]


@pytest.mark.parametrize(("line", "said", "unsaid"), sources.cases("adding_a_framework.toml")["plans_page_need"])
def test_the_plans_of_the_page_need_no_further_option(line, said, unsaid, folder, capsys):
    assert typed(line) == Exit.DONE

    printed = capsys.readouterr().out
    assert all(word.replace("$PYTHON", sys.executable) in printed for word in said)
    assert not any(word in printed for word in unsaid)


def test_the_page_names_every_placeholder_and_a_model_that_was_not_asked_for_is_named(folder, capsys):
    named = set(re.findall(r"`(\{\w+\})`", PAGE))
    assert {*placeholders.BY_PLAN, *placeholders.BY_AGENT} <= named

    code = cli.main(
        ["plan", "--adapters", str(folder), "--frameworks", "tinynet", "--environment", "current", "--json"]
    )

    assert code == Exit.NOTHING_MEASURED
    reasons = {skip["reason"] for skip in json.loads(capsys.readouterr().out)["skips"]}
    assert reasons == {"tinynet has no such recipe for resnet50_v1.5; it has --models tiny"}
