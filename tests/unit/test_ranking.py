"""Who is ranked: frameworks or, where one framework alone was asked for a model, its variants."""

from dataclasses import replace

import pytest
import reports
import synthetic
from test_answers import FIVE, only

from evalsuite.core.model import Skip
from evalsuite.report.book import answers as said_room
from evalsuite.report.book import heading
from evalsuite.report.book.blocks import models
from evalsuite.report.book.book import Book
from evalsuite.report.sections.verdict import verdict
from evalsuite.report.text import words
from evalsuite.results.compare import answers
from evalsuite.results.compare.decisions import FRAMEWORKS, ranking_scopes

SPOKEN = words.read()
ABOUT = {"device": "gpu", "batch_per_device": 64, "protocol": synthetic.FULL}
FAST, SLOW = (("link_mbit", "2000"), ("overlap", "on")), (("link_mbit", "500"), ("overlap", "on"))
BARE = (("link_mbit", "500"), ("overlap", "off"))


def case(options=(), framework="pytorch", scale=(2, 8), **changes):
    return synthetic.case(framework, scale, **{**ABOUT, "options": options, **changes})


def summary(speed, options=(), around=FIVE, **changes):
    of = case(options, **changes)
    return synthetic.summary(synthetic.measured(of, k, speed * each) for k, each in enumerate(around))


def ranked(answer):
    return [place.summary.case.options for place in answer.ranked]


def sentence(answer, language="en"):
    return said_room.sentence(answer, SPOKEN).plain(language).replace("\u00a0", " ")


def test_of_one_framework_its_variants_are_ranked_by_the_rule_of_frameworks_and_named_by_what_is_on():
    fastest = only([summary(80.0, BARE), summary(100.0, FAST), summary(90.0, SLOW)])
    tied = only([summary(100.0, FAST), summary(99.8, SLOW)])

    assert (fastest.known, tied.known) == ("ahead", "equal")
    assert ranked(fastest) == [FAST, SLOW, BARE]
    assert fastest.lead == pytest.approx(100.0 / 90.0 - 1)
    assert tied.lead is None
    assert sentence(fastest).startswith("“link limit: 2,000 Mbit/s · overlap: on” is fastest: 100.00")
    assert sentence(fastest, "zh").startswith("“链路限速：2,000 Mbit/s · 通信与计算重叠：开” 最快：100.00 images/s")
    names = [said_room.name(fastest, place.summary, SPOKEN).plain("en") for place in fastest.ranked]
    assert names[-1] == "link limit: 500 Mbit/s · overlap: off" and len(set(names)) == 3


def test_with_two_frameworks_frameworks_are_ranked_and_the_best_variant_leads():
    found = [
        *(summary(speed, options) for speed, options in ((90.0, BARE), (100.0, FAST))),
        *(summary(speed, options, framework="mxnet") for speed, options in ((80.0, BARE), (85.0, FAST))),
    ]
    every = answers.answers(found)

    assert {each.scope for each in every} == {FRAMEWORKS} and len(every) == 2
    assert answers.headline(every).setting.options == FAST
    assert answers.headline(reversed(every)).setting.options == FAST


def test_what_changes_the_work_is_a_question_of_its_own():
    small, large = ((*BARE, ("image_size", size)) for size in ("64", "224"))
    sizes = [case(tuple(sorted(options))) for options in (small, large)]
    layers = [case((("num_layers", each),)) for each in ("12", "24")]

    assert ranking_scopes(sizes) == {sizes[0].model: FRAMEWORKS}
    assert ranking_scopes(layers) == {layers[0].model: FRAMEWORKS}
    assert len(answers.answers([], [*sizes, case(tuple(sorted((*FAST, ("image_size", "64")))))])) == 2


def _stating(of, key, value):
    changed = (
        replace(run, facts=tuple(replace(fact, value=value) if fact.key == key else fact for fact in run.facts))
        for run in of.measurements
    )
    return replace(of, measurements=tuple(changed))


def test_an_option_may_change_what_a_script_states_and_two_scripts_must_state_the_same():
    options = [summary(100.0, FAST), _stating(summary(90.0, SLOW), "data", "imagenet")]
    scripts = [summary(100.0), _stating(summary(90.0, recipe="other"), "data", "imagenet")]

    assert only(options).known == "ahead"
    apart = only(scripts)
    assert apart.known is None and [each.why for each in apart.apart] == [("facts.data",)]
    assert sentence(apart).endswith("nothing is ranked; each row says how it differs from “reference-resnet50”.")


def test_a_variant_without_a_value_has_its_reason():
    asked, skipped = case(SLOW), case(BARE)
    broken = synthetic.summary([synthetic.failed(asked, 0, "CUDA out of memory")])
    found = only([summary(100.0, FAST), broken], skips=[Skip(case=skipped, reason="only 1 node was free")])

    assert {gap.candidate.options: (gap.why, gap.reason) for gap in found.missing} == {
        SLOW: ("no_valid_run", "CUDA out of memory"),
        BARE: ("not_run", "only 1 node was free"),
    }
    assert said_room.reason_beside(found, SPOKEN) is None  # its row says it


def test_the_first_screen_says_whose_variants_they_are():
    book, alone = Book(evaluation=synthetic.variants()), Book(evaluation=reports.evaluation(reports.summary()))
    _, found = verdict.model_findings(book, SPOKEN)

    assert found.about.plain("en").startswith("ChainerMN · FP32 · bsz 64")
    assert found.sentence.plain("en").startswith("“communication: InfiniBand FDR” is fastest")
    (found,) = verdict.model_findings(alone, SPOKEN)
    assert found.sentence.plain("en").startswith("Only PyTorch was run here")


def test_blocks_of_variants_have_names_of_their_own():
    book = Book(evaluation=synthetic.variants())
    _, chainermn = models(book)
    called = [heading.setting(block, SPOKEN, chainermn.blocks).plain("en") for block in chainermn.blocks]

    assert len(set(called)) == len(called) == 4 and any("communication: InfiniBand FDR" in each for each in called)
