"""Scripts without a step limit, or that hang at their end, are ended after the last measured step."""

import os
import time
from dataclasses import replace

import pytest

from evalsuite.launch import runner
from evalsuite.launch.watching import MIDWAY_S, MIDWAY_TIMES, SILENT_S, make_enough
from evalsuite.logs import catalogue
from evalsuite.model import Protocol, Run
from evalsuite.results.measure import measurement
from evalsuite.runs.endings import Outcome
from evalsuite.runs.store import RunFolder
from tests.toys import CASE, COMMAND, toynet

HOUSE = catalogue.known()
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


def test_a_script_with_a_limit_of_its_own_is_not_ended_while_it_speaks(tmp_path):
    recipe = toynet().recipes[0]

    assert make_enough(Run(case=SHORT, repeat=0), recipe, folder_with(tmp_path, 50), HOUSE)() is None


@pytest.mark.parametrize(("steps", "why"), [(6, "hung"), (5, None)])
def test_a_script_that_falls_silent_behind_its_last_step_hangs(steps, why, tmp_path):
    folder = folder_with(tmp_path, steps)
    long_ago = time.time() - 2 * SILENT_S
    os.utime(folder.log_path("host"), (long_ago, long_ago))

    assert make_enough(Run(case=SHORT, repeat=0), toynet().recipes[0], folder, HOUSE)() == why


def test_a_run_that_hung_keeps_its_number_and_says_so(tmp_path):
    folder = folder_with(tmp_path, 7, behind=ENDED)
    folder.write_outcome(Outcome(status="completed", reason="ended", enough="hung", exit_code=143))

    measured = measurement.measurement(folder)

    assert (measured.status, measured.value) == ("ok", 32 / 0.5)
    assert "hung_at_end" in [finding.code for finding in measured.findings]


@pytest.mark.parametrize(("steps", "why"), [(5, None), (6, "window"), (50, "window")])
def test_a_script_with_a_limit_is_ended_after_the_window_where_that_is_asked_for(steps, why, tmp_path):
    folder = folder_with(tmp_path, steps)

    assert make_enough(Run(case=SHORT, repeat=0), toynet().recipes[0], folder, HOUSE, stop_after_window=True)() == why


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
    assert "D25" not in [finding.code for finding in measured.findings]


def test_what_stopping_saves_is_the_rest_of_the_epoch_where_the_log_says_how_long_it_is(tmp_path):
    def left(status, enough, items):
        outcome = Outcome(status=status, reason="", enough=enough, exit_code=0)
        throughput = measurement.measurement(whole(tmp_path)).throughput
        return measurement._left_s(SHORT, outcome, throughput, items)

    assert left("stopped_as_planned", "window", 64_000.0) == (64_000 - 6 * 32) / 64.0
    assert left("stopped_as_planned", "window", None) is None
    assert left("completed", None, 64_000.0) is None


def whole(tmp_path):
    folder = RunFolder(tmp_path)
    if not folder.finished:
        folder = folder_with(tmp_path, 7)
        folder.write_outcome(Outcome(status="completed", reason="", exit_code=0))
    return folder


def test_enough_is_when_the_last_measured_step_has_been_seen(tmp_path):
    recipe = toynet(step_bound="none").recipes[0]
    run = Run(case=SHORT, repeat=0)

    seen = [make_enough(run, recipe, folder_with(tmp_path / str(steps), steps), HOUSE)() for steps in (1, 5, 6, 7)]

    assert seen == [None, None, "no_limit", "no_limit"]


def test_what_a_launcher_says_of_being_ended_is_no_failure(tmp_path):
    folder = folder_with(tmp_path, 7, behind=ENDED)
    folder.write_outcome(Outcome(status="completed", reason="ended", enough="no_limit", exit_code=143))

    measured = measurement.measurement(folder)

    assert measured.status == "ok"
    assert measured.value == 32 / 0.5


def test_the_same_words_without_our_doing_are_one(tmp_path):
    folder = folder_with(tmp_path, 7, behind=ENDED)
    folder.write_outcome(Outcome(status="completed", reason="", exit_code=0))

    assert measurement.measurement(folder).status == "failed"


def silent(folder, seconds):
    ago = time.time() - seconds
    os.utime(folder.log_path("host"), (ago, ago))
    return folder


@pytest.mark.parametrize(("seconds", "why"), [(2 * SILENT_S, None), (MIDWAY_S - 5, None), (MIDWAY_S + 5, "silent")])
def test_a_script_that_falls_silent_between_its_steps_hangs_after_much_longer(seconds, why, tmp_path):
    folder = silent(folder_with(tmp_path, 3), seconds)

    assert make_enough(Run(case=SHORT, repeat=0), toynet().recipes[0], folder, HOUSE)() == why


def test_a_script_that_was_silent_for_long_before_is_given_many_times_that(tmp_path):
    folder = folder_with(tmp_path, 3)
    lines = [LINE.format(step) for step in range(1, 4)]
    ends = [sum(map(len, lines[: count + 1])) for count in range(3)]
    times = "".join(f"{end},{at:.6f}\n" for end, at in zip(ends, (100.0, 130.0, 160.0), strict=True))
    folder.arrivals_path("host").write_text("end_byte,at_s\n" + times)
    recipe = toynet().recipes[0]

    patient = make_enough(Run(case=SHORT, repeat=0), recipe, silent(folder, MIDWAY_TIMES * 100.0 - 5), HOUSE)()
    ended = make_enough(Run(case=SHORT, repeat=0), recipe, silent(folder, MIDWAY_TIMES * 100.0 + 5), HOUSE)()

    assert (patient, ended) == (None, "silent")


def test_a_script_without_any_step_may_be_silent_up_to_its_limit(tmp_path):
    folder = silent(folder_with(tmp_path, 0, behind="compiling\n"), 100 * MIDWAY_S)

    assert make_enough(Run(case=SHORT, repeat=0), toynet().recipes[0], folder, HOUSE)() is None


def test_a_run_that_hung_between_its_steps_failed_and_says_so_itself(tmp_path):
    folder = folder_with(tmp_path, 3, behind=ENDED)
    folder.write_outcome(Outcome(status="failed", reason="hung: no log went on", enough="silent", exit_code=143))

    measured = measurement.measurement(folder)

    assert (measured.status, measured.reason, measured.value) == ("failed", "hung: no log went on", None)
