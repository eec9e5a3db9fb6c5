"""Where a series stops to scale: the first step below the threshold."""

from dataclasses import replace

import pytest
import synthetic

from evalsuite.core.model import Utilisation
from evalsuite.report.sections.why import why
from evalsuite.report.text import words
from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.judge import breaks

SCALES = ((1, 1), (1, 8), (2, 8), (4, 8))


def ladder(*rates, spread=0.01, framework="pytorch", repeats=5):
    """A series over SCALES: its medians, each with runs up to *spread* apart from it."""
    return [
        synthetic.summary(
            synthetic.measured(case, repeat, rate * (1 + spread * (repeat - repeats // 2) / max(1, repeats // 2)))
            for repeat in range(repeats)
        )
        for rate, (nodes, per_node) in zip(rates, SCALES, strict=False)
        for case in [synthetic.case(framework, (nodes, per_node))]
    ]


def drops(rows):
    return [ladder.broken for ladder in breaks.ladders(with_scaling(rows), 0.8) if ladder.broken]


def test_the_first_step_below_the_threshold_is_found_by_each_doubling():
    (drop,) = drops(ladder(100, 780, 1100, 1300))
    assert tuple(row.case.scale for row in drop) == ("1x8", "2x8")

    # 64 % of 8 devices are 86 % a doubling: above the threshold, though 64 % is below it
    assert drops(ladder(100, 512, 1024, 2048)) == drops(ladder(100, 800, 1600, 3200)) == []
    assert breaks.ladders(with_scaling(ladder(100)), 0.8) == ()


def test_a_loss_at_the_same_step_is_said_once_for_all_settings_of_a_precision():
    found = [
        replace(rung, case=replace(rung.case, batch_per_device=batch, precision="amp"))
        for batch in (8, 16, 32)
        for rung in ladder(100, 780, 900 + batch, 1800 + 2 * batch)
    ]
    alone = ladder(100, 780, 1500, 2950)

    said = [loss.plain("en") for loss in why.losses(breaks.ladders(with_scaling([*found, *alone]), 0.8), words.read())]

    assert said == [
        "AMP: loses 39.2–40.8% of ideal scaling at the first crossing of nodes, 1×8 → 2×8 in 3 of 3 settings."
    ]


@pytest.mark.parametrize(
    ("about", "before", "after", "said"),
    [
        ({}, {}, {}, "Nothing was sampled, so why is not known."),
        ({}, {"job_cpu": 99}, {"job_cpu": 95}, "One process alone keeps 99.0% of the cores busy, and 8 share them."),
        ({"cores_per_device": 1}, {"cpu": 99}, {"cpu": 95}, "4×8 than at 1×1: for 92.3% of what is added the cores"),
        ({"cores_per_device": 1}, {"cpu": 99}, {"cpu": 39, "network_send": 65}, "; the network runs at 65.0% of "),
        ({"device": "gpu"}, {"gpu": 97, "cpu": 20}, {"gpu": 61, "cpu": 96, "network_send": 20}, "; the hosts’ CPUs"),
        (
            {"device": "gpu"},
            {"gpu": 97},
            {"gpu": 61},
            "for 63.6% they wait; what for is not known, as the script times no phase.",
        ),
    ],
)
def test_the_samples_of_the_smallest_and_largest_scale_tell_why_or_that_they_do_not(about, before, after, said):
    found = [replace(row, case=replace(row.case, **about), utilisation=()) for row in ladder(100, 780, 1100, 1300)]
    found[0], found[-1] = (
        replace(row, utilisation=tuple(used(*each) for each in of.items()))
        for row, of in ((found[0], before), (found[-1], after))
    )
    (one,) = breaks.ladders(with_scaling(found), 0.8)

    assert said in why.reason(one, words.read()).plain("en")


@pytest.mark.parametrize(("busy", "said"), [(99, ["8", "16"]), (98, ["One process alone"])])
def test_a_card_has_the_reason_of_each_setting_and_what_holds_of_all_once(busy, said):
    about = [(row, n, share) for n, share in ((8, 98), (16, busy)) for row in ladder(100, 780, 1100, 1300)]
    alike = [(replace(row, utilisation=(used("job_cpu", share),)), n) for row, n, share in about]
    found = with_scaling(replace(row, case=replace(row.case, batch_per_device=n)) for row, n in alike)
    rows = [{"setting": at.last.case.batch_per_device, "ladder": at} for at in breaks.ladders(found, 0.8)]

    assert [text.plain("en").partition(":")[0][:17] for text in why._reasons(rows, words.read())] == said


def used(resource, mean):
    figures = {"unit": "%", "mean": float(mean), "p5": 0.0, "p95": 100.0, "capacity": 100.0}
    return Utilisation(resource=resource, samples=9, coverage=1.0, **figures)
