"""Adaptive repeats: a case is run again only while something that it takes part in is open."""

from dataclasses import replace

import pytest

from evalsuite.launch import campaign
from evalsuite.model import Run
from evalsuite.plan import plan, spec
from evalsuite.plan.plan import Machine
from evalsuite.report.book.book import Book
from evalsuite.report.sections.quality import price
from evalsuite.report.text import words
from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.judge import stopping
from evalsuite.results.judge.criteria import Criteria, LinearSpeedup
from evalsuite.results.measure.summary import summaries
from evalsuite.runs import journal
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import Store
from tests import reports
from tests.toys import CASE, measured, toynet
from tests.unit.test_outcomes import LAUNCHER

OTHER = replace(CASE, framework="othernet")
NO_CRITERIA = Criteria()


def of(case, values):
    return [measured(case, k, value, round=k) for k, value in enumerate(values)]


def open_cases(*runs, criteria=NO_CRITERIA):
    rows = with_scaling(summaries([one for each in runs for one in each]))
    return {id.partition("-")[0] for id in stopping.unsettled(rows, criteria)}


@pytest.mark.parametrize(
    ("others", "settled"),
    [
        ((90.0, 91.0, 89.0), True),  # t = 16
        ((90.0, 94.0, 89.0), False),  # t = 6
        ((100.1, 99.9, 100.0), True),  # equal within 1.5 %
        ((98.6, 98.9, 99.3), False),  # a lead about as large as what counts
        ((90.0, 94.0, 89.0, 90.0), True),  # t = 8.4
        ((90.0, 91.0, None), False),  # a run failed: two rounds are too few
    ],
)
def test_a_further_repeat_is_made_while_neither_a_lead_nor_equality_is_clear(others, settled):
    found = open_cases(of(CASE, (100.0,) * len(others)), of(OTHER, others))

    assert found == (set() if settled else {"toynet", "othernet"})


def test_the_order_of_those_that_are_behind_the_first_needs_no_repeat():
    first, behind = of(CASE, (100.0,) * 3), [of(OTHER, (90.0, 90.1, 89.9))]
    behind += [of(replace(CASE, framework="thirdnet"), (90.6, 88.9, 89.9))]

    assert open_cases(first, *behind) == set()
    assert open_cases(*behind) == {"othernet", "thirdnet"}


def test_a_case_without_a_rival_has_the_full_repeats():
    assert open_cases(of(CASE, (100.0, 100.1, 99.9))) == {"toynet"}
    assert open_cases(of(CASE, (100.0, 100.1, 99.9, 100.0, 100.0))) == set()


def test_an_efficiency_near_its_threshold_goes_on_with_its_base():
    wide = CASE.at_scale(2, 1)
    asked = Criteria(linear_speedup=LinearSpeedup(threshold=0.8, min_nodes=2))
    base = of(CASE, (100.0, 101.0, 99.0, 100.5, 99.5))
    near = of(wide, [2 * each for each in (78.0, 82.0, 80.0, 79.0, 81.0)])
    far = of(wide, [2 * each for each in (95.0, 96.0, 94.0, 95.5, 94.5)])

    assert len(stopping.unsettled(with_scaling(summaries([*base, *near])), asked)) == 2
    assert stopping.unsettled(with_scaling(summaries([*base, *far])), asked) == frozenset()
    assert stopping.unsettled(with_scaling(summaries([*base, *near])), NO_CRITERIA) == frozenset()


def test_a_range_of_repeats_is_planned_to_its_end_and_sealed_as_a_range(tmp_path):
    asked = spec.Spec(frameworks=("toynet",), **spec.repeats("5-7"))
    (tmp_path / "a.toml").write_text('frameworks = ["toynet"]\nrepeats = "5-7"\n')

    made = plan.plan(asked, {"toynet": toynet()}, Machine(cores=4, accelerators=0, device="cpu"))

    for found in (asked, spec.read(tmp_path / "a.toml"), spec.profile("full")):
        assert (found.repeats, found.most_repeats) == (5, 7)
    assert [run.repeat for run in made.runs] == list(range(7))
    assert journal.seal(made.cases, 5, 7) != journal.seal(made.cases, 5)


def test_what_is_not_needed_is_not_launched(tmp_path):
    store = Store(tmp_path)
    started = campaign.begin(Planned(profile="full", repeats=5, most_repeats=7, cases=(CASE,), skips=()), store)
    runs, asked = [Run(case=CASE, repeat=repeat) for repeat in (5, 6)], []

    needed = {"needed": lambda run: asked.append(run.repeat)}
    ended = list(campaign.launch_all(runs, store, {"toynet": toynet()}, LAUNCHER, started, **needed))

    assert (ended, asked) == ([], [5, 6])
    assert started.whole
    assert not store.folder(runs[0]).path.exists()


def test_the_report_says_how_many_further_repeats_were_needed():
    found = reports.evaluation(*summaries(of(CASE, (100.0, 101.0, 102.0, 103.0, 104.0, 105.0))))
    book = Book(evaluation=found)
    adaptive = replace(book, evaluation=replace(book.evaluation, repeats=5, most_repeats=7))

    said = price.describe_further_repeats(adaptive, words.read(("en",))).plain("en")

    assert "1 more run was needed, 1 not" in said
    assert price.describe_further_repeats(book, words.read(("en",))) is None
