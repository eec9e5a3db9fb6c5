"""`adapters --check` and `dialects --check`: what comes of a declaration, and what is missing."""

import json
import shutil

import pytest

from evalsuite import paths, registry
from evalsuite.cli import main
from evalsuite.commands.authoring import checking
from evalsuite.errors import Exit
from evalsuite.logs import catalogue
from tests import sources
from tests.unit.test_brought_dialects import HEAD, dialects, printed

MISSING = sources.table("missing.toml")
WHOLE = sources.text("checking_whole.py.in")
LOG = "".join(f"tiny {step} 20.5 ms\n" for step in range(1, 200))


@pytest.fixture
def file(tmp_path):
    """An adapter from which nothing is missing: a log of its script lies beside it."""
    (file := tmp_path / "tinynet.py").write_text(HEAD + WHOLE.format(printed=printed()))
    (tmp_path / "tinynet.log").write_text(LOG)
    return file


def checked(capsys, *words: str):
    """(exit code, the JSON of the first that was checked)"""
    code = main([*words, "--json"])
    return code, json.loads(capsys.readouterr().out)[0]


def missing_after(file, before: str, after: str, capsys) -> list[str]:
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))
    code, found = checked(capsys, "adapters", "--check", str(file))
    assert code == (Exit.UNDETERMINED if found["missing"] else Exit.DONE)
    return [lack["what"] for lack in found["missing"]]


def test_an_adapter_without_fault_is_shown_readably_with_its_commands_and_its_log(file, capsys):
    code, found = checked(capsys, "adapters", "--check", str(file.parent))

    assert (code, found["name"], found["missing"]) == (Exit.DONE, "tinynet/train", [])
    assert len(found["commands"]) == 2 * 3 * 2 * 2
    assert found["commands"][0]["argv"] == ["{python}", "/opt/tiny/train.py", "32", "1", "120"]
    assert (found["read"]["log"], found["read"]["status"]) == (str(file.parent / "tinynet.log"), "partial")
    assert found["read"]["items_per_s"] is None  # batch and devices are the run's to say

    assert main(["adapters", "--check", str(file)]) == Exit.DONE
    said = capsys.readouterr().out
    assert "tinynet/train: nothing is missing." in said
    assert "gpu 2x2 amp+XLA" in said


@pytest.mark.parametrize(("before", "after", "what"), MISSING["adapters"])
def test_what_is_missing_from_an_adapter_is_said(before, after, what, file, capsys):
    assert [found for found in missing_after(file, before, after, capsys) if what in found]


def test_a_switch_that_is_declared_absent_is_not_missing(file, capsys):
    text = file.read_text().replace('"--amp",', "")
    file.write_text(text)

    assert missing_after(file, 'model="tiny"', 'model="tiny", amp=""', capsys) == []


def test_a_dialect_that_an_adapter_brings_wants_a_log(file, capsys):
    (file.parent / "tinynet.log").unlink()

    code, found = checked(capsys, "adapters", "--check", str(file))
    (lack,) = found["missing"]

    assert code == Exit.UNDETERMINED
    assert "only the samples" in lack["what"] and "tinynet.log" in lack["advice"]


def test_a_log_in_which_nothing_is_found_is_no_log(file, tmp_path, capsys):
    (tmp_path / "other.log").write_text("nothing of it\n")

    code, found = checked(capsys, "adapters", "--check", str(file), "--log", str(tmp_path / "other.log"))

    assert code == Exit.UNDETERMINED
    assert "dialects --explain" in found["missing"][0]["advice"]


@pytest.mark.parametrize("command", ["adapters", "dialects"])
def test_what_cannot_be_loaded_or_a_log_without_a_check_is_wrong_usage(command, tmp_path, capsys):
    (tmp_path / "broken.py").write_text("1 / 0\n")
    assert main([command, "--check", str(tmp_path)]) == Exit.USAGE
    assert "broken.py, line 1: ZeroDivisionError" in capsys.readouterr().err

    assert main([command, "--log", "x.log"]) == Exit.USAGE


