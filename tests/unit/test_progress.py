"""What is said while runs are made: which one of how many, and how it ended."""

from dataclasses import replace

import pytest

from evalsuite.commands import run as command
from evalsuite.commands.printing.terminal import RunProgress
from evalsuite.model import Measurement, Run, Skip
from evalsuite.plan.estimate import Estimate
from tests.toys import CASE

OTHER = replace(CASE, model="mobilenetv2")


@pytest.mark.parametrize(("cases", "said"), [([CASE], False), ([CASE, OTHER], True)])
def test_a_run_is_told_with_its_model_where_several_are_trained(capsys, cases, said):
    runs = [Run(case=case, repeat=0) for case in cases]

    RunProgress(runs, Estimate()).tick(runs[-1], 0.0)

    line = capsys.readouterr().err
    assert line.startswith(f"[1/{len(runs)}] {CASE.framework} ")
    assert (runs[-1].case.model in line) is said


def test_skips_of_one_reason_share_a_line(capsys):
    cases = [CASE, replace(CASE, batch_per_device=64), replace(CASE, devices_per_node=2), OTHER]
    reasons = ["no such recipe"] * 3 + ["no XLA"]

    command._say_left_out([Skip(case=case, reason=reason) for case, reason in zip(cases, reasons, strict=True)])

    assert capsys.readouterr().err.splitlines() == [
        f"skipped {CASE.framework} 1x1, 1x2 (3 cases): no such recipe",
        f"skipped {CASE.framework} 1x1: no XLA",
    ]


@pytest.mark.parametrize(
    ("log", "reason", "said"),
    [
        (b"step 1\npython: can't open file\n\n", "exit code 2", "the last line of {file}: python: can't open file"),
        (b"10%|#  |\r20%|## |\r", "exit code 2", "the last line of {file}: 20%|## |"),
        (b"Killed\n", "killed, line 1: Killed", "its log: {file}"),
        (b"\n", "exit code 2", "its log: {file}"),
        (b"login --token hf_abcdefghijklmnopqrstuvwx\n", "x", "the last line of {file}: login --token ****"),
    ],
)
def test_of_a_run_without_a_value_is_said_where_its_log_lies_and_how_it_ends(tmp_path, capsys, log, reason, said):
    (tmp_path / "log.txt").write_bytes(log)
    failed = Measurement(run=Run(case=CASE, repeat=0), status="failed", reason=reason, log="log.txt")

    command._say_log(failed, tmp_path)

    assert capsys.readouterr().err.strip().startswith(said.format(file=tmp_path / "log.txt"))


@pytest.mark.parametrize(
    ("left", "said"),
    [
        ([], ""),
        ([None], "1 run was stopped once"),
        ([3600.0, 3600.0], "at least 2 device-hours: the rest of the epoch that each was in"),
        ([3600.0, None], "the rest of the epoch that 1 of them were in"),
    ],
)
def test_what_stopping_saved_is_said_of_the_runs_of_which_it_is_known(capsys, left, said):
    run = Run(case=CASE.at_scale(1, 1), repeat=0)

    command._say_stopped([Measurement(run=run, status="ok", reason="", log="log.txt", left_s=one) for one in left])

    assert said in capsys.readouterr().err
