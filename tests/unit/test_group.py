"""`--group`: a lab reads together what one of it has run."""

import grp
import os
import stat

import pytest

from evalsuite import cli
from evalsuite.core.errors import Exit
from evalsuite.core.model import Run
from evalsuite.runs.store import Store
from tests import runfolders
from tests.toys import CASE

OWN = os.getegid()


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def closed(root, group):
    """A finished run of somebody whose umask lets nobody in."""
    before = os.umask(0o077)
    try:
        with Store(root, group).claim(Run(case=CASE, repeat=0)) as folder:
            folder.scratch.mkdir()
            (folder.scratch / "elsewhere").symlink_to("/etc/shadow")
            runfolders.fill(folder)
    finally:
        os.umask(before)
    return folder


def test_a_group_reads_every_file_of_a_finished_run_and_writes_none(tmp_path):
    folder = closed(tmp_path / "runs", OWN)

    files = [path for path in folder.path.rglob("*") if not path.is_symlink()]
    assert len(files) > 5
    assert {mode(path) & 0o070 for path in files if path.is_file()} == {0o040}
    assert {mode(path) & 0o070 for path in (folder.path, folder.path.parent, tmp_path / "runs")} == {0o050}
    assert {mode(path) & 0o007 for path in folder.path.rglob("log.*")} == {0}
    assert {os.stat(path).st_gid for path in files} == {OWN}


def test_without_a_group_nobody_else_reads_a_log_and_an_interrupted_run_stays_closed(tmp_path):
    folder = closed(tmp_path / "runs", None)
    assert {mode(path) & 0o077 for path in folder.path.rglob("log.*")} == {0}

    store = Store(tmp_path, OWN)
    with store.claim(Run(case=CASE, repeat=0)) as folder:
        folder.path.chmod(0o700)
    assert mode(folder.path) == 0o700


def test_a_copied_log_is_for_its_owner_alone_and_opened_for_a_group(tmp_path):
    (tmp_path / "a.log").write_text("\n".join(runfolders.steps().lines))
    facts = [f"--set={name}" for name in ("framework=pytorch", "model=m", "devices=1", "batch=32")]
    words = ["import", str(tmp_path / "a.log"), *facts, "--runs", str(tmp_path / "runs")]

    assert cli.main(words) == Exit.DONE
    assert cli.main([*words[:-1], str(tmp_path / "opened"), "--group", grp.getgrgid(OWN).gr_name]) == Exit.DONE

    logs = [log for name in ("runs", "opened") for log in (tmp_path / name).glob("*/r0/log.*.txt")]
    assert [*map(mode, logs)] == [0o600, 0o640]


@pytest.mark.parametrize("name", ["no-such-group", "", "a\0b", "x" * 400])
def test_a_group_that_there_is_not_is_refused_before_anything_is_made(name, tmp_path, capsys):
    words = ["plan", "--frameworks", "pytorch", "--runs", str(tmp_path / "runs"), f"--group={name}"]

    try:
        code = cli.main(words)
    except SystemExit as refused:  # by argparse
        code = refused.code

    assert code == Exit.USAGE and "expected" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()
