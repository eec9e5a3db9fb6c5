"""The script for sbatch, and what Slurm's queue says."""

import os
import time
from pathlib import Path

import pytest

from evalsuite import cli
from evalsuite.errors import EvalsuiteError, Exit
from evalsuite.launch.checks.wall_time_left import RemainingTime
from evalsuite.launch.remote import allocations
from evalsuite.model import Run
from evalsuite.plan.estimate import Estimate
from evalsuite.schedulers import SCHEDULERS, slurm
from tests import goldens
from tests.toys import CASE

SLURM = SCHEDULERS["slurm"]
PLACE = ("--partition", "gpu", "--account", "dl", "--time", "8:00:00", "--gres", "gpu:8", "--constraint", "a100")
CONTAINERS = {
    "none": (),
    "pyxis": ("--container", "pyxis", "--image", "nvcr.io/nvidia/pytorch:24.05-py3"),
    "apptainer": ("--container", "apptainer", "--image", "/images/pytorch.sif"),
    "charliecloud": ("--container", "charliecloud", "--image", "/images/pytorch"),
}


def written(tmp_path, monkeypatch, capsys, *words: str) -> str:
    """The script that `submit` writes, with this machine's paths in words."""
    import sys

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "evalsuite.launch.remote.forwarded_environment.python_path", lambda: {"PYTHONPATH": "/shared/evalsuite"}
    )
    assert cli.main(["submit", "--frameworks", "pytorch", "--scales", "1x8,4x8", *words]) == Exit.DONE
    text = (tmp_path / "runs" / "evaluation.sbatch").read_text()
    return text.replace(str(tmp_path), "/srv/evaluation").replace(sys.executable, "/shared/python")


@pytest.mark.parametrize("container", CONTAINERS)
def test_the_script_for_slurm(tmp_path, monkeypatch, capsys, container):
    words = (*PLACE, "--nodes-spare", "1", "--before", "module load cuda/12.4", *CONTAINERS[container])

    found = written(tmp_path, monkeypatch, capsys, *words)

    assert found == goldens.expected(f"sbatch/slurm-{container}.sbatch", found)


def test_what_was_asked_for_reaches_compare_word_for_word(tmp_path, monkeypatch, capsys):
    odd = ("--option", "note=it's here", "--option", "image_size=64", "--oversubscribe", "--max-device-hours", "9.5")

    found = written(tmp_path, monkeypatch, capsys, *odd, "--out", "my report", "--steps", "5+20")

    line = found.partition("TERM\n")[2].partition(" &\n")[0].replace("\\\n", " ")
    words = os.popen(f"printf '%s\\n' {line}").read().splitlines()
    assert words[:4] == ["/shared/python", "-m", "evalsuite", "compare"]
    for option, value in zip(odd[::2], odd[1::2], strict=False):
        assert option in words and (value in words or value.startswith("--"))
    assert words[words.index("--out") + 1] == "my report"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--time", "forever"), '--time: got "forever"'),
        (("--partition", "gpu\n#SBATCH --uid=0"), "expected one line of plain text"),
        (("--sbatch", "mail"), '--sbatch: got "mail"'),
        (("--nodes-spare", "-1"), "expected 0 to 1000"),
        (("--engine", "local"), "expected slurm"),
        (("--frameworks", "pytroch"), "pytroch"),
    ],
)
def test_what_sbatch_would_not_take_is_said_before_anything_is_written(tmp_path, monkeypatch, capsys, words, said):
    monkeypatch.chdir(tmp_path)

    assert cli.main(["submit", "--frameworks", "pytorch", *words]) == Exit.USAGE
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def program(folder: Path, name: str, text: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A folder first on the PATH, for programs of Slurm that say what a test wants."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


def test_a_job_has_a_number_and_one_that_slurm_refuses_or_nobody_takes_says_why(programs, tmp_path, monkeypatch):
    program(programs, "sbatch", 'echo "812;cluster"')
    assert allocations.submit(SLURM, tmp_path / "evaluation.sbatch") == "812"

    why = "sbatch: error: invalid partition specified: gpux\nsbatch: error: Batch job submission failed"
    program(programs, "sbatch", f"printf '{why}' >&2; exit 1")

    with pytest.raises(EvalsuiteError, match=r"sbatch: invalid partition specified: gpux .*expected.*Try other"):
        allocations.submit(SLURM, tmp_path / "evaluation.sbatch")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EvalsuiteError, match=r"no such program.*evaluation\.sbatch"):
        allocations.submit(SLURM, tmp_path / "evaluation.sbatch")
    assert (slurm.jobs(allocations.ask), slurm.nodes({}, allocations.ask)) == (None, ())


def test_the_queue_shows_what_waits_and_why(programs):
    program(programs, "squeue", "echo '812|PENDING|evalsuite|4|N/A|N/A|(Resources)'; echo broken")

    (job,) = slurm.jobs(allocations.ask)

    assert (job.id, job.state, job.nodes, job.start, job.why) == ("812", "PENDING", 4, None, "(Resources)")


def test_the_end_of_the_time_is_slurms_variable_or_what_scontrol_says(programs):
    at = time.time() + 600
    told = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(at))
    program(programs, "scontrol", f"echo '   StartTime=2026-01-01T00:00:00 EndTime={told} Deadline=N/A'")

    assert allocations.wall_time_left_s({"SLURM_JOB_ID": "812", "SLURM_JOB_END_TIME": str(int(at))}) == pytest.approx(
        600, abs=3
    )
    assert allocations.wall_time_left_s({"SLURM_JOB_ID": "812"}) == pytest.approx(600, abs=3)
    program(programs, "scontrol", "echo '   StartTime=Unknown EndTime=Unknown'")
    assert allocations.wall_time_left_s({"SLURM_JOB_ID": "812"}) is None
    assert allocations.wall_time_left_s({}) is None


def test_no_run_is_started_that_the_time_would_not_hold_as_far_as_anybody_can_estimate():
    run = Run(case=CASE, repeat=0)
    now = [0.0]
    remaining = RemainingTime(1000.0, Estimate([(run, 300.0)]), clock=lambda: now[0])

    assert remaining.fits(run)
    now[0] = 560.0
    assert not remaining.fits(run) and remaining.refused
    assert RemainingTime(None, Estimate([])).fits(run)

    run = Run(case=CASE, repeat=0)
    assert RemainingTime(1000.0, Estimate([])).fits(run)
    assert not RemainingTime(100.0, Estimate([])).fits(run)
