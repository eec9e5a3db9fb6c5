"""Scripts without a step limit, or that hang at their end, are ended after the last measured step."""

import os
import time
from dataclasses import replace

import pytest

from evalsuite.core.model import Protocol, Run
from evalsuite.launch import runner
from evalsuite.launch.campaign import MIDWAY_TIMES, make_enough
from evalsuite.logs import catalogue
from evalsuite.results.measure import measurement
from evalsuite.runs.endings import Outcome
from evalsuite.runs.store import RunFolder
from tests import sources
from tests.toys import CASE, COMMAND, LAUNCHER, toynet

SHORT = replace(CASE, protocol=Protocol(warmup_steps=2, measured_steps=4))
LINE = "Epoch: [0][{0:>4}/2000]\tTime  0.500 ( 0.500)\tData  0.001 ( 0.001)\tLoss 7.0e+00 (7.0e+00)\n"
ENDED = (
    "Traceback (most recent call last):\n"
    '  File "run.py", line 7, in main\n'
    "torch.distributed.elastic.multiprocessing.api.SignalException: Process 7 got signal: 15\n"
)


def folder_with(path, steps, behind="") -> RunFolder:
    folder = RunFolder(path)
    folder.path.mkdir(parents=True, exist_ok=True)
    folder.write_case(Run(case=SHORT, repeat=0))
    folder.write_command(COMMAND)
    lines = [LINE.format(step) for step in range(1, steps + 1)]
    folder.log_path("host").write_text("".join(lines) + behind)
    ends = [sum(map(len, lines[: count + 1])) for count in range(steps)]
    times = "".join(f"{end},{0.5 * (count + 1):.6f}\n" for count, end in enumerate(ends))
    folder.arrivals_path("host").write_text("end_byte,at_s\n" + times)
    return folder


@pytest.mark.parametrize(("steps", "ended", "status", "code"), sources.table("enough.toml")["ended_by_us"])
def test_what_a_launcher_says_of_being_ended_is_no_failure_where_we_ended_it(steps, ended, status, code, tmp_path):
    folder = folder_with(tmp_path, steps, behind=ENDED)
    folder.write_outcome(Outcome(reason="we said so" if "enough" in ended else "", **ended))

    measured = measurement.measurement(folder)

    assert (measured.status, measured.value) == (status, 32 / 0.5 if status == "ok" else None)
    assert [finding.name for finding in measured.findings if finding.code == "D25" and finding.noted] == code
    assert ended["status"] != "failed" or measured.reason == "we said so"


@pytest.mark.parametrize(("why", "status"), [("window", "stopped_as_planned"), ("no_limit", "stopped_as_planned"),
                                             ("hung", "completed"), ("silent", "failed")])  # fmt: skip
def test_the_end_of_a_run_says_whether_it_was_planned(why, status):
    found = runner._ended(why)

    assert (found.status, found.enough, found.ended_well) == (status, why, status != "failed")


@pytest.mark.parametrize("exit_code", [0, 143, -15])
def test_a_log_that_ends_in_the_middle_of_a_line_is_whole_where_its_run_was_stopped_as_planned(exit_code, tmp_path):
    folder = folder_with(tmp_path, 7, behind="Epoch: [0][   8/20")
    folder.write_outcome(Outcome(status="stopped_as_planned", reason="", enough="window", exit_code=exit_code))

    measured = measurement.measurement(folder)

    assert (measured.status, measured.value) == ("ok", 32 / 0.5)
    assert "log_cut" not in [finding.name for finding in measured.findings]


def silent(folder, seconds):
    ago = time.time() - seconds
    os.utime(folder.log_path("host"), (ago, ago))
    return folder


def enough(folder, recipe=None, **asked):
    launcher = replace(LAUNCHER, dialects=catalogue.known(), **asked)
    return make_enough(Run(case=SHORT, repeat=0), recipe or toynet().recipes[0], folder, launcher)()


@pytest.mark.parametrize(("steps", "seconds", "why"), sources.cases("enough.toml")["script_falls_silent"])
def test_a_script_that_falls_silent_hangs_behind_its_last_step_and_between_steps_after_much_longer(
    steps, seconds, why, tmp_path
):
    assert enough(silent(folder_with(tmp_path, steps, behind="" if steps else "compiling\n"), seconds)) == why


@pytest.mark.parametrize("limit", [True, False])
@pytest.mark.parametrize("steps", [1, 5, 6, 7, 50])
def test_enough_is_when_the_last_measured_step_has_been_seen_where_there_is_no_limit_or_it_is_asked_for(
    limit, steps, tmp_path
):
    recipe = toynet(**({} if limit else {"step_bound": "none"})).recipes[0]

    found = enough(folder_with(tmp_path, steps), recipe, **({"stop_after_window": True} if limit else {}))

    assert found == (None if steps < 6 else "window" if limit else "no_limit")


def test_a_script_that_was_silent_for_long_before_is_given_many_times_that(tmp_path):
    folder = folder_with(tmp_path, 3)
    ends = [sum(len(LINE.format(step)) for step in range(1, last + 1)) for last in (1, 2, 3)]
    times = "".join(f"{end},{at:.6f}\n" for end, at in zip(ends, (100.0, 130.0, 160.0), strict=True))
    folder.arrivals_path("host").write_text("end_byte,at_s\n" + times)

    found = [enough(silent(folder, MIDWAY_TIMES * 100.0 + seconds)) for seconds in (-60, 60)]

    assert found == [None, "silent"]
