"""What is said while runs are made: which one of how many, and how it ended."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from evalsuite.cli import main
from evalsuite.commands import run as command
from evalsuite.commands.printing.terminal import RunProgress
from evalsuite.commands.report import exit_code
from evalsuite.core.errors import Exit
from evalsuite.core.model import Measurement, Run, Skip, Verdict
from evalsuite.plan.estimate import Estimate
from tests import runfolders, sources
from tests.toys import CASE

OTHER = replace(CASE, model="mobilenetv2")


def test_a_run_is_told_with_its_script_and_model(capsys):
    RunProgress([Run(case=CASE, repeat=0)], Estimate()).tick(Run(case=CASE, repeat=0), 0.0)

    assert capsys.readouterr().err.startswith(f"[1/1] {CASE.framework}/{CASE.recipe} {CASE.model} ")


def test_skips_of_one_reason_share_a_line(capsys):
    cases = [CASE, replace(CASE, batch_per_device=64), replace(CASE, devices_per_node=2), OTHER]
    reasons = ["no such recipe"] * 3 + ["no XLA"]

    command._say_left_out([Skip(case=case, reason=reason) for case, reason in zip(cases, reasons, strict=True)])

    expected = [f"skipped {CASE.framework} 1x1, 1x2 (3 cases): no such recipe", f"skipped {CASE.framework} 1x1: no XLA"]
    assert capsys.readouterr().err.splitlines() == expected


@pytest.mark.parametrize(("log", "reason", "said"), sources.cases("progress.toml")["logs"])
def test_of_a_run_without_a_value_is_said_where_its_log_lies_and_how_it_ends(tmp_path, capsys, log, reason, said):
    (tmp_path / "log.txt").write_bytes(log.encode())
    failed = Measurement(run=Run(case=CASE, repeat=0), status="failed", reason=reason, log="log.txt")

    command._say_log(failed, tmp_path)

    assert capsys.readouterr().err.strip().startswith(said.format(file=tmp_path / "log.txt"))


# what `report` says on a terminal beside its table, and the exit code that a job may ask it for


def report(folder, *more):
    return main(["report", "--runs", str(folder / "runs"), "--out", str(folder / "report"), *map(str, more)])


@pytest.mark.parametrize(("outcomes", "code"), sources.cases("progress.toml")["criterion_fails_outweighs"])
def test_a_criterion_that_fails_outweighs_one_that_is_open(outcomes, code):
    verdicts = [Verdict(criterion=f"C{place}", outcome=outcome) for place, outcome in enumerate(outcomes)]

    assert exit_code(SimpleNamespace(verdicts=verdicts)) == code


def test_the_exit_code_is_by_the_criteria_only_where_that_is_asked_for(tmp_path):
    runfolders.finished(tmp_path / "runs")

    assert report(tmp_path) == Exit.DONE
    assert report(tmp_path, "--fail-on-criteria") == Exit.UNDETERMINED  # one node, and C1 is about twenty


def test_edited_and_spoilt_run_folders_are_named_on_the_terminal(tmp_path, capsys):
    folders = [runfolders.finished(tmp_path / "runs", repeat=repeat) for repeat in range(3)]
    report(tmp_path)
    assert "check " not in capsys.readouterr().err
    log, case = folders[0].path / "log.n0.txt", folders[1].path / "case.json"
    log.write_bytes(log.read_bytes().replace(b"0.5", b"0.4"))
    case.write_text("{")
    (folders[2].path / "log.n0.txt").write_bytes(b"0.4")

    report(tmp_path)
    english = capsys.readouterr().err
    report(tmp_path, "--lang", "zh")

    assert f"check {CASE.id}/r0 and 1 more: changed since the run ended: log.n0.txt" in english
    assert f"check {CASE.id}/r1: " in english and "r2" not in english
    assert f"请检查 {CASE.id}/r0" in capsys.readouterr().err
