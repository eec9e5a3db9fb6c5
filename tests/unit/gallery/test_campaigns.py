"""What two evaluations of the same software may differ by is called no change, and a common cause is said once."""

import random

import pytest
import reports
import synthetic

from evalsuite import cli
from evalsuite.findings import BusyMachine
from evalsuite.results import changes
from evalsuite.site.history import HistoryPoint, line

FRAMEWORKS = ("tensorflow", "mxnet", "paddlepaddle", "pytorch")


def shifted(share, speeds=reports.STEADY):
    return tuple(speed * (1 + share) for speed in speeds)


def outcome(share):
    found = changes.pair(reports.summary(), reports.summary(shifted(share), day=2))
    return found.outcome, found.why and found.why.key


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (-0.03, ("cannot_tell", "one_campaign")),  # significant over the runs, and two campaigns may differ so
        (0.03, ("cannot_tell", "one_campaign")),
        (-0.06, ("slower", None)),
        (0.06, ("faster", None)),
        (-0.001, ("no_difference", None)),
    ],
)
def test_one_campaign_a_side_tells_a_change_only_above_what_campaigns_differ_by(share, expected):
    assert outcome(share) == expected


def every_case(folder, share, repeats, findings=()):
    found = [
        reports.summary(shifted(share - k / 100)[:repeats], day=1 + (share != 0), of=synthetic.case(name, scale))
        for k, name in enumerate(FRAMEWORKS)
        for scale in ((1, 1), (1, 2))
    ]
    return str(reports.written(folder, reports.evaluation(*found, findings=findings)))


@pytest.mark.parametrize("repeats", [3, 5])
def test_eight_of_eight_slower_is_said_once_with_the_disturbances_first(repeats, tmp_path, capsys):
    busy = tuple(BusyMachine(others=0.5, where=f"case/r{k}") for k in range(7))
    before, after = every_case(tmp_path / "a", 0, repeats), every_case(tmp_path / "b", -0.5, repeats, busy)

    cli.main(["compare-reports", before, after])

    said = " ".join(capsys.readouterr().out.split())
    sentence = said.index("The campaigns differ (8 of 8 cases slower, 50–52%); the cause is not separable")
    assert said.index("during 0 runs of the earlier report and 7 of the later one") < sentence
    assert "are needed to call" not in said


def test_cases_that_move_apart_are_told_one_by_one(tmp_path, capsys):
    found = changes.between(
        [reports.summary(of=synthetic.case(name, protocol=synthetic.FULL)) for name in FRAMEWORKS],
        [
            reports.summary(shifted(share), day=2, of=synthetic.case(name, protocol=synthetic.FULL))
            for name, share in zip(FRAMEWORKS, (-0.5, -0.4, -0.3, 0.1), strict=True)
        ],
    )

    assert found.together is None
    assert [one.outcome for one in found.changes] == ["slower", "slower", "slower", "faster"]


def history_of(levels):
    days = [reports.summary(shifted(level), day=day) for day, level in enumerate(levels, 1)]
    return line(
        [HistoryPoint(report=f"r{k}", started_at=f"2026-11-{k + 1:02d}", summary=one) for k, one in enumerate(days)]
    )


def test_the_best_of_twenty_equal_campaigns_makes_no_regression():
    found = random.Random(1)

    regressed = sum(history_of([found.gauss(0, 0.01) for _ in range(20)]).regressed for _ in range(3))

    assert regressed == 0


def test_a_loss_above_the_scatter_of_the_campaigns_is_a_regression():
    found = random.Random(2)

    assert history_of([*(found.gauss(0, 0.005) for _ in range(10)), -0.08]).regressed
