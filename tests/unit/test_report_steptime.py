"""The section on what a step is made of: its table and its other forms (docs/numbers.md)."""

import pages
import pytest
import synthetic

from evalsuite.report.book.blocks import models
from evalsuite.report.book.book import Book
from evalsuite.report.sections.steptime import steptime
from evalsuite.report.text import numbers


@pytest.fixture(scope="module")
def section(built):
    return built("timers").section("steptime")


def tables():
    book = Book(evaluation=synthetic.timers())
    return steptime.step_times(models(book))


def test_each_kind_of_timer_has_a_table(section):
    captions = [table.one("caption").text("en") for table in section.all("table", class_="values")]

    of_step, of_task = "step-time breakdown", "breakdown of a task of several steps"
    assert [caption.rpartition(": ")[2] for caption in captions] == [of_step, of_step, of_task]


def test_a_phase_that_was_not_recorded_is_said_to_be_so_and_is_no_zero(section):
    table = section.all("table", class_="values")[0]

    heads = [head.text("en") for head in table.one("thead").all("th")]
    alone, pair, *_ = pages.rows(table)

    assert heads[2:8] == ["Total step time", "Data", "Forward + backward", "All-reduce", "Apply gradients", "Rest"]
    assert (alone[5], alone[-1]) == ("n/r", "n/r")
    assert pair[5].endswith("18.0%")


def test_a_phase_inside_another_stands_behind_it_and_is_not_added_twice_and_a_table_keeps_to_one_unit():
    task = next(table for table in tables() if table.of == "task")
    row = next(row for row in task.rows if row.summary.case.total_devices == 2)

    expected = {**{"forward_backward": None, "allreduce": None}, **{"tensor_copy": "allreduce", "optimiser": None}}
    assert dict(task.phases) == expected
    assert row.rest["time"].raw == pytest.approx(8.44 - 0.49 - 7.25 - 0.6)
    assert not row.overlaps
    for table in tables():
        units = {row.whole.text.partition(numbers.NARROW_SPACE)[2] for row in table.rows}
        assert units == ({"s"} if table.of == "task" else {"ms"})


def test_phases_that_overlap_are_flagged_in_the_row_and_the_findings(section, built):
    twice = section.all("table", class_="values")[1]
    findings = built("timers").summary["findings"]

    assert "⚠" in pages.rows(twice)[0][2]
    assert {finding["code"] for finding in findings if "oneflow" in finding["where"]} >= {"D18"}


@pytest.mark.parametrize(
    ("whole_s", "allreduce_s", "shown"),
    [(143.789, 33.6484, "10 : 3.06"), (1000.0, 10.0, "10 : 0.101"), (1.0, 1.0, "0 : 10")],
)
def test_computation_to_communication_is_ten_to_one_number(whole_s, allreduce_s, shown):
    assert str(steptime.ratio(whole_s, allreduce_s)) == shown


def test_csv_and_summary_json_have_every_phase_and_null_where_no_log_has_timers(built):
    rows = [row for row in built("timers").table("phases") if "oneflow" in row["case_id"]]
    summaries = built("timers").summary["summaries"]
    of = {(row["case"]["framework"], row["case"]["total_devices"]): row["breakdown"] for row in summaries}

    shares = [(row["phase"], row["share"]) for row in rows[:3]]
    assert shares == [("whole", "1.0"), ("forward", "0.7"), ("backward", "0.6")]
    assert of["mxnet", 1] is None
    assert of["elasticdl", 2]["phases"][-1] == {"name": "tensor_copy", "seconds": 5.78, "parent": "allreduce"}
