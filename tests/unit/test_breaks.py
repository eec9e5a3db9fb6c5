"""Where a series stops to scale: the first step below the threshold, and what is recorded beside it."""

from dataclasses import replace

import pytest
import synthetic

from evalsuite.core.model import Breakdown, Phase, Utilisation
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
    assert (drop.before.case.scale, drop.after.case.scale) == ("1x8", "2x8")

    # 64 % of 8 devices are 86 % a doubling: above the threshold, though 64 % is below it
    assert drops(ladder(100, 512, 1024, 2048)) == drops(ladder(100, 800, 1600, 3200)) == []
    assert breaks.ladders(with_scaling(ladder(100)), 0.8) == ()


def test_what_is_recorded_to_differ_is_listed_and_nothing_is_made_up():
    base, small, large, largest = ladder(100, 780, 1100, 1300)

    def with_records(drop, waited, network):
        phases = () if waited is None else (Phase(name="allreduce", seconds=waited),)
        used = Utilisation(
            resource="network_send", unit="bytes/s", mean=network, p5=0, p95=0, samples=9, coverage=1, capacity=1e9
        )
        return replace(drop, breakdown=Breakdown(seconds=1.0, phases=phases), utilisation=(used,))

    told = (base, with_records(small, 0.1, 1e8), with_records(large, 0.4, 9e8), largest)
    untold = ladder(100, 780, 1500, 1700)

    (drop,) = drops(told)
    (other,) = drops(untold)
    assert [(change.key, change.before, change.after) for change in drop.changes] == [
        ("communication", 0.1, 0.4),
        ("network", 1e8, 9e8),
    ]
    assert drop.changes[1].of_capacity == pytest.approx(0.9)
    assert other.after.case.scale == "4x8" and other.changes == ()


def test_a_host_alone_that_sends_next_to_nothing_is_said_to_send_about_nothing():
    first, base, *others = ladder(100, 780, 820, 860)
    chat = Utilisation(resource="network_send", unit="bytes/s", mean=4.5, p5=0, p95=0, samples=9, coverage=1)
    used = replace(chat, mean=7e7)

    for before in ((chat,), (replace(chat, mean=0.0),)):
        rows = (first, replace(base, utilisation=before), *(replace(o, utilisation=(used,)) for o in others))
        (drop,) = drops(rows)
        said = why.describe_change(drop.changes[-1], words.read()).plain("en")

        assert said.replace("\u202f", " ").replace("\u00a0", " ") == "network ≈ 0 → 70.0 MB/s"


def test_what_was_not_recorded_before_is_absent_and_not_zero():
    base, small, large, largest = ladder(100, 780, 1100, 1300)
    large = replace(large, breakdown=Breakdown(seconds=1.0, phases=(Phase(name="allreduce", seconds=0.3),)))

    (drop,) = drops((base, small, large, largest))

    assert [(change.key, change.before) for change in drop.changes] == [("communication", None)]


def test_a_loss_at_the_same_step_is_said_once_for_all_settings_of_a_precision():
    found = [
        replace(rung, case=replace(rung.case, batch_per_device=batch, precision="amp"))
        for batch in (8, 16, 32)
        for rung in ladder(100, 780, 900 + batch, 1800 + 2 * batch)
    ]
    alone = ladder(100, 780, 1500, 2950)

    said = [loss.plain("en") for loss in why.losses(breaks.ladders(with_scaling([*found, *alone]), 0.8), words.read())]

    assert said == ["AMP: loses 40.3–41.8% at the first crossing of nodes (1×8 → 2×8) in 3 of 3 settings."]
