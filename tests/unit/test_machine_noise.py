"""What is found without the runs that other programs disturbed, beside what is found with all."""

from dataclasses import replace

import synthetic
from test_answers import SEVEN, case

from evalsuite.findings import BusyMachine
from evalsuite.results.compare.answers import answers
from evalsuite.results.rules.machine_noise import with_and_without


def summary(framework, speeds, busy=()):
    of = case(framework, (1, 2))
    runs = [synthetic.measured(of, k, speed) for k, speed in enumerate(speeds)]
    return synthetic.summary(
        replace(run, findings=(BusyMachine(others=0.4, where=f"{of.id}/r{k}"),)) if k in busy else run
        for k, run in enumerate(runs)
    )


def both(*summaries):
    planned = [one.case for one in summaries]
    return with_and_without(answers(summaries, planned), summaries, planned)


def test_nothing_is_asked_again_where_no_run_was_disturbed():
    assert both(summary("mxnet", SEVEN), summary("pytorch", [2 * each for each in SEVEN])) == ()


def test_a_winner_that_lost_time_to_other_programs_wins_without_those_runs():
    slowed = [100.0 * each for each in SEVEN] + [60.0] * 7
    steady = [95.0 * each for each in SEVEN]

    (found,) = both(summary("mxnet", slowed, busy=range(7, 14)), summary("pytorch", steady))

    assert found.undisturbed.leaders[0].summary.case.framework == "mxnet"
    assert (found.undisturbed.said, found.changes) == ("fastest", True)
    assert (found.disturbed_runs, found.runs) == (7, 21)


def test_a_disturbed_run_that_decides_nothing_changes_nothing_and_where_all_were_nothing_is_left_to_say():
    fast, slow = [100.0 * each for each in SEVEN], [50.0 * each for each in SEVEN]

    (one,) = both(summary("mxnet", [*fast, 99.0], busy=[7]), summary("pytorch", slow))
    (every,) = both(summary("mxnet", fast, busy=range(7)))

    assert not one.changes
    assert (every.undisturbed.said, every.undisturbed.ranked, every.changes) == ("none", (), True)
