"""`evalsuite parse`: the table, the JSON, the exit codes."""

import json

import pytest

from evalsuite.cli import main
from evalsuite.errors import Exit

LINE = "Epoch: [0][{step:3d}/200]\tTime  0.500 ( 0.600)\tData  0.002 ( 0.001)\tLoss 6.7e+00 (7e+00)\n"


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "train.log"
    path.write_text("".join(LINE.format(step=step) for step in range(1, 131)))
    return path


def parsed(capsys, *arguments):
    code = main(["parse", *map(str, arguments), "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_json_has_the_fields_that_programs_rely_on(log, capsys):
    code, (found,) = parsed(capsys, log, "--devices", "4", "--batch-per-device", "32")

    assert code == Exit.DONE
    assert found == {
        "file": str(log),
        "dialect": "pytorch_examples",
        "framework": "pytorch",
        "model": None,
        "status": "ok",
        "reason": "",
        "total_devices": 4,
        "batch_size_per_device": 32,
        "scope": "global",
        "throughput": pytest.approx(256.0),
        "unit": "images/s",
        "method": "step times",
        "window": {"first_step": 21, "last_step": 120, "steps": 100},
        "steps_reported": 130,
        "reported_final": None,
        "certainty": "one clock",
        "certainty_reason": "its step times alone",
        "findings": [],
    }


def test_a_missing_batch_size_makes_null_and_names_the_option(log, capsys):
    code, (found,) = parsed(capsys, log)

    assert code == Exit.NOTHING_MEASURED
    assert found["throughput"] is None
    assert "--batch-per-device" in found["reason"]


def test_a_folder_means_all_its_files_and_one_bad_log_does_not_stop_the_others(log, capsys):
    (log.parent / "other.txt").write_text("no training\n")

    code, found = parsed(capsys, log.parent, "--devices", "1", "--batch-per-device", "1")

    assert code == Exit.SOME_FAILED
    assert [element["status"] for element in found] == ["unrecognised", "ok"]


def test_a_log_that_is_not_there_is_wrong_usage(tmp_path, capsys):
    code, (found,) = parsed(capsys, tmp_path / "absent.log")

    assert code == Exit.USAGE
    assert found["status"] == "unrecognised"


def test_without_json_each_log_is_a_sentence(log, capsys):
    code = main(["parse", str(log), "--devices", "4", "--batch-per-device", "32"])

    assert code == Exit.DONE
    assert capsys.readouterr().out.endswith(
        "ok; 256.00 images/s on 4 devices (pytorch_examples, step times, steps 21 to 120); "
        "one clock: its step times alone\n"
    )


@pytest.mark.parametrize("options", [["--devices", "0"], ["--steps", "20"], ["--batch-per-device", "-1"]])
def test_an_option_that_makes_no_sense_is_wrong_usage(log, options):
    with pytest.raises(SystemExit) as stopped:
        main(["parse", str(log), *options])

    assert stopped.value.code == Exit.USAGE


def test_an_unknown_dialect_is_wrong_usage(log, capsys):
    assert main(["parse", str(log), "--dialect", "pytorch_exmples"]) == Exit.USAGE
    assert "Did you mean pytorch_examples?" in capsys.readouterr().err
