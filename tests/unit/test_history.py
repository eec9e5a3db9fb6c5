import reports
import synthetic

from evalsuite.model import Machine
from evalsuite.report.data import finished
from evalsuite.site.history import history

CREEPING = [tuple(value - 0.25 * step for value in reports.STEADY) for step in range(8)]


def read(tmp_path, *summaries):
    """One report for each summary, as (id, report)."""
    return [
        (f"r{place}", finished.read(reports.written(tmp_path / f"{place}", reports.evaluation(summary))))
        for place, summary in enumerate(summaries)
    ]


def outcomes(line):
    return [point.change and point.change.outcome for point in line.points]


def test_the_measurements_of_a_case_stand_in_the_order_of_their_dates(tmp_path):
    found = history(read(tmp_path, reports.summary(day=9), reports.summary(reports.SLOWER, day=2)))

    assert [point.report for point in found.lines[0].points] == ["r1", "r0"]
    assert outcomes(found.lines[0]) == [None, "faster"]


def test_a_slower_version_is_a_regression(tmp_path):
    found = history(read(tmp_path, reports.summary(), reports.summary(reports.SLOWER, day=2, version="2.1")))

    assert [line.last.versions for line in found.regressions] == [("2.1",)]
    assert (found.tested, found.expected_by_chance) == (1, 0.05)


def test_a_regression_that_was_mended_is_none_any_more(tmp_path):
    found = history(
        read(
            tmp_path, reports.summary(), reports.summary(reports.SLOWER, day=2), reports.summary(reports.FASTER, day=3)
        )
    )

    assert outcomes(found.lines[0]) == [None, "slower", "faster"]
    assert found.regressions == ()


def test_few_repeats_cannot_tell_and_are_counted_as_such(tmp_path):
    found = history(read(tmp_path, reports.summary(), reports.summary(reports.SLOWER[:3], day=2)))

    assert outcomes(found.lines[0]) == [None, "cannot_tell"]
    assert found.regressions == ()
    assert len(found.untold) == 1


def test_a_slowdown_that_creeps_in_is_seen_against_the_best_so_far(tmp_path):
    days = [reports.summary(speeds, day=day) for day, speeds in enumerate(CREEPING, 1)]

    line = history(read(tmp_path, *days)).lines[0]

    assert set(outcomes(line)) == {None, "no_difference"}
    assert line.regressed
    assert line.since_best.before.measurements[0].started_at.startswith("2026-11-01")


def test_another_machine_is_another_line(tmp_path):
    other = reports.summary(reports.SLOWER, day=2, environment=Machine(name="other"))
    found = history(read(tmp_path, reports.summary(), other))

    assert len(found.lines) == 2
    assert found.regressions == ()


def test_a_report_with_more_repeats_of_the_same_runs_replaces_the_smaller_one(tmp_path):
    found = history(read(tmp_path, reports.summary(reports.STEADY[:3]), reports.summary(reports.STEADY)))

    assert [point.report for point in found.lines[0].points] == ["r1"]
    assert outcomes(found.lines[0]) == [None]


def test_a_result_without_a_date_is_listed_and_compared_with_nothing(tmp_path):
    of = synthetic.case("mxnet", protocol=synthetic.FULL)
    undated = synthetic.summary(
        [synthetic.replace(run, started_at=None) for run in reports.summary(reports.SLOWER, of=of).measurements]
    )
    found = history(read(tmp_path, reports.summary(of=of), undated, undated))

    assert [len(line.points) for line in found.lines] == [1]
    assert [line.last.report for line in found.undated] == ["r1", "r2"]
    assert {line.last.change for line in found.undated} == {None}
    assert found.regressions == () and found.tested == 0


def test_a_case_without_a_value_has_no_history(tmp_path):
    found = history(read(tmp_path, synthetic.summary([synthetic.failed(synthetic.case(), 0, "Killed")])))

    assert (found.lines, found.undated) == ((), ())


def test_a_measurement_that_cannot_tell_does_not_hide_the_regression_before_it(tmp_path):
    found = history(
        read(tmp_path, reports.summary(), reports.summary(reports.SLOWER, day=2), reports.summary((91.0, 91.2), day=3))
    )

    assert outcomes(found.lines[0]) == [None, "slower", "cannot_tell"]
    assert found.regressions[0].judged.report == "r1"


def test_a_full_measurement_is_compared_with_the_last_full_one_before_it(tmp_path):
    found = history(
        read(tmp_path, reports.summary(), reports.summary((91.0, 91.2), day=2), reports.summary(reports.SLOWER, day=3))
    )

    assert outcomes(found.lines[0]) == [None, "cannot_tell", "slower"]


MODELS = ("resnet50_v1.5", "bert_base", "gpt2")


def campaign(tmp_path, name, day, *, factors=(1.0, 1.0, 1.0), speeds=reports.STEADY, version="2.0"):
    """A report of three cases, each as fast as its factor says."""
    cases = [synthetic.case(model=model, recipe=f"reference-{model}", protocol=synthetic.FULL) for model in MODELS]
    found = [
        reports.summary([value * factor for value in speeds], day=day, version=version, of=case)
        for case, factor in zip(cases, factors, strict=True)
    ]
    return name, finished.read(reports.written(tmp_path / name, reports.evaluation(*found)))


def test_where_all_cases_are_slower_together_none_is_called_a_regression(tmp_path):
    found = history([campaign(tmp_path, "a", 1), campaign(tmp_path, "b", 2, factors=(0.58, 0.33, 0.4))])

    (move,) = found.slowed_together
    assert (move.before, move.after, move.together.cases) == ("a", "b", 3)
    assert (round(move.together.least, 2), round(move.together.most, 2)) == (0.42, 0.67)
    assert found.regressions == ()


def test_repeats_too_few_for_a_regression_are_enough_to_say_that_all_moved_together(tmp_path):
    few = reports.STEADY[:3]
    found = history(
        [campaign(tmp_path, "a", 1, speeds=few), campaign(tmp_path, "b", 2, speeds=few, factors=(0.5, 0.5, 0.5))]
    )

    assert len(found.slowed_together) == 1
    assert (found.regressions, found.untold) == ((), ())


def test_where_one_case_alone_is_slower_it_stays_a_regression(tmp_path):
    found = history([campaign(tmp_path, "a", 1), campaign(tmp_path, "b", 2, factors=(0.5, 1.0, 1.001))])

    assert found.slowed_together == ()
    assert [line.case.model for line in found.regressions] == ["resnet50_v1.5"]


def test_what_was_slower_before_all_moved_together_stays_a_regression(tmp_path):
    found = history(
        [
            campaign(tmp_path, "a", 1),
            campaign(tmp_path, "b", 2, factors=(0.5, 1.0, 1.001)),
            campaign(tmp_path, "c", 3, factors=(0.4, 0.8, 0.8)),
        ]
    )

    assert [(one.before, one.after) for one in found.slowed_together] == [("b", "c")]
    assert [line.case.model for line in found.regressions] == ["resnet50_v1.5"]


def test_a_loss_that_all_cases_made_up_for_is_past(tmp_path):
    found = history(
        [
            campaign(tmp_path, "a", 1),
            campaign(tmp_path, "b", 2, factors=(0.5, 0.5, 0.5)),
            campaign(tmp_path, "c", 3),
        ]
    )

    assert (found.slowed_together, found.regressions) == ((), ())
    assert [one.together.outcome for one in found.moves] == ["slower", "faster"]
