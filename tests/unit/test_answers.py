from dataclasses import replace

import pytest
import synthetic

from evalsuite.model import Skip
from evalsuite.report.sections.verdict import answers as answers_section
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
    (found,) = answers.answers(summaries, planned, skips)
    return found


def names(ranked):
    return [one.summary.case.framework for one in ranked]


def test_two_that_the_runs_do_not_tell_apart_lead_together_and_the_lead_counts_from_the_next():
    found = only([summary("mxnet", 91.0), summary("oneflow", 100.0), summary("pytorch", 99.7)])

    assert (found.said, found.decided) == ("group", True)
    assert names(found.ranked) == ["oneflow", "pytorch", "mxnet"]
    assert names(found.leaders) == ["oneflow", "pytorch"]
    assert found.lead == pytest.approx(100.0 / 91.0 - 1)
    assert [round(one.ratio, 3) for one in found.ranked] == [1.0, 0.997, 0.91]


def test_a_fastest_one_is_named_only_with_enough_runs_and_steps():
    def said(around, **changes):
        return only([summary("mxnet", 80.0, around, **changes), summary("pytorch", 100.0, around, **changes)])

    five, three, one, short = said(FIVE), said(FIVE[:3]), said((1.0,)), said(FIVE, protocol=synthetic.QUICK)

    assert (five.said, three.said, one.said, short.said) == ("fastest", "consistent", "untold", "untold")
    assert five.deciding is None and three.chance is not None
    assert (three.deciding.needed, three.deciding.runs) == ("repeats", 4)
    assert (one.deciding.needed, one.deciding.runs) == ("repeats", 8)
    assert (short.deciding.needed, short.deciding.runs, short.deciding.seconds) == ("window", 10, None)


def test_the_cost_of_deciding_comes_from_the_recorded_durations():
    def lasting(of, seconds):
        return replace(of, measurements=tuple(replace(run, duration_s=seconds) for run in of.measurements))

    known = [lasting(summary("mxnet", 80.0, FIVE[:3]), 60.0), lasting(summary("pytorch", 100.0, FIVE[:4]), 100.0)]
    unknown = [known[0], lasting(known[1], None)]

    assert only(known).deciding.seconds == 2 * 60.0 + 100.0
    assert only(unknown).deciding.seconds is None


@pytest.mark.parametrize("origin", ["cited", "digitised"])
def test_published_figures_are_ranked_and_never_tested(origin):
    cited = [replace(summary(name, speed), origin=origin) for name, speed in (("mxnet", 80.0), ("pytorch", 100.0))]

    found = only(cited)

    assert (found.said, found.decided, found.deciding) == ("published", False, None)
    assert found.lead == pytest.approx(0.25)


def test_simulated_values_are_not_called_fastest():
    found = only([replace(summary("mxnet", 80.0), origin="simulated"), summary("pytorch", 100.0)])

    assert found.said == "untold"


def test_what_is_measured_under_other_facts_is_not_ranked_and_says_in_what_it_differs():
    unlike = summary("mxnet", 300.0)
    unlike = replace(
        unlike,
        measurements=tuple(
            replace(run, facts=tuple(replace(f, value="imagenet") if f.key == "data" else f for f in run.facts))
            for run in unlike.measurements
        ),
    )

    found = only([unlike, summary("pytorch", 100.0), summary("oneflow", 90.0)])

    assert names(found.ranked) == ["pytorch", "oneflow"]
    assert [(one.summary.case.framework, one.why) for one in found.apart] == [("mxnet", ("facts.data",))]
    assert found.missing == ()


def test_a_framework_stands_for_its_fastest_script():
    slow = summary("pytorch", 50.0, recipe="official")

    found = only([slow, summary("pytorch", 100.0), summary("mxnet", 80.0)])

    assert names(found.ranked) == ["pytorch", "mxnet"]
    assert [(one.summary, one.why) for one in found.apart] == [(slow, ("recipe",))]


def test_every_framework_of_the_model_is_ranked_or_has_its_reason():
    planned = [case(name) for name in ("pytorch", "tensorflow", "caffe")]
    skips = [
        Skip(case=case("mxnet"), reason="only 2 nodes were free"),
        Skip(case=case("chainer"), reason="no AMP", kind="unsupported"),
    ]
    broken = [synthetic.failed(planned[1], k, "CUDA out of memory") for k in range(5)]
    elsewhere = summary("oneflow", 120.0, batch_per_device=160)
    rows = [summary("pytorch", 100.0), synthetic.summary(broken), elsewhere]

    found = {one.setting.batch_per_device: one for one in answers.answers(rows, planned, skips)}

    assert {one.framework: (one.why, one.reason, one.batches) for one in found[64].missing} == {
        "tensorflow": ("no_valid_run", "CUDA out of memory", ()),
        "caffe": ("not_run", "", ()),
        "mxnet": ("not_run", "only 2 nodes were free", ()),
        "chainer": ("unsupported", "no AMP", ()),
        "oneflow": ("elsewhere", "", (160,)),
    }
    assert found[64].said == "alone"
    assert {one.framework: one.why for one in found[160].missing}["pytorch"] == "elsewhere"


def test_a_question_without_any_value_is_answered_by_its_reasons():
    found = only([], [case("pytorch")])

    assert (found.said, found.ranked, found.lead, found.deciding) == ("none", (), None, None)
    assert [one.why for one in found.missing] == ["not_run"]


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

    assert len(found) == len({(one.setting, one.nodes, one.devices_per_node) for one in found}) == 5
    assert [one.devices for one in found if one.setting == found[0].setting] == [8, 32]


def test_the_headline_is_the_largest_of_the_scales_that_most_frameworks_share():
    rows = [summary(name, 100.0, scale=(1, 8)) for name in ("mxnet", "oneflow", "pytorch")]
    rows += [summary(name, 300.0) for name in ("mxnet", "oneflow", "pytorch")]
    rows += [summary(name, 600.0, scale=(8, 8)) for name in ("mxnet", "oneflow")]

    assert answers.headline(answers.answers(rows)).devices == 32
    assert answers.headline(answers.answers([], [case("pytorch")])) is None


def test_an_order_that_no_two_runs_contradict_is_known_as_such():
    apart = only([summary("mxnet", 80.0, FIVE[:3]), summary("pytorch", 100.0, FIVE[:3])])
    mixed = only([summary("mxnet", 99.5, FIVE[:3]), summary("pytorch", 100.0, FIVE[:3])])

    assert (apart.in_steps, mixed.in_steps) == (True, False)
    assert (apart.all_alike, mixed.all_alike) == (False, True)


def test_neighbours_that_the_runs_do_not_tell_apart_are_joined_by_another_sign():
    rows = [summary("mxnet", 100.0, FIVE[:3]), summary("oneflow", 99.5, FIVE[:3]), summary("pytorch", 80.0, FIVE[:3])]

    one, alike = only(rows), only(rows[:2])

    assert (one.steps, one.all_alike) == ((False, True), False)
    said = answers_section.sentence(one, SPOKEN).plain("en").replace("\u00a0", " ")
    assert "MXNet 99.50 ≈ OneFlow 99.00 > PyTorch 79.60" in said
    assert answers_section.sentence(alike, SPOKEN).plain("en").startswith("No order yet")


def test_the_most_efficient_is_no_base():
    rows = {one.case.id: one for one in synthetic.thorough().summaries}
    found = {one.devices: one for one in answers.answers(rows.values())}

    assert answers.most_efficient(found[1]) is None
    assert answers.most_efficient(found[2]).efficiency.value == max(
        one.efficiency.value for one in rows.values() if one.case.total_devices == 2
    )
