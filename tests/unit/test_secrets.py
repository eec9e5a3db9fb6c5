"""Secrets planted wherever a run can hold one: none may stand in anything that evalsuite writes for others."""

import json
import os
import stat
from dataclasses import replace

import pytest
import runfolders
from test_redaction import LINES, MADE, VARIABLES, WORD

from evalsuite import cli, redaction
from evalsuite.agent import variables
from evalsuite.documents import HostEnvironment
from evalsuite.errors import Exit
from evalsuite.runs.store import RunFolder
from tests.toys import CASE, COMMAND

LAST_LINE = f"RuntimeError: cannot log in with api_key={WORD} at https://me:{WORD}@host.example.org"
SECRETS = (WORD, MADE, *(secret for _, secret in LINES.values()))


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Runs of an older version, whose records hold every kind of secret: 21 in words, 12 in variables, 2 in a log."""
    runs = tmp_path_factory.mktemp("planted")
    every = tuple(word for line, _ in LINES.values() for word in line)
    for repeat in range(2):
        host = runfolders.Host(environment=HostEnvironment(host="n0", environment_variables=VARIABLES))
        printed = runfolders.steps(lines=[LAST_LINE], arrivals_s=[1.0]) if repeat else runfolders.steps()
        ended = {"status": "failed", "exit_code": 1} if repeat else {}
        folder = runfolders.finished(runs, replace(host, printed=(printed,)), repeat=repeat, **ended)
        facts = {**json.loads((folder.path / "command.json").read_text()), "argv": every, "command": every}
        facts |= {"environment": VARIABLES, "files": {"config.json": json.dumps({"password": WORD})}}
        (folder.path / "command.json").write_text(json.dumps(facts))
    return runs


def test_no_planted_secret_stands_in_any_form_of_the_report(planted, tmp_path, capsys):
    forms = "html,single,md,xlsx,zip"

    assert cli.main(["report", "--runs", str(planted), "--out", str(tmp_path / "out"), "--forms", forms]) == Exit.DONE
    assert cli.main(["publish", str(tmp_path / "out"), "--site", str(tmp_path / "site")]) == Exit.DONE

    shown = [("the terminal", "".join(capsys.readouterr()).encode())]
    shown += [(path.name, content) for path in tmp_path.rglob("*") if path.is_file() for content in opened(path)]
    assert len(shown) > 15
    found = {(secret, name) for name, content in shown for secret in SECRETS if secret.encode() in content}
    assert found == set()
    assert any(b"[secret: " in content for name, content in shown if name == "report.html")


def opened(path):
    """What is in *path*, and in the files of an archive."""
    import zipfile

    yield path.read_bytes()
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            yield from (archive.read(name) for name in archive.namelist())


def test_the_log_of_a_run_stays_byte_for_byte(planted):
    (log,) = RunFolder(planted / CASE.id / "r1").logs()

    assert log.path.read_bytes() == f"{LAST_LINE}\n".encode()


@pytest.mark.parametrize("name", VARIABLES)
def test_a_variable_that_holds_a_secret_is_not_recorded_as_it_stands(name):
    found = variables.relevant({name: VARIABLES[name], "NCCL_DEBUG": "INFO", "NCCL_NEW_KNOB": WORD})

    assert WORD not in str(found) and MADE not in str(found)
    assert found["NCCL_DEBUG"] == "INFO"
    assert found["NCCL_NEW_KNOB"] == variables.SET


def test_a_copied_log_is_for_its_owner_alone(tmp_path, capsys):
    (tmp_path / "a.log").write_text("\n".join(runfolders.steps().lines))
    facts = [f"--set={name}" for name in ("framework=pytorch", "model=m", "devices=1", "batch=32")]

    assert cli.main(["import", str(tmp_path / "a.log"), *facts, "--runs", str(tmp_path / "runs")]) == Exit.DONE

    (log,) = (tmp_path / "runs").glob("*/r0/log.*.txt")
    assert stat.S_IMODE(os.stat(log).st_mode) == 0o600


def test_an_option_that_looks_like_a_secret_is_refused(tmp_path, capsys):
    code = cli.main(["plan", "--frameworks", "pytorch", "--option", f"api_key={WORD}", "--runs", str(tmp_path)])

    said = capsys.readouterr().err
    assert code == Exit.USAGE
    assert "api_key" in said and WORD not in said


def test_an_error_tells_the_terminal_neither_a_secret_nor_a_command(tmp_path, capsys):
    code = cli.main(["report", "--runs", f"{tmp_path}/\x1b[31mred?token={WORD}", "--out", str(tmp_path / "out")])

    said = capsys.readouterr().err
    assert code == Exit.NOTHING_MEASURED
    assert "\x1b" not in said and WORD not in said


def test_what_a_run_records_of_its_command_is_without_secrets():
    line, secret = LINES["flag and word"]

    assert redaction.words(line) == ("train.py", "--password", "[secret: --password]")
    assert secret not in str(replace(COMMAND, command=redaction.words(line)))
