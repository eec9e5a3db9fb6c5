"""`evalsuite parse`: the table, the JSON, the exit codes."""

import io
import json
import re
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from evalsuite.cli import main
from evalsuite.commands.printing import terminal
from evalsuite.core.errors import Exit
from evalsuite.logs.extra_metrics import AlsoPrinted
from tests import sources

LOGS = Path(__file__).resolve().parents[1] / "logs"
NOTHING_BESIDE = asdict(AlsoPrinted())
LINE = "Epoch: [0][{step:3d}/200]\tTime  0.500 ( 0.600)\tData  0.002 ( 0.001)\tLoss 6.7e+00 (7e+00)\n"


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "train.log"
    path.write_text("".join(LINE.format(step=step) for step in range(1, 131)))
    return path


def parsed(capsys, *arguments):
    code = main(["parse", *map(str, arguments), "--json"])
    return code, json.loads(capsys.readouterr().out)


ASSUMED = (
    "the log prints the step times of one process, and not how many devices share a step: "
    "that all 4 given do is assumed"
)


def test_json_has_the_fields_that_programs_rely_on(log, capsys):
    code, (found,) = parsed(capsys, log, "--devices", "4", "--batch-per-device", "32")

    assert code == Exit.DONE
    assert found == {
        "file": str(log), "dialect": "pytorch_examples", "framework": "pytorch", "model": None, "status": "ok",
        "reading": "window", "reason": "", "total_devices": 4, "batch_size_per_device": 32, "shape": None,
        "scope": "global", "throughput": pytest.approx(256.0), "unit": "images/s", "method": "step times",
        "window": {"first_step": 21, "last_step": 120, "steps": 100}, "steps_reported": 130, "reported_final": None,
        "certainty": "one clock", "certainty_reason": "its step times alone",
        "trained": "not_shown",
        "findings": [{"code": "scope_assumed", "severity": "note", "text": ASSUMED}], "window_counts": "steps",
        "also_printed": {**NOTHING_BESIDE, "data_wait_s": pytest.approx(0.002)}, "compute": None,
        "printed_unit": "images/s",
    }  # fmt: skip


def test_without_a_batch_size_steps_are_counted_and_the_option_is_asked_for(log, capsys):
    code, (found,) = parsed(capsys, log)

    assert code == Exit.NOTHING_MEASURED
    assert (found["status"], found["throughput"], found["unit"]) == ("doubtful", pytest.approx(2.0), "steps/s")
    assert "--batch-per-device" in found["reason"]


def test_a_folder_means_all_its_files_and_one_bad_log_does_not_stop_the_others(log, capsys):
    (log.parent / "other.txt").write_text("no training\n")

    code, found = parsed(capsys, log.parent, "--devices", "1", "--batch-per-device", "1")

    assert code == Exit.SOME_FAILED
    assert [element["status"] for element in found] == ["unrecognised", "ok"]


def test_without_json_each_log_is_a_sentence(log, capsys):
    code = main(["parse", str(log), "--devices", "4", "--batch-per-device", "32"])

    assert code == Exit.DONE
    assert capsys.readouterr().out.endswith(
        "ok; 256.00 images/s on 4 devices (pytorch_examples, step times, steps 21 to 120); "
        f"loss not seen to fall; one clock: its step times alone\n  scope_assumed: {ASSUMED}\n"
    )


READINGS = {
    "apex_imagenet.log": "window",
    "llm_c.log": "steps_alone",
    "hugectr.log": "whole_log",
    "reference_training.log": "one_start",
    "composed/complete/composer.txt": "shape",
    "printed_lines.log": "refused",
}


def test_each_log_says_by_which_reading_it_has_its_number(capsys):
    _, found = parsed(capsys, *(LOGS / name for name in READINGS), "--devices", "8", "--batch-per-device", "32")

    assert [each["reading"] for each in found] == list(READINGS.values())
    main(["parse", "--explain", str(LOGS / "llm_c.log")])
    assert capsys.readouterr().out.startswith("read by `steps_alone`: steps per second")


@pytest.fixture
def logs(tmp_path):
    """Three logs of different speeds in two folders, and one that is none."""
    for name, seconds in (("fast/train.log", "0.250"), ("slow/train.log", "0.500"), ("slow/again.log", "0.400")):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(LINE.format(step=step).replace("0.500", seconds) for step in range(1, 131)))
    (tmp_path / "notes.txt").write_text("no training\n")
    return tmp_path


def table(capsys, *arguments):
    main(["parse", *map(str, arguments), "--devices", "1", "--batch-per-device", "32"])
    return capsys.readouterr().out.splitlines()


