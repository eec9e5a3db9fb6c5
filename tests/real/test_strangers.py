"""A stranger's adapter and the dialect that it brings, from the command line to the report."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from evalsuite import cli
from evalsuite.core.errors import Exit

STRANGERS = Path(__file__).resolve().parent / "strangers"


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """One finished evaluation of the stranger's framework, whose adapter lies in a folder of its own."""
    folder = tmp_path_factory.mktemp("stranger")
    adapters = shutil.copytree(STRANGERS, folder / "adapters")
    line = ["compare", "--frameworks", "tinynet", "--models", "tiny", "--scales", "1x1", "--batch-sizes", "8"]
    line += ["--quiet-rounds", "0"]
    line += ["--repeats", "2", "--steps", "5+60", "--adapters", str(adapters), "--environment", "current"]
    assert cli.main([*line, "--runs", str(folder / "runs"), "--out", str(folder / "report")]) == Exit.DONE
    return folder


def test_an_adapter_and_the_dialect_it_brings_go_through_compare(measured):
    (summary,) = json.loads((measured / "report" / "summary.json").read_text())["summaries"]

    assert summary["case"]["framework"] == "tinynet"
    # 8 samples in 20 ms are 400 a second; a busy machine makes it slower, and a line that comes late a little faster
    assert 60 < summary["throughput"]["value"] < 500


def test_the_run_folder_says_where_its_dialect_comes_from(measured):
    (command, _) = sorted((measured / "runs").glob("*/r*/command.json"))
    file = measured / "adapters" / "tinynet.py"

    recipe = json.loads(command.read_text())["recipe"]

    assert recipe["dialect"] == "tinynet"
    assert recipe["dialect_source"] == {
        "by": "author",
        "file": str(file),
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        "option": "--adapters",
    }


def test_the_report_is_made_again_with_the_adapter_and_says_what_is_missing_without(measured, capsys):
    runs, again = ["--runs", str(measured / "runs")], str(measured / "again")
    words = ["report", *runs, "--out", again]

    commands = [*words, "--adapters", str(measured / "adapters")], ["audit", again, *runs], words

    assert list(map(cli.main, commands)) == [Exit.DONE, Exit.UNDETERMINED, Exit.NOTHING_MEASURED]
    said = capsys.readouterr().err
    assert f"Try --adapters {measured / 'adapters'}" in said
    assert said.count("is not known now") == 1
