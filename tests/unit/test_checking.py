"""`adapters --check`: what comes of a declaration, and what is missing."""

import json
import shutil

import pytest

from evalsuite.agent.order import Order
from evalsuite.agent.sampling import NodeSensors
from evalsuite.cli import main
from evalsuite.commands.authoring import checking
from evalsuite.contracts import registry
from evalsuite.core import paths
from evalsuite.core.errors import Exit
from evalsuite.logs import catalogue
from tests import sources
from tests.unit.test_brought_dialects import HEAD, dialects, printed
from tools import type_pages

MISSING = sources.table("missing.toml")
HOUSE = set(map(tuple, MISSING.pop("house")))
WHOLE = sources.text("checking_whole.py.in")


@pytest.fixture
def file(tmp_path):
    """An adapter from which nothing is missing."""
    (file := tmp_path / "tinynet.py").write_text(HEAD + WHOLE.format())
    return file


def checked(capsys, *words: str):
    """(exit code, the JSON of the first that was checked)"""
    code = main([*words, "--json"])
    return code, json.loads(capsys.readouterr().out)[0]


@pytest.fixture
def cards(tmp_path):
    """The sensor of docs/adding-a-framework.md, and files as its driver has them for two devices."""
    for name, value in map(str.split, sources.text("sensors_amd.txt").splitlines()):
        (place := tmp_path / "drm" / name).parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{value}\n")
    page = (paths.DATA.parent / "docs" / "adding-a-framework.md").read_text()
    (code,) = (block for _, title, block in type_pages.FENCE.findall(page) if title.startswith("my-sensors"))
    (made := tmp_path / "amd.py").write_text(code.replace("/sys/class", str(tmp_path)))
    return made


def missing_after(file, before: str, after: str, capsys, kind: str = "recipes") -> list[str]:
    place = next(file.glob("*.py"), file)
    text = place.read_text()
    assert before in text
    place.write_text(text.replace(before, after))
    code, found = checked(capsys, "adapters", kind, "--check", str(file))
    assert code == (Exit.UNDETERMINED if found["missing"] else Exit.DONE)
    return found["missing"]


def test_an_adapter_without_fault_is_shown_readably_with_its_commands(file, capsys):
    code, found = checked(capsys, "adapters", "--check", str(file.parent))

    assert (code, found["name"], found["missing"]) == (Exit.DONE, "tinynet/train", [])
    assert len(found["commands"]) == 2 * 3 * 2 * 2
    assert found["commands"]["cpu 1x1 fp32"]["argv"] == ["{python}", "/opt/tiny/train.py", "32", "1", "120"]

    assert main(["adapters", "--check", str(file)]) == Exit.DONE
    said = capsys.readouterr().out
    assert "tinynet/train: nothing is missing." in said
    assert "gpu 2x2 amp+XLA" in said

    file.write_text(file.read_text().replace('"--amp",', ""))
    assert missing_after(file, "amp=None", 'amp=""', capsys) == []  # declared absent


@pytest.mark.parametrize(("kind", "before", "after", "what"), [(gap, *row) for gap in MISSING for row in MISSING[gap]])
def test_what_is_missing_is_said(kind, before, after, what, file, cards, capsys, tmp_path):
    made = {"recipes": lambda: file, "sensors": lambda: cards, "dialects": lambda: dialects(tmp_path / "d", printed())}
    place = made[kind]()

    assert [each for each in missing_after(place, before, after, capsys, kind) if what in each]


def test_an_authors_sensor_is_read_before_the_others_and_is_absent_while_it_raises(cards, capsys, monkeypatch):
    code, found = checked(capsys, "adapters", "sensors", "--check", str(cards))
    monkeypatch.setenv("EVALSUITE_SENSORS", "")  # set below by --sensors
    assert (code, found["missing"], found["devices"][1]["reading"]["power_w"]) == (Exit.DONE, [], 91.0)
    assert checked(capsys, "adapters", "sensors", "--sensors", str(cards)) == (
        Exit.DONE, {"sensor": str(cards), "kind": "gpu", "devices": 2, "driver": None},
    )  # fmt: skip
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "1")

    node = NodeSensors(Order(argv=(), folder=cards.parent, host="a"))

    assert [(gpu.vendor, gpu.of_job) for gpu in node.header().gpus] == [("AMD", False), ("AMD", True)]
    assert [gpu.utilisation_percent for gpu in node.reading(0.0).gpus] == [40, 41]
    monkeypatch.setattr("evalsuite.runs.samples.GpuReading.__init__", lambda *_, **given: 1 / 0)
    assert node.reading(0.0).gpus is None


@pytest.mark.parametrize("kind", ["recipes", "dialects", "sensors"])
def test_what_cannot_be_loaded_is_wrong_usage(kind, tmp_path, capsys):
    assert main(["adapters", kind, "--check", str(tmp_path)]) == Exit.USAGE  # there is nothing to check
    (tmp_path / "broken.py").write_text("1 / 0\n")
    assert main(["adapters", kind, "--check", str(tmp_path)]) == Exit.USAGE
    assert "broken.py, line 1: ZeroDivisionError" in capsys.readouterr().err


def test_the_adapters_of_the_house_pass_the_check_and_a_name_of_ours_is_refused(tmp_path, capsys):
    answers = checking.check_adapters(registry.discover(), paths.ADAPTERS, catalogue.known())
    assert {(answer.name, lack.partition(". Try")[0]) for answer in answers for lack in answer.missing} == HOUSE

    shutil.copy(paths.ADAPTERS / "pytorch_official.py", tmp_path / "pytorch.py")
    assert main(["adapters", "--adapters", str(tmp_path), "--frameworks", "pytorch", "--json"]) == Exit.USAGE
    assert 'got an adapter called "pytorch", which is built in' in capsys.readouterr().err


def test_the_list_of_adapters_says_where_a_recipe_comes_from(capsys):
    assert main(["adapters", "--frameworks", "pytorch", "--json"]) == Exit.DONE

    found = {entry["recipe"]: entry for entry in json.loads(capsys.readouterr().out)}
    official, ours = found["examples-imagenet"], found["reference-resnet50"]
    assert official["repository"] == "https://github.com/pytorch/examples"
    assert len(official["commit"]) == 40 and official["licence"] == "BSD-3-Clause"
    assert official["scripts"] == ["imagenet/main.py"]
    assert official["verification"]["level"] in ("ran here", "arguments checked")
    assert ours["scripts"] == [] and ours["licence"] is None
