"""One finding for each case and rule, by the gravest of its runs; and how far a finding is beyond its rule."""

import pytest

from evalsuite.findings import BusyMachine, Drift, FactsDisagree, HungAtEnd, PartialBatch, SlowerAtScale
from evalsuite.report.book.book import Book
from evalsuite.report.data import finished
from evalsuite.report.text.findings import document
from evalsuite.results.measure.summary import summaries
from evalsuite.results.rules import severity
from tests import reports
from tests.toys import CASE, measured


def disagree(value, where, fact="precision"):
    return FactsDisagree(
        fact=fact, source="log", value=value, other_source="recipe", other_value="bf16_amp", where=where
    )


def test_five_runs_that_share_a_fault_say_it_once_by_the_worst_and_name_the_others():
    found = severity.merge_repeated(
        [Drift(change=change, where=f"a/r{r}") for r, change in enumerate((0.06, -0.2, 0.1))]
    )

    assert [(one.change, one.where, one.also) for one in found] == [(-0.2, "a/r1", ("a/r0", "a/r2"))]


@pytest.mark.parametrize(
    "apart",
    [
        [Drift(change=0.1, where="a/r0"), Drift(change=0.1, where="b/r0")],  # two cases
        [Drift(change=0.1, where="a/r0"), HungAtEnd(where="a/r0")],  # two rules
        [disagree("fp16", "a/r0"), disagree("imagenet", "a/r0", fact="data")],  # about two facts
        [disagree("fp16", "a/r0"), disagree("fp8", "a/r1")],  # and two answers to one
    ],
)
def test_what_is_not_the_same_stays_two(apart):
    assert severity.merge_repeated(apart) == apart


def test_to_say_it_once_again_changes_nothing_and_a_case_called_like_a_run_is_no_run():
    each = [disagree("fp16", f"a/r{r}") for r in range(3)]
    merged = severity.merge_repeated(each)
    assert merged == severity.merge_repeated([*merged, *each]) == severity.merge_repeated([*reversed(each), *merged])

    found = [SlowerAtScale(larger="1x2", larger_items_per_s=1, smaller="1x1", smaller_items_per_s=2, unit="x/s")] * 2
    assert len(severity.merge_repeated(found)) == 1
    assert severity._case("a/r1/x") == "a/r1/x" and severity._case("a/r12") == "a"

    assert severity.size(PartialBatch(step=1, share=0.1)).beyond > severity.size(PartialBatch(step=1, share=0.5)).beyond
    assert severity.size(Drift(change=-0.2)).beyond == severity.size(Drift(change=0.2)).beyond
    assert severity.size(Drift(change=float("nan"))) is None


def test_every_rule_of_runs_is_told_once_on_the_page_and_each_run_is_counted():
    busy = [BusyMachine(others=0.2 + r / 10, where=f"{CASE.id}/r{r}") for r in range(5)]
    runs = [measured(CASE, r, 100.0 + r, findings=(busy[r],)) for r in range(5)]
    book = Book(evaluation=reports.evaluation(*summaries(runs)))

    told = [one for one in book.findings if isinstance(one, BusyMachine)]
    assert [(one.where, len(one.also)) for one in told] == [(f"{CASE.id}/r4", 4)]
    assert finished._disturbed([document(one) for one in told]) == 5
