from dataclasses import replace

import pytest
import synthetic

from evalsuite.core.model import Fact, Skip
from evalsuite.report.text import words
from evalsuite.results.compare import answers

AMP = {"precision": "amp", "device": "gpu", "batch_per_device": 64, "protocol": synthetic.FULL, "options": ()}
SEVEN = (0.994, 0.996, 0.998, 1.0, 1.002, 1.004, 1.006)
FIVE = (0.99, 0.995, 1.0, 1.005, 1.01)
SPOKEN = words.read()


def case(framework, scale=(4, 8), **changes):
    return synthetic.case(framework, scale, **{**AMP, **changes})


def summary(framework, speed, around=SEVEN, scale=(4, 8), **changes):
    of = case(framework, scale, **changes)
    return synthetic.summary(synthetic.measured(of, k, speed * each) for k, each in enumerate(around))


def only(summaries, planned=(), skips=()):
    (answer,) = answers.answers(summaries, planned, skips)
    return answer


def names(ranked):
    return [place.summary.case.framework for place in ranked]


def test_a_fastest_one_is_named_only_with_enough_runs_and_steps():
    def ask(around, **changes):
        return only([summary("mxnet", 95.0, around[::-1], **changes), summary("pytorch", 100.0, around, **changes)])

    five, three, one, short = ask(FIVE), ask(FIVE[:3]), ask((1.0,)), ask(FIVE, protocol=synthetic.QUICK)

    assert (five.known, three.known, one.known, short.known) == ("ahead", "runs", "runs", "runs")
    assert five.deciding is None
    assert (three.deciding.needed, three.deciding.runs) == ("repeats", 4)
    assert (one.deciding.needed, one.deciding.runs) == ("repeats", 8)
    assert (short.deciding.needed, short.deciding.runs) == ("window", 10)


@pytest.mark.parametrize("origin", ["cited", "digitised"])
def test_published_figures_are_ranked_and_never_tested_and_simulated_ones_are_not_called_fastest(origin):
    slow, fast = summary("mxnet", 80.0), summary("pytorch", 100.0)

    found = only([replace(slow, origin=origin), replace(fast, origin=origin)])

    assert (found.known, found.ahead, found.deciding) == ("source", (), None)
    assert found.lead == pytest.approx(0.25)
    assert only([replace(slow, origin="simulated"), fast]).known == "runs"


def test_other_facts_and_a_slower_script_of_a_framework_are_not_ranked_and_say_in_what_they_differ():
    unlike, slow = summary("mxnet", 300.0), summary("pytorch", 50.0, recipe="official")
    runs = [
        replace(run, facts=tuple(replace(f, value="imagenet") if f.key == "data" else f for f in run.facts))
        for run in unlike.measurements
    ]

    found = only([replace(unlike, measurements=tuple(runs)), slow, summary("pytorch", 100.0), summary("oneflow", 90.0)])

    assert names(found.ranked) == ["pytorch", "oneflow"]
    apart = {(each.summary.case.framework, each.summary.case.recipe, each.why) for each in found.apart}
    assert apart == {("mxnet", unlike.case.recipe, ("facts.data",)), ("pytorch", "official", ("recipe",))}
    assert found.missing == ()


def reading(framework, speed, loader, source):
    """A summary whose runs read the images of *source* by *loader*."""
    one = summary(framework, speed, options=(*[("data", loader)] * bool(loader), ("run", framework)))
    said = {"data": "made-up images", "data_source": source, "loader": loader or "own"}
    added = tuple(Fact(key=key, value=value, source="environment") for key, value in said.items())
    rest = [tuple(fact for fact in run.facts if fact.key != "data") for run in one.measurements]
    runs = [replace(run, facts=(*facts, *added)) for run, facts in zip(one.measurements, rest, strict=True)]
    return replace(one, measurements=tuple(runs))


def test_the_same_items_by_whatever_loader_are_one_ranking_and_those_of_another_seed_are_none():
    rows = [
        reading("oneflow", 100.0, "ofrecord", "seed 1"),
        reading("mxnet", 90.0, "dali-gpu", "seed 1"),
        reading("pytorch", 80.0, None, "seed 1"),
        reading("tensorflow", 70.0, "records", "seed 2"),
    ]

    found = only(rows)

    assert names(found.ranked) == ["oneflow", "mxnet", "pytorch"]
    [apart] = found.apart
    assert (apart.summary.case.framework, apart.why) == ("tensorflow", ("facts.data_source",))


def test_every_framework_of_the_model_is_ranked_or_has_its_reason():
    planned = [case(name) for name in ("pytorch", "tensorflow", "caffe")]
    skips = [
        Skip(case=case("mxnet"), reason="only 2 nodes were free"),
        Skip(case=case("chainer"), reason="no AMP", kind="unsupported"),
    ]
    broken = [synthetic.failed(planned[1], k, "CUDA out of memory") for k in range(5)]
    elsewhere = summary("oneflow", 120.0, batch_per_device=160)
    rows = [summary("pytorch", 100.0), synthetic.summary(broken), elsewhere]

    found = {answer.setting.batch_per_device: answer for answer in answers.answers(rows, planned, skips)}

    assert {
        gap.candidate.framework: (gap.why, gap.reason, tuple(of.batch_per_device for of in gap.others))
        for gap in found[64].missing
    } == {
        "tensorflow": ("no_valid_run", "CUDA out of memory", ()),
        "caffe": ("not_run", "", ()),
        "mxnet": ("not_run", "only 2 nodes were free", ()),
        "chainer": ("unsupported", "no AMP", ()),
        "oneflow": ("elsewhere", "", (160,)),
    }
    assert found[64].known is None
    assert {gap.candidate.framework: gap.why for gap in found[160].missing}["pytorch"] == "elsewhere"


def test_a_question_without_a_value_is_answered_by_its_reasons_and_synthetic_data_are_one_of_their_own():
    found = only([], [case("pytorch")])
    assert (found.known, found.ranked, found.lead, found.deciding) == (None, (), None, None)
    assert [gap.why for gap in found.missing] == ["not_run"]

    cases = [case("oneflow", options=(("data", value),)) for value in ("synthetic", "ofrecord", "imagenet")]
    found = answers.answers([], [*cases, case("mxnet")])
    assert [answer.setting.options for answer in found] == [(("data", "synthetic"),), ()]


def test_compilers_batches_options_and_scales_are_questions_of_their_own():
    cases = [
        case("pytorch"),
        case("mxnet"),  # with which its options are held equal
        case("pytorch", xla=True),
        case("pytorch", batch_per_device=32),
        case("pytorch", options=(("clipping", "off"),)),
        case("pytorch", (1, 8)),
    ]

    found = answers.answers([], cases)

    assert len(found) == len({(answer.setting, answer.nodes, answer.devices_per_node) for answer in found}) == 5
    assert [answer.devices for answer in found if answer.setting == found[0].setting] == [8, 32]


def test_the_headline_is_the_largest_of_the_scales_that_most_share():
    rows = [summary(name, 100.0, scale=(1, 8)) for name in ("mxnet", "oneflow", "pytorch")]
    rows += [summary(name, 300.0) for name in ("mxnet", "oneflow", "pytorch")]
    rows += [summary(name, 600.0, scale=(8, 8)) for name in ("mxnet", "oneflow")]

    assert answers.headline(answers.answers(rows)).devices == 32
    assert answers.headline(answers.answers([], [case("pytorch")])) is None
