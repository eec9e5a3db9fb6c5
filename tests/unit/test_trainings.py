"""Trainings with their loss over steps: seeds, slope, resumed runs, epochs to a target."""

import random
from dataclasses import replace

import pytest

from evalsuite.core.model import Target
from evalsuite.logs.steps import doubts
from evalsuite.results import evaluation
from evalsuite.results.measure import convergence
from evalsuite.runs.store import Store
from tests import runfolders
from tests.runfolders import Host, Printed
from tests.toys import CASE, COMMAND

CASE = replace(CASE, framework="jax", model="patterns_cifar10", recipe="reference-patterns", batch_per_device=64)
RECIPE = replace(COMMAND.recipe, dialect="reference_training")
STEPS, EVERY = 400, 10
TARGET = Target(model="patterns_cifar10", metric="top1", value=78.0, epochs=40)


def loss_at(step, pace=60.0):
    return 0.9 + 1.8 * 2.0 ** (-step / pace)


def training(seed, *, loss=loss_at, noise=0.15, steps=range(1, STEPS + 1), best=84.0):
    """Lines of one training; *steps*: the numbers as printed, once more where it was resumed."""
    chance, lines = random.Random(seed), []
    for step in steps:
        lines.append(f"reference training: step={step} loss={loss(step) + chance.gauss(0, noise):.6f} seconds=0.020000")
        if step % EVERY == 0:
            top1 = best - 75 * 2.0 ** (-step / 60.0) + chance.gauss(0, 0.3)
            lines.append(f"reference training: epoch={step // EVERY} validation_top1={top1:.3f}")
    return lines


def finish(runs, repeat, lines, case=CASE, **ended):
    pace = 0.02 * (1 + 0.01 * repeat)
    arrivals = [2.0 + pace * number for number in range(len(lines))]
    return runfolders.finished(
        runs, Host(printed=[Printed(lines=lines, arrivals_s=arrivals)]), case, repeat, RECIPE, **ended
    )


def evaluated(runs, **changes):
    return replace(evaluation.evaluate(Store(runs)), targets=(TARGET,), **changes)


def summary_of(runs, *logs, case=CASE):
    """The summary of *logs*, repeats of one case, and the codes of what is found."""
    for repeat, lines in enumerate(logs):
        finish(runs, repeat, lines, case)
    found = evaluated(runs)
    return found.summaries[0], {finding.code: finding for finding in found.findings}


SEEDS = [training(seed) for seed in range(5)]
RESUMED = [*range(1, 156), *range(151, STEPS + 1)]


@pytest.mark.parametrize(
    ("logs", "seeds"),
    [
        ([SEEDS[0]] * 5, 1),
        ([*SEEDS[:3], SEEDS[0]], 3),
        ([*SEEDS[:2], training(3, steps=RESUMED)], 2),  # a resumed run is no seed
        ([*SEEDS[:2], [*SEEDS[3][:250], "loss: nan"]], 2),  # nor a diverged one
    ],
)
def test_seeds_are_whole_trainings_that_differ(tmp_path, logs, seeds):
    summary, _ = summary_of(tmp_path, *logs)

    assert len(convergence.seeds_of(summary)) == seeds


@pytest.mark.parametrize(
    ("loss", "noise", "flagged"),
    [
        (lambda step: 2.3, 0.01, True),  # nothing is learned
        (lambda step: 1.0 + step / 400, 0.1, True),  # diverges slowly
        (lambda step: 2.3, 2.0, False),  # of so much noise nothing is said
        (loss_at, 0.15, False),
        (lambda step: 2.3 if step < 20 else 1.0, 0.3, False),  # falls at once, then is flat
        (lambda step: 7.0 - step / 2000, 0.01, False),  # falls by 1.4 % in the 286 steps that are looked at
        (lambda step: 2.3, 0.0, False),  # never changes: told by loss_constant
        (lambda step: 1e200 if step == 9 else loss_at(step), 0.15, False),
    ],
)
def test_a_loss_that_does_not_fall_is_flagged_and_noise_is_not(tmp_path, loss, noise, flagged):
    _, codes = summary_of(tmp_path, training(1, loss=loss, noise=noise))

    assert ("training" in codes) is flagged


@pytest.mark.parametrize(("reports", "fallen"), [(8, 0.02), (10, 0.02), (40, 0.01), (120, 0.01)])
def test_noise_without_a_trend_seldom_shows_a_fall(reports, fallen):
    chance = random.Random(3)
    shown = [doubts.fall([2.3 + chance.gauss(0, 0.02) for _ in range(reports)]) for _ in range(1000)]

    assert sum(first - last > error for first, last, error in shown) <= 1000 * fallen


@pytest.mark.parametrize(
    ("last", "ended"),
    [
        (training(4, best=77.0), {}),
        ([*SEEDS[4][:300], "loss:       nan"], {}),
        (SEEDS[4][:300], {"status": "timed_out", "exit_code": None}),  # survivors do not stand for it
    ],
)
def test_a_training_that_does_not_arrive_leaves_its_case_without_a_time(tmp_path, last, ended):
    finish(tmp_path, 4, last, **ended)
    summary, _ = summary_of(tmp_path, *SEEDS[:4])

    found = convergence.arrivals(summary, TARGET)

    assert (found.trainings, len(found.epochs), found.seconds_each, found.epochs_each) == (5, 4, None, None)
