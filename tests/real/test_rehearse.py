"""A rehearsal from its table to its evidence, of a script that is a few lines of Python."""

import contextlib
import json
import sys
from pathlib import Path

import pytest

from evalsuite.cli import main
from evalsuite.core import locks
from evalsuite.core.errors import Exit
from evalsuite.launch.provision.virtualenvs import Environment
from evalsuite.rehearsal import environments as rehearsals
from evalsuite.rehearsal import evidence
from evalsuite.rehearsal import tables as rehearsal
from evalsuite.runs import rehearsed
from tests import sources

SCRIPT = sources.text("rehearse_script.py.in")
ADAPTER = sources.text("rehearse_adapter.py.in")
TABLE = sources.text("rehearse_table.toml")


@pytest.fixture
def rehearse(tmp_path, monkeypatch):
    """Rehearses the toy as a table says; gives exit code and the folder of what came of it."""

    @contextlib.contextmanager
    def here(recipe, *, progress):
        yield Environment(
            folder=Path(sys.prefix), pins=recipe.requirements, device="cpu", size_bytes=0, packages={"toy": "1.0"}
        )

    monkeypatch.setattr(rehearsals, "environment", here)
    monkeypatch.setattr(rehearsal, "FOLDER", tmp_path)
    (tmp_path / "script.py").write_text(SCRIPT)
    adapter = tmp_path / "toynet.py"
    adapter.write_text(ADAPTER.replace("SCRIPT", str(tmp_path / "script.py")))

    def run(table: str, *words: str, recipe: tuple[str, ...] = ("--recipe", "toynet/toy")):
        (tmp_path / "toynet.toml").write_text(table)
        given = (*recipe, "--adapters", str(adapter), "--out", str(tmp_path / "out"), "--lang", "en")
        return main(["rehearse", *given, *words]), tmp_path / "out"

    return run


def test_a_script_takes_its_steps_and_the_evidence_says_how(rehearse):
    code, out = rehearse(TABLE)

    reading = evidence.read("toynet", "toy", out / "evidence")
    one, two = reading.scales["1x1"], reading.scales["1x2"]
    assert code == Exit.DONE
    assert (one.steps_seen, one.reports, one.ranks, two.ranks, one.unit) == (22, 22, 1, 2, "images/s")
    assert one.command[-1] == "--cuda"  # of the device that is rehearsed
    assert reading.changes == {"set": {"--size": "2"}, "drop": ["--slow"]}
    assert (reading.origin, reading.pins, reading.stand_ins.keys()) == ("toy 1.0", ("toy==1.0",), {"hook", "pynvml"})
    for name in one.logs:
        assert (out / "logs" / name).read_bytes().startswith(rehearsed.MARK)


def test_the_agent_meets_no_stand_in(rehearse):
    _, out = rehearse(TABLE, "--scales", "1x1")

    [file] = (out / "runs").glob("*/r0/environment.*.json")
    variables = json.loads(file.read_text())["environment_variables"]
    assert rehearsed.stand_in(variables) is None


def test_a_second_rehearsal_takes_the_place_of_the_first_and_joins_its_other_scales(rehearse):
    rehearse(TABLE, "--scales", "1x2")
    code, out = rehearse(TABLE, "--scales", "1x1")
    rehearse(TABLE, "--scales", "1x1")

    assert code == Exit.DONE
    assert evidence.read("toynet", "toy", out / "evidence").scales.keys() == {"1x1", "1x2"}


@pytest.mark.parametrize(
    ("argument", "code", "said"),
    [
        ("--greedy", Exit.SOME_FAILED, "8 processes printed each step, and 1 device was asked for"),
        ("--short", Exit.SOME_FAILED, "its log ends at step 17 of 22"),
        ("--broken", Exit.SOME_FAILED, "exit code 1"),
    ],
)
def test_a_script_that_takes_every_device_stops_short_or_breaks_is_not_called_rehearsed(
    rehearse, capsys, argument, code, said
):
    found, out = rehearse(f'{TABLE}append = ["{argument}"]\n', "--scales", "1x1")

    assert found == code
    assert said in capsys.readouterr().err
    assert evidence.read("toynet", "toy", out / "evidence") is None


def test_a_script_that_takes_no_step_is_nothing_measured(rehearse, capsys):
    code, _ = rehearse(TABLE.replace("pynvml", "torch"), "--scales", "1x1")

    assert code == Exit.NOTHING_MEASURED
    assert "not rehearsed" in capsys.readouterr().err


def test_what_another_call_rehearses_is_refused_by_name(rehearse, capsys):
    _, out = rehearse(TABLE, "--scales", "1x1")
    [case] = (out / "runs").glob("*-1x1")

    with locks.hold_lock(case / ".r0.lock"):
        code, _ = rehearse(TABLE, "--scales", "1x1")

    assert code == Exit.NOTHING_MEASURED
    assert f"{case / 'r0'} belongs to another `evalsuite rehearse`" in capsys.readouterr().err


def test_several_nodes_want_hosts(rehearse, capsys):
    code, _ = rehearse(TABLE, "--scales", "2x1")

    assert code == Exit.NOTHING_MEASURED
    assert "2x1" in capsys.readouterr().err
