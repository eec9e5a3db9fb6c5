"""The fairness matrix: what was held equal, on the page, in Markdown and in summary.json."""

import html
import json
from dataclasses import replace

import pytest
import synthetic

from evalsuite import report
from evalsuite.model import Fact
from evalsuite.report.book.book import Book
from evalsuite.report.data import summary_json
from evalsuite.report.page import render
from evalsuite.report.sections import fairness
from evalsuite.report.text import words

CASE = synthetic.case("pytorch", (1, 8), device="gpu", precision="amp")


def measured(framework, without=(), **given):
    case = replace(CASE, framework=framework)
    stated = {fact.key: fact for fact in synthetic.FACTS if fact.key not in without}
    stated |= {key: Fact(key=key, value=value, source="stated") for key, value in given.items()}
    runs = [synthetic.measured(case, k, 100.0 + k) for k in range(3)]
    return synthetic.summary(replace(run, facts=tuple(stated.values())) for run in runs)


def evaluation(*of):
    return synthetic.evaluation(of)


@pytest.fixture
def page(tmp_path):
    def made(*of):
        return html.unescape(report.build(evaluation(*of), tmp_path, languages=["en"])[0].read_text(encoding="utf-8"))

    return made


def matrix(*of):
    return summary_json.document(Book(evaluation=evaluation(*of)), "0")["fairness"]


def test_an_unlike_pair_is_named_with_what_keeps_it_apart(page):
    shown = page(measured("pytorch", precision="fp16"), measured("mxnet", precision="fp16_amp"))

    assert "Not ranked together, because of: precision. Ranked together are only: (MXNet), (PyTorch)." in shown
    assert "FP16 AMP<small>the import</small>" in shown


def test_a_fact_that_nobody_states_is_named_and_the_order_indicative(page):
    shown = page(measured("pytorch", without=["optimiser"]), measured("mxnet", without=["optimiser"]))

    assert "Not stated for all: optimiser. The order is indicative" in shown
    assert "No source states: optimiser." in shown


def test_what_is_the_same_is_folded(page):
    shown = page(measured("pytorch"), measured("mxnet"))

    assert "All conditions that must be the same are stated and are the same" in shown
    assert "<summary>The same for all:" in shown


def test_one_framework_alone_is_no_comparison(page):
    assert 'id="fairness"' not in page(measured("pytorch"))


def test_summary_json_has_each_fact_with_its_source():
    (found,) = matrix(measured("pytorch", precision="fp16"), measured("mxnet", without=["data"]))

    facts = {fact["fact"]: fact for fact in found["facts"]}
    ours = f"{CASE.id}"
    theirs = replace(CASE, framework="mxnet").id
    assert found["standing"] == "apart"
    assert sorted(found["ranked_together"]) == [[theirs], [ours]]
    assert facts["precision"] == {
        "fact": "precision",
        "kind": "workload",
        "likeness": "different",
        "keeps_apart": True,
        "values": {
            theirs: [{"value": "amp", "source": "case"}],
            ours: [{"value": "fp16", "source": "stated"}],
        },
    }
    assert facts["data"]["values"][theirs] is None
    json.dumps(found)


def test_the_largest_scale_that_most_frameworks_share_is_compared():
    small, large = replace(CASE, devices_per_node=1), replace(CASE, nodes=4)
    found = [
        synthetic.summary([synthetic.measured(replace(case, framework=name), 0, 100.0)])
        for case, names in ((small, ("pytorch", "mxnet")), (CASE, ("pytorch", "mxnet")), (large, ("pytorch",)))
        for name in names
    ]

    (comparison,) = fairness.comparisons(Book(evaluation=evaluation(*found)))

    assert {one.case.total_devices for one in comparison.members} == {8}


def test_the_page_of_one_model_says_what_was_held_equal_too():
    found = evaluation(measured("pytorch", precision="fp16"), measured("mxnet", precision="fp16_amp"))
    whole = Book(evaluation=found)

    shown = render.part(Book(evaluation=found, part=CASE.model), whole, words.read(), "0")

    assert "Not ranked together, because of" in shown
