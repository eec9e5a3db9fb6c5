"""Sentences over several cases say one number where least and most are printed alike."""

from dataclasses import replace

import pytest
import synthetic

from evalsuite.core.findings import (
    Drift,
    FactsDisagree,
    FewRepeats,
    HungAtEnd,
    PartialBatch,
    SteepDrift,
    ThinSamples,
)
from evalsuite.report.book.book import Book
from evalsuite.report.sections.quality.quality import broken_rules, place
from evalsuite.report.text import names, words
from evalsuite.results.rules import data_rules
from tests import sources

SPOKEN = words.read()


# findings collapsed by rule: counted, ranged by number, worst first


def rules(*findings):
    return broken_rules(Book(evaluation=replace(synthetic.evaluation(), findings=findings)))


def drifts(*changes):
    return [Drift(change=change, where=f"run-{k}") for k, change in enumerate(changes)]


@pytest.mark.parametrize(("changes", "worst"), sources.table("headlines.toml")["ranges"])
def test_one_row_for_each_rule_with_the_worst_and_its_place(changes, worst):
    (rule,) = rules(*drifts(*changes))

    assert len(rule.breaches) == len(changes)
    assert (rule.worst.change, rule.breaches[0][1][0]) == (changes[worst], f"run-{worst}")


def test_the_gravest_first_and_what_must_be_high_is_worst_where_it_is_lowest():
    few = [FewRepeats(repeats=3, where=f"case-{k}") for k in range(9)]
    steep = [SteepDrift(change=0.5, where="run-c")]
    hung = [HungAtEnd(where="run-a"), HungAtEnd(where="run-b")]
    assert [len(rule.breaches) for rule in rules(*hung, *steep, *few)] == [1, 9, 2]

    thin = [ThinSamples(resources=("gpu",), coverage=share, where=f"run-{share}") for share in (0.7, 0.1, 0.5)]
    assert rules(*thin)[0].worst.coverage == 0.1


def test_a_place_is_called_by_its_folder_and_leads_to_its_case():
    of = synthetic.case("mxnet", (1, 2))
    book = Book(evaluation=synthetic.evaluation([synthetic.summary([synthetic.measured(of, 2, 60.0)])]))

    found = place(book, f"{of.id}/r2")
    assert found == (f"{of.id}/r2", names.case_anchor(of))
    assert place(book, "somewhere else") == ("somewhere else", None)


# one finding for each case and rule, by the gravest of its runs; and how far a finding is beyond its rule


def disagree(value, where, fact="precision"):
    other = {"other_source": "recipe", "other_value": "bf16_amp"}
    return FactsDisagree(fact=fact, source="log", value=value, where=where, **other)


def test_five_runs_that_share_a_fault_say_it_once_by_the_worst_and_name_the_others():
    merged = data_rules.merge_repeated(
        [Drift(change=change, where=f"a/r{r}") for r, change in enumerate((0.06, -0.2, 0.1))]
    )

    assert [(each.change, each.where, each.also) for each in merged] == [(-0.2, "a/r1", ("a/r0", "a/r2"))]


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
    assert data_rules.merge_repeated(apart) == apart


def test_to_say_it_once_again_changes_nothing_and_a_case_called_like_a_run_is_no_run():
    each = [disagree("fp16", f"a/r{r}") for r in range(3)]
    merged = data_rules.merge_repeated(each)
    merge = data_rules.merge_repeated
    assert merged == merge([*merged, *each]) == merge([*reversed(each), *merged])

    assert data_rules.beyond(PartialBatch(step=1, share=0.1)) > data_rules.beyond(PartialBatch(step=1, share=0.5))
    assert data_rules.beyond(Drift(change=-0.2)) == data_rules.beyond(Drift(change=0.2))
    assert data_rules.beyond(Drift(change=float("nan"))) == 0.0
