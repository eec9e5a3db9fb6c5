"""What `report` says on a terminal beside its table, and the exit code that a job may ask it for."""

from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace

import pytest

from evalsuite.cli import main
from evalsuite.commands.report import _arguments_again, exit_code
from evalsuite.errors import Exit
from evalsuite.model import Verdict
from tests import runfolders
from tests.toys import CASE


def report(folder, *more):
    return main(["report", "--runs", str(folder / "runs"), "--out", str(folder / "report"), *map(str, more)])


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        (("pass", "information"), Exit.DONE),
        (("pass", "undetermined"), Exit.UNDETERMINED),
        (("undetermined", "fail", "pass"), Exit.CRITERION_FAILED),
        ((), Exit.DONE),
    ],
)
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

    report(tmp_path)
    english = capsys.readouterr().err
    report(tmp_path, "--lang", "zh")

    assert f"check {CASE.id}/r0: changed since the run ended: log.n0.txt" in english
    assert f"check {CASE.id}/r1: " in english and "r2" not in english
    assert f"请检查 {CASE.id}/r0：" in capsys.readouterr().err


def test_a_command_to_go_on_with_brings_what_this_one_was_given(tmp_path):
    given = Namespace(adapters=[Path("mine"), Path("a b")], dialects=[Path("logs.py")], runs=tmp_path)

    said = _arguments_again(given, SimpleNamespace(recorded_elsewhere=False))

    assert said == f" --adapters mine --adapters 'a b' --dialects logs.py --runs {tmp_path}"
