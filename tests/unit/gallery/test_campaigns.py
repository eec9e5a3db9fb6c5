"""What two evaluations of the same software may differ by is called no change."""

import json
import random
from dataclasses import replace

import pytest
import reports
import synthetic

from evalsuite import cli
from evalsuite.results.compare import changes, decisions
from tests import sources


def shifted(share, speeds=reports.STEADY):
    return tuple(speed * (1 + share) for speed in speeds)


def outcome(share):
    change = changes.pair(reports.summary(), reports.summary(shifted(share), day=2))
    return change.outcome, change.why and change.why.key


@pytest.mark.parametrize(("share", "expected"), sources.cases("campaigns.toml")["one_campaign"])
def test_one_campaign_a_side_tells_a_change_only_above_what_campaigns_differ_by(share, expected):
    assert outcome(share) == expected


@pytest.mark.parametrize(("share", "printed"), [(-0.0496, "0.951"), (0.0496, "1.049"), (-0.06, "0.940")])
def test_a_ratio_never_prints_as_the_least_effect_that_it_is_below(share, printed):
    found = changes.pair(reports.summary(), reports.summary(shifted(share), day=2))

    assert f"{found.shown:.3f}" == printed


def of_campaigns(levels, day, repeats=2):
    """A case measured in several campaigns, each with its own level."""
    speeds = [100.0 * (1 + level + 0.001 * k) for level in levels for k in range(repeats)]
    summary = reports.summary(speeds, day=day, of=synthetic.case(protocol=synthetic.FULL))
    runs = [
        replace(run, campaign=f"{day}-{place // repeats}", round=place % repeats)
        for place, run in enumerate(summary.measurements)
    ]
    return replace(summary, measurements=tuple(runs))


SCATTERED = (0.0, 0.01, -0.01, 0.005)


def test_four_campaigns_a_side_tell_a_change_that_three_and_unknown_ones_cannot():
    before, after = of_campaigns(SCATTERED, 1), of_campaigns([level - 0.03 for level in SCATTERED], 2)
    three = of_campaigns([level - 0.03 for level in SCATTERED[:3]], 2)
    unknown = replace(after, measurements=tuple(replace(run, campaign=None) for run in after.measurements))

    change = changes.pair(before, after)
    assert (change.outcome, change.by_campaigns) == ("slower", True)
    assert change.ratio.value == pytest.approx(0.97, abs=0.002)
    for other in (three, unknown):
        change = changes.pair(before, other)
        assert (change.outcome, change.why.key, change.by_campaigns) == ("cannot_tell", "one_campaign", False)


@pytest.mark.parametrize("shift", [0.0, -0.008, 0.008, -0.015])
def test_campaigns_that_lie_among_one_another_tell_no_change_however_many_runs_they_have(shift):
    change = changes.pair(
        of_campaigns(SCATTERED, 1, repeats=8), of_campaigns([level + shift for level in SCATTERED], 2, repeats=8)
    )

    assert (change.outcome, change.by_campaigns) == ("no_difference", True)


def test_equal_campaigns_are_seldom_called_different():
    drawn = random.Random(3)

    def several(day):
        return of_campaigns([drawn.gauss(0, 0.02) for _ in range(4)], day)

    called = sum(changes.pair(several(1), several(2)).outcome != "no_difference" for _ in range(100))

    assert called <= 0.05 * 100


def test_campaigns_survive_the_way_through_a_finished_report(tmp_path, capsys):
    after = of_campaigns([level - 0.03 for level in SCATTERED], 2)
    folders = [
        str(reports.written(tmp_path / name, reports.evaluation(one)))
        for name, one in (("a", of_campaigns(SCATTERED, 1)), ("b", after))
    ]

    cli.main(["diff", "--json", *folders])

    (change,) = json.loads(capsys.readouterr().out)["changes"]
    assert (change["outcome"], change["by_campaigns"]) == ("slower", True)
    assert (change["before"]["campaigns"], change["after"]["campaigns"]) == (4, 4)


def test_a_tie_between_campaigns_is_without_a_chance_that_nobody_simulated(tmp_path):
    a = reports.summary(of=synthetic.case("mxnet", protocol=synthetic.FULL))
    b = reports.summary([speed * 0.99 for speed in reports.STEADY], day=2)

    found = decisions.rank((a, b))

    assert (found.known, found.false_exclusion) == ("scatter", None)