def test_several_logs_are_one_table_with_totals(logs, capsys):
    lines = table(capsys, logs)

    assert lines[0].split() == ["file", "dialect", "status", "throughput", "unit", "certainty", "training", "findings"]
    cells = "fast/train.log  pytorch_examples  ok  128.00  images/s  one clock  loss not seen to fall  –"
    assert re.split("  +", lines[1]) == cells.split("  ")
    assert "4 logs: 3 ok, 1 unrecognised; 3 with a throughput, 1 without" in lines
    assert lines[-2].startswith("  1 log: no known dialect fits any of its lines")
    assert lines[-1] == "    notes.txt"


def test_logs_of_one_unknown_shape_are_doubted_in_one_line(tmp_path, capsys):
    for run in range(3):
        lines = (f"at {step} of 200: loss {4 / step:.4f}, {940 + run + step % 5}.5 samples/s" for step in range(1, 150))
        (tmp_path / f"{run}.log").write_text("\n".join(lines))
    *_, doubted, names = table(capsys, tmp_path)
    assert doubted.startswith("  3 logs: in no known dialect; line ") and names == "    0.log, 1.log, 2.log"


def test_what_a_log_prints_beside_its_steps_is_kept(tmp_path, capsys):
    line = (
        "[titan] 2025-06-16 22:31:18,934 - root - INFO - step: {step:2d}  loss:  6.0348  memory: 49.66GiB(52.28%)  "
        "tps: 5,868  tflops: 339.82  mfu: 34.36%\n"
    )
    log = tmp_path / "train.log"
    log.write_text("".join(line.format(step=step) for step in range(1, 131)))

    _, (found,) = parsed(capsys, log, "--devices", "4")
    main(["parse", str(log), "--devices", "4"])

    assert found["also_printed"] == NOTHING_BESIDE | {
        "items_per_s_per_device": 5868.0,
        "mfu": pytest.approx(0.3436),
        "tflop_per_s_per_device": 339.82,
        "memory_gib": 49.66,
        "spread_of_rates": 1.0,
    }
    assert "also printed: per device 5,868.00 tokens/s, MFU 34.4%" in capsys.readouterr().out


def test_the_rate_of_a_device_keeps_its_unit_where_the_devices_are_not_known(capsys):
    main(["parse", str(Path(__file__).parents[1] / "logs" / "torchtitan.log")])

    said = capsys.readouterr().out
    assert "0.709 steps/s" in said and "per device 5,863.00 tokens/s" in said


@pytest.mark.parametrize(("log", "expected"), sources.table("parse_also_printed.toml").items())
def test_each_script_says_it_in_its_own_words(log, expected, capsys):
    _, (found,) = parsed(capsys, LOGS / log)

    said = {name: value for name, value in found["also_printed"].items() if value is not None}
    assert said == pytest.approx(expected, rel=0.002)


def test_one_device_and_small_rates_are_written_as_they_are_and_epochs_are_not_called_steps(log, capsys):
    log.write_text(log.read_text().replace("0.500", "7000."))

    main(["parse", str(log), "--devices", "1", "--batch-per-device", "30"])
    main(["parse", str(LOGS / "mlperf_blocks.log")])

    said = capsys.readouterr().out
    assert "0.00429 images/s on 1 device (" in said and "epochs 4 to 15" in said


@pytest.mark.parametrize("options", [["--devices", "0"], ["--steps", "20"], ["--batch-per-device", "-1"]])
def test_an_option_that_makes_no_sense_is_wrong_usage(log, options):
    with pytest.raises(SystemExit) as stopped:
        main(["parse", str(log), *options])

    assert stopped.value.code == Exit.USAGE


def test_an_unknown_dialect_and_a_log_that_is_not_there_are_wrong_usage(log, tmp_path, capsys):
    assert main(["parse", str(log), "--set", "dialect=pytorch_exmples"]) == Exit.USAGE
    assert "Did you mean pytorch_examples?" in capsys.readouterr().err
    code, (found,) = parsed(capsys, tmp_path / "absent.log")
    assert (code, found["status"]) == (Exit.USAGE, "unrecognised")


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_much_to_read_shows_a_bar_on_a_terminal_and_changes_nothing_else(log, tmp_path, capsys, monkeypatch):
    (log.parent / "[red]other.log").write_bytes(log.read_bytes())
    main(["parse", str(log.parent), "--json"])
    piped = capsys.readouterr()
    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(terminal, "WORTH_A_BAR_BYTES", 1)

    main(["parse", str(log.parent), "--json"])

    assert "[red]other.log" in screen.getvalue()
    assert (piped.err, capsys.readouterr().out) == ("", piped.out)


def test_a_log_of_a_known_dialect_is_read_without_what_others_need():
    code = "import sys\nfrom evalsuite.__main__ import main\nmain()\nprint(*sys.modules)"
    words = (sys.executable, "-c", code, "parse", str(LOGS / "torchtitan.log"), "--devices", "8")
    loaded = {*subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()[-1].split()}

    slow = ("evalsuite.importing", "evalsuite.results.measure.measurement", "evalsuite.logs.unknown.words", "numpy")
    assert "evalsuite.logs.reading" in loaded and loaded.isdisjoint(slow)
