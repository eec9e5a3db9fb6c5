"""`evalsuite dialects`: the table, and how a log is read line by line."""

import json

import pytest

from evalsuite.cli import main
from evalsuite.errors import Exit
from evalsuite.logs import catalogue
from evalsuite.logs.explaining import explained

DIALECTS = catalogue.discover()
STEP = "Epoch: [0][  7/100]\tTime  0.500 ( 0.600)\tData  0.002 ( 0.001)\tLoss 6.7e+00 (7e+00)\n"


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "train.log"
    path.write_text("=> creating model\n" + STEP + "Epoch: [0][ 8/100] slow\nTest: [ 1/19]\n" + STEP)
    return path


def test_each_line_is_explained(log):
    found = explained(log, DIALECTS, every=True)

    assert found.dialect == "pytorch_examples"
    assert [(line.number, line.kind) for line in found.lines] == [
        (1, "skipped"),
        (2, "step"),
        (3, "skipped"),
        (4, "evaluation"),
        (5, "step"),
    ]
    assert "step=7" in found.lines[1].why
    assert "what follows is not as in" in found.lines[2].why


def test_a_log_that_nobody_understands_has_no_candidate(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("nothing to train\n")

    found = explained(path, DIALECTS)

    assert (found.dialect, found.candidates) == (None, ())


def test_a_dialect_that_yields_is_named_with_the_one_that_says_more(tmp_path):
    path = tmp_path / "train.log"
    path.write_text("Epoch: [0][10/5004]\tTime 0.351 (0.360)\tSpeed 729.345 (711.111)\tLoss 6.9310 (7.0123)\n")

    found = explained(path, DIALECTS)

    assert [(one.name, one.why) for one in found.candidates] == [
        ("apex_imagenet", "it fits"),
        ("pytorch_examples", "yields to apex_imagenet, which says more"),
    ]


def test_the_command_lists_every_dialect(capsys):
    assert main(["dialects", "--json"]) == Exit.DONE
    assert {row["name"] for row in json.loads(capsys.readouterr().out)} == DIALECTS.keys()


def test_the_command_explains_a_log(log, capsys):
    assert main(["dialects", "--explain", str(log)]) == Exit.DONE
    assert "in all: 1 evaluation, 2 skipped, 2 step" in capsys.readouterr().out


def test_a_log_that_is_not_there_is_wrong_usage(tmp_path, capsys):
    assert main(["dialects", "--explain", str(tmp_path / "absent")]) == Exit.USAGE
    assert "No such file" in capsys.readouterr().err
