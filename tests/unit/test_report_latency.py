from dataclasses import replace

import pytest
import synthetic

from evalsuite.report import blocks, latency
from evalsuite.report.cells import Book


def rows(times, repeats=5):
    of = synthetic.case(protocol=synthetic.FULL)
    runs = [synthetic.measured(of, k, 38.0) for k in range(repeats)]
    runs = [
        replace(run, throughput=replace(run.throughput, step_time_s=tuple(t * (1 + k) for t in times)))
        for k, run in enumerate(runs)
    ]
    book = Book(evaluation=synthetic.evaluation([synthetic.summary(runs)]))
    (model,) = blocks.models(book)
    return latency.rows(book, model)


def test_percentiles_are_those_of_each_run_and_then_the_median_over_repeats():
    (row,) = rows([k / 1000 for k in range(1, 101)])

    assert [number.raw for number in row.percentiles] == pytest.approx([0.150, 0.270, 0.297])
    assert [number.text for number in row.percentiles] == ["150.0\u202fms", "270.0\u202fms", "297.0\u202fms"]


def test_a_percentile_without_a_report_beyond_it_is_not_given():
    (row,) = rows([0.1] * 10)  # each the mean of ten steps

    assert [number is None for number in row.percentiles] == [False, False, True]
    assert row.percentiles[0].text == "300.0\u202fms"  # the median repeat is three times as slow as the first
    assert (row.reports, row.steps_per_report) == (10, 10.0)


def test_cases_without_step_times_have_no_row():
    assert rows([]) == ()
