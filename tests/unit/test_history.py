import reports
import synthetic

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
    found = history(read(tmp_path, reports.summary(), reports.summary(reports.SLOWER, day=2, environment="other")))

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
