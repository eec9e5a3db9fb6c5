"""The eight participants of 天枢's table 3-1 in one campaign over two played hosts.

Needs root, sshd and 12 GB of environments, which stay; some twenty minutes on two cores.
"""

import json
from pathlib import Path

import pytest

from evalsuite.cli import main
from evalsuite.contracts.registry import discover
from evalsuite.core import paths
from evalsuite.core.errors import Exit
from evalsuite.launch import rehearsals
from evalsuite.launch.provision import virtualenvs
from evalsuite.plan import rehearsal
from tests import namespaces
from tests.processes import soon
from tools import rehearse_on_hosts

SCRIPTS = (  # of each the one that is quickest on a CPU
    *("oneflow/wide-deep", "ngc_tensorflow/bert-base-2020", "ngc_pytorch/bert-base-2020", "ngc_mxnet/resnet50-2019"),
    *("tensorflow/models-bert-base-2020", "pytorch/examples-imagenet", "mxnet/gluoncv-resnet50"),
    "paddlepaddle/paddleclas-resnet50",
)
NAMES = {script.partition("/")[0] for script in SCRIPTS}
ON_TWO_HOSTS = {"tensorflow", "pytorch"}  # by their tables
ONE_ENVIRONMENT = {"ngc_mxnet", "mxnet"}  # the same pins


def journal(runs: Path) -> list[dict]:
    file = runs / "attempts.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.is_file() else []


def participant(run: str) -> str:
    return run.partition("-")[0]


def prepare(script: str) -> None:
    """Repository, environment and data: the hosts reach no index."""
    framework, _, name = script.partition("/")
    how = rehearsal.of_framework(framework)[name]
    recipe = rehearsal.rehearsed(discover()[framework].recipe(name), how)
    rehearsals.fetch(recipe, how, None, print)
    virtualenvs.ensure(recipe, progress=print)
    rehearsals.make_data(recipe, rehearsal.case(framework, recipe, how, (1, 1)), keep=True, progress=print)


def test_eight_participants_take_turns_and_a_killed_campaign_goes_on_where_it_was(tmp_path, monkeypatch):
    if why := namespaces.sshd_missing():
        pytest.skip(why)
    runs = tmp_path / "runs"
    monkeypatch.setenv("EVALSUITE_DATA", str(tmp_path / "data"))
    for script in SCRIPTS:
        prepare(script)
    recipes = [word for script in SCRIPTS for word in ("--recipe", script)]
    words = (
        *("--spec", str(paths.DATA / "specs" / "tianshu.toml"), *recipes, "--scales", "1x1,2x1"),
        *("--out", str(tmp_path), "--keep-environments"),
    )

    with rehearse_on_hosts.rehearsing() as start:
        killed = start(*words)
        assert soon(lambda: len(journal(runs)) == 7, seconds=1800)  # three ended and a fourth begun
        killed.kill()
        killed.wait()
        before = journal(runs)
        code = start(*words).wait()

    lines = journal(runs)
    begun = [line["run"] for line in lines if line["event"] == "started"]
    ended = [line["run"] for line in lines if line["event"] == "ended"]
    cut = before[-1]["run"]
    assert code == Exit.DONE
    assert len(before) == 7 and [line["run"] for line in lines if line["attempt"] > 1] == [cut, cut]
    assert sorted([*ended, cut]) == sorted(begun) and len(ended) == len(SCRIPTS) + len(ON_TWO_HOSTS)
    assert {participant(run) for run in ended[: len(SCRIPTS)]} == NAMES  # all at 1x1, then those of 2x1
    assert {participant(run) for run in ended[len(SCRIPTS) :]} == ON_TWO_HOSTS
    environments = {
        name: {part for part in json.dumps(asked).split("/") if "-py3." in part}
        for file in runs.glob("*/r0/command.json")
        for name, asked in [(participant(file.parent.parent.name), json.loads(file.read_text())["argv"])]
    }
    others = [name for name in NAMES if environments[name] != environments["mxnet"]]
    assert NAMES - set(others) == ONE_ENVIRONMENT and len({str(environments[name]) for name in others}) == 6
    assert {line["event"] for line in lines} == {"started", "ended"}  # no figure
    assert main(["report", "--runs", str(runs), "--out", str(tmp_path / "report")]) == Exit.USAGE