def test_a_dialect_is_checked_with_its_log(tmp_path, capsys):
    folder = dialects(tmp_path / "mine", printed().replace('"here"', '"example/tiny@1f2e3d4:train.py"'))
    (tmp_path / "x.log").write_text(LOG)

    code, found = checked(capsys, "dialects", "--check", str(folder), "--log", str(tmp_path / "x.log"))

    assert (code, found["name"], found["missing"]) == (Exit.DONE, "tinynet", [])
    assert found["read"]["steps"] == 199


@pytest.mark.parametrize(("before", "after", "what"), MISSING["dialects"])
def test_what_is_missing_from_a_dialect_is_said(before, after, what, tmp_path, capsys):
    text = printed()
    assert before in text
    folder = dialects(tmp_path / "mine", text.replace(before, after))

    code, found = checked(capsys, "dialects", "--check", str(folder))

    assert code == Exit.UNDETERMINED
    assert [lack for lack in found["missing"] if what in lack["what"]]


def test_a_dialect_whose_lines_read_as_another_names_it(tmp_path, capsys):
    line = "Line(pattern=rb\"Epoch: .*Time +(?P<seconds>[\\d.]+)\", sample={!r}, source='a/b@1234567:c')"
    sample = catalogue.known()["pytorch_examples"].step[0].sample
    declared = f'Dialect(name="mine", title="", framework=None, unit="images/s", scope="global", averaging="step", step=({line.format(sample)},))'  # noqa: E501
    folder = dialects(tmp_path / "mine", declared)

    _, found = checked(capsys, "dialects", "--check", str(folder))

    assert [lack for lack in found["missing"] if "read as pytorch_examples, too" in lack["what"]]


# What the check finds in the house's own, as things stand.
HOUSE = {
    ("hugectr/wide-deep", "every case of the small matrix is refused"),
    *(
        (name, "most other recipes of wide_and_deep state input_size in `facts`")
        for name in ("hugectr/wide-deep", "oneflow/wide-deep", "oneflow/wide-deep-2020")
    ),
    ("paddlepaddle/paddlenlp-bert-base", "most other recipes of bert_base take the options sequence_length"),
    ("jax/flax-resnet50", "the command is the same with and without xla"),
    ("mindspore/models-resnet50", "the number of steps is not in the command"),
    ("mxnet/gluonnlp-bert-base", "the recipe counts sequences/s and its dialect tokens/s"),
    ("paddlepaddle/models-bert-base-2020", "devices_per_node is not in the command"),
    ("tensorflow/models-resnet50-legacy", "no commit"),
    ("tensorflow/models-resnet50-legacy", "no licence"),
    ("ultralytics/classify-yolo11n", "no commit"),  # as the one before: the pin is the package's release
    ("ultralytics/classify-yolo11n", "no licence"),
    # on one node they need none, and the plan refuses several where it is absent
    ("tensorflow/tf-cnn-resnet50", "{bin}/horovodrun is started, and the environment holds no horovod"),
    ("tensorflow/tf-cnn-resnet50-tf1", "{bin}/horovodrun is started, and the environment holds no horovod"),
}


def test_the_adapters_of_the_house_pass_the_check_and_a_name_of_ours_is_refused(tmp_path, capsys):
    found = checking.check_adapters(registry.discover(), paths.ADAPTERS, catalogue.known(), None)
    assert {(one.name, lack.what) for one in found for lack in one.missing} == HOUSE

    shutil.copy(paths.ADAPTERS / "pytorch_official.py", tmp_path / "pytorch.py")
    assert main(["adapters", "--adapters", str(tmp_path), "--frameworks", "pytorch", "--json"]) == Exit.USAGE
    assert 'got an adapter called "pytorch", which is built in' in capsys.readouterr().err


def test_the_list_of_adapters_says_where_a_recipe_comes_from(capsys):
    assert main(["adapters", "--frameworks", "pytorch", "--json"]) == Exit.DONE

    found = {one["recipe"]: one for one in json.loads(capsys.readouterr().out)}
    official, ours = found["examples-imagenet"], found["reference-resnet50"]
    assert official["repository"] == "https://github.com/pytorch/examples"
    assert len(official["commit"]) == 40 and official["licence"] == "BSD-3-Clause"
    assert official["scripts"] == ["imagenet/main.py"]
    assert official["verification"]["level"] in ("ran here", "arguments checked")
    assert ours["scripts"] == ["pytorch_resnet50.py"] and ours["licence"] is None
