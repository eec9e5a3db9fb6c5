import pytest
import reports
import synthetic

from evalsuite.core.model import Machine
from evalsuite.finished import finished
from evalsuite.finished.history import history
from tests import sources


def read(tmp_path, *summaries):
    """One report for each summary, as (id, report)."""
    return [
        (f"r{place}", finished.read(reports.written(tmp_path / f"{place}", reports.evaluation(summary))))
        for place, summary in enumerate(summaries)
    ]


def outcomes(line):
    return [point.change and point.change.outcome for point in line.points]


def test_the_measurements_of_a_case_stand_in_the_order_of_their_dates(tmp_path):
    past = history(read(tmp_path, reports.summary(day=9), reports.summary(reports.SLOWER, day=2)))

    assert [point.report for point in past.lines[0].points] == ["r1", "r0"]
    assert outcomes(past.lines[0]) == [None, "faster"] and past.tested == 1


@pytest.mark.parametrize(("later", "outcome", "regressed_by"), sources.cases("history.toml")["full_measurements"])
def test_a_full_measurement_is_compared_with_the_last_full_one_before_it(tmp_path, later, outcome, regressed_by):
    days = [reports.summary(speeds, day=day) for day, speeds in enumerate((reports.STEADY, *later), 1)]

    past = history(read(tmp_path, *days))

    assert outcomes(past.lines[0]) == [None, *outcome]
    assert [line.judged.report for line in past.regressions] == list(regressed_by)


@pytest.mark.parametrize("nights", range(4, 12))
def test_a_loss_every_night_is_called_against_the_best_from_the_fourth_night_on(tmp_path, nights):
    days = [reports.summary([speed * 0.955**day for speed in reports.STEADY], day=day + 1) for day in range(nights)]

    assert history(read(tmp_path, *days)).lines[0].slowed


def test_another_machine_is_another_line_and_a_case_without_a_value_has_none(tmp_path):
    other = reports.summary(reports.SLOWER, day=2, environment=Machine(name="other"))
    past = history(read(tmp_path, reports.summary(), other))
    none = history(read(tmp_path / "none", synthetic.summary([synthetic.failed(synthetic.case(), 0, "Killed")])))

    assert (len(past.lines), past.regressions) == (2, ())
    assert (none.lines, none.undated) == ((), ())


def test_a_report_with_more_repeats_of_the_same_runs_replaces_the_smaller_one(tmp_path):
    past = history(read(tmp_path, reports.summary(reports.STEADY[:3]), reports.summary(reports.STEADY)))

    assert [point.report for point in past.lines[0].points] == ["r1"]
    assert outcomes(past.lines[0]) == [None]


def test_a_result_without_a_date_is_listed_and_compared_with_nothing(tmp_path):
    of = synthetic.case("mxnet", protocol=synthetic.FULL)
    undated = synthetic.summary(
        [synthetic.replace(run, started_at=None) for run in reports.summary(reports.SLOWER, of=of).measurements]
    )
    past = history(read(tmp_path, reports.summary(of=of), undated, undated))

    assert [len(line.points) for line in past.lines] == [1]
    assert [line.last.report for line in past.undated] == ["r1", "r2"]
    assert {line.last.change for line in past.undated} == {None}
    assert past.regressions == () and past.tested == 0
