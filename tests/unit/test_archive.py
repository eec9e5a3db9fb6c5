"""Run folders in one ZIP: the same evaluation, and nothing outside its folder."""

import stat
import zipfile

import pytest

from evalsuite import paths
from evalsuite.cli import main
from evalsuite.errors import EvalsuiteError
from evalsuite.results.evaluation import evaluate
from evalsuite.runs import archive
from evalsuite.runs.store import Store

RECORDED = paths.DATA / "recorded"


@pytest.mark.parametrize("prefix", ["", "runs/"])
def test_an_archive_gives_the_evaluation_of_its_folder(prefix, tmp_path):
    with zipfile.ZipFile(tmp_path / "runs.zip", "w") as file:
        for path in sorted(RECORDED.rglob("*")):
            file.write(path, prefix + path.relative_to(RECORDED).as_posix())

    assert evaluate(Store(archive.unpack(tmp_path / "runs.zip"))) == evaluate(Store(RECORDED))


def test_a_folder_stays_where_it_is():
    assert archive.unpack(RECORDED) == RECORDED


def linked(name):
    member = zipfile.ZipInfo(name)
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    return member


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/x", linked("a")], ids=str)
def test_an_archive_that_leaves_its_folder_is_refused(name, tmp_path):
    with zipfile.ZipFile(tmp_path / "runs.zip", "w") as file:
        file.writestr(name, "x")

    with pytest.raises(EvalsuiteError, match="expected files below its folder, and no links"):
        archive.unpack(tmp_path / "runs.zip")


def test_an_archive_that_is_too_large_or_none_is_refused(tmp_path, monkeypatch, capsys):
    (tmp_path / "none.zip").write_bytes(b"none")
    with zipfile.ZipFile(tmp_path / "large.zip", "w") as file:
        file.writestr("a", "x" * 11)
    monkeypatch.setattr(archive, "MOST_BYTES", 10)

    assert main(["report", "--runs", str(tmp_path / "none.zip"), "--out", str(tmp_path / "out")]) == 2
    assert "expected a ZIP of run folders" in capsys.readouterr().err
    with pytest.raises(EvalsuiteError, match="got 1 files"):
        archive.unpack(tmp_path / "large.zip")
