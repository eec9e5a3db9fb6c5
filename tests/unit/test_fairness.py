"""May these two be compared? One answer, with its reasons, for every table, chart and command."""

from dataclasses import replace

import pytest
import synthetic

from evalsuite.model import Fact, Machine, Protocol
from evalsuite.report.book import blocks
from evalsuite.report.book.book import Book
from evalsuite.report.page import embedded
from evalsuite.report.sections.variants import effects
from evalsuite.report.text import words
from evalsuite.results.compare import fairness, winners
from evalsuite.results.compare.fairness import FRAMEWORKS, MACHINES, SCALES, VERSIONS, Obstacle, obstacles, setting

CASE = synthetic.case("pytorch")
SPEEDS = (100.0, 101.0, 99.0, 100.5, 99.5)
ELSEWHERE = Machine(name="another machine")
LAMB = (*CASE.options, ("optimiser", "lamb"))


def summary(of=CASE, speeds=SPEEDS, **changes):
    """*of* measured with *speeds*; *changes* are those of its runs."""
    runs = [replace(synthetic.measured(of, k, speed), **changes) for k, speed in enumerate(speeds)]
    return synthetic.summary(runs)


def keys(found):
    return [one.key for one in found]


def test_frameworks_are_compared_where_all_else_is_equal():
    assert obstacles(summary(), summary(synthetic.case("tensorflow")), FRAMEWORKS) == ()


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (replace(CASE, xla=True), Obstacle(key="xla", ours="off", theirs="on")),
        (replace(CASE, batch_per_device=64), Obstacle(key="batch_per_device", ours="8", theirs="64")),
        (replace(CASE, options=LAMB), Obstacle(key="options.optimiser", ours=None, theirs="lamb")),
        (replace(CASE, protocol=Protocol()), Obstacle(key="protocol", ours="5+30", theirs="20+100")),
    ],
)
def test_what_is_not_equal_is_named_with_both_values(other, expected):
    assert obstacles(summary(), summary(other), FRAMEWORKS) == (expected,)


def test_every_reason_is_given_not_the_first():
    other = summary(replace(CASE, precision="amp", nodes=2), environment=ELSEWHERE)

    assert keys(obstacles(summary(), other, FRAMEWORKS)) == ["nodes", "precision", "environment"]


MANY = replace(CASE, nodes=2, devices_per_node=8, device="gpu", precision="amp")


def stating(of=MANY, framework="pytorch", without=(), speeds=SPEEDS, **given):
    """*of* of another framework, with its facts as *given* by the user, and others not known."""
    base = {fact.key: fact for fact in synthetic.FACTS if fact.key not in without}
    stated = {key: Fact(key=key, value=value, source="stated") for key, value in given.items()}
    return summary(replace(of, framework=framework), speeds, facts=tuple({**base, **stated}.values()))


@pytest.mark.parametrize(
    ("ours", "theirs", "key"),
    [
        ({"precision": "fp16"}, {"precision": "fp16_amp"}, "precision"),
        ({"precision": "fp16"}, {}, "precision"),
        ({"precision": "bf16_amp"}, {"precision": "fp16_amp"}, "precision"),
        ({"model_variant": "resnet50_v1"}, {}, "model_variant"),
        ({"data": "imagenet"}, {}, "data"),
        ({"clipping": "1.0"}, {}, "clipping"),
        ({"optimiser": "lamb"}, {}, "optimiser"),
        ({"accumulation": "4"}, {"accumulation": "1"}, "accumulation"),
        ({"parallel_layout": "TP 8"}, {}, "parallel_layout"),
        ({"communication": "NCCL_IB_DISABLE=1"}, {}, "communication"),
        ({"driver_generation": "470"}, {}, "driver_generation"),
        ({"device_model": "A100"}, {"device_model": "H100"}, "device_model"),
        ({"device_memory": "16 GiB"}, {"device_memory": "32 GiB"}, "device_memory"),
    ],
)
def test_work_and_place_must_be_equal(ours, theirs, key):
    a, b = stating(**ours), stating(framework="mxnet", speeds=tuple(2 * one for one in SPEEDS), **theirs)

    assert keys(obstacles(a, b, FRAMEWORKS)) == [f"facts.{key}"]
    assert len(fairness.groups([a, b], FRAMEWORKS)) == 2
    assert winners.leaders([a, b]) == frozenset()


def test_tf32_is_not_ranked_against_fp32():
    case = replace(MANY, precision="fp32")

    found = obstacles(stating(case, precision="tf32"), stating(case, "mxnet"), FRAMEWORKS)

    assert found == (Obstacle(key="facts.precision", ours="tf32", theirs="fp32"),)


def test_fp32_that_may_be_tf32_is_ranked_as_indicative():
    case = replace(MANY, precision="fp32")
    a, b = stating(case, without=["tf32"]), stating(case, "mxnet")

    assert (obstacles(a, b, FRAMEWORKS), fairness.unknown_facts(a, b)) == ((), ("tf32",))
    assert keys(obstacles(stating(case, tf32="on"), b, FRAMEWORKS)) == ["facts.tf32"]


@pytest.mark.parametrize("key", ["loader", "loader_workers", "memory_layout", "image", "kernel_switches", "nccl"])
def test_what_a_framework_chooses_never_keeps_it_out(key):
    a, b = stating(**{key: "one"}), stating(framework="mxnet", speeds=tuple(2 * one for one in SPEEDS), **{key: "two"})

    assert obstacles(a, b, FRAMEWORKS) == () and fairness.unknown_facts(a, b) == ()


@pytest.mark.parametrize("key", ["data", "optimiser", "clipping", "parallel_layout", "communication", "host_kind"])
def test_where_a_fact_is_unknown_a_ranking_is_indicative_and_has_no_test(key):
    slow, fast = (
        stating(replace(MANY, protocol=Protocol()), without=[key]),
        stating(replace(MANY, protocol=Protocol()), "mxnet", speeds=tuple(2 * one for one in SPEEDS)),
    )

    assert obstacles(fast, slow, FRAMEWORKS) == ()
    assert fairness.unknown_facts(fast, slow) == (key,)
    assert fairness.relative(fast, slow).significant is None
    assert winners.leaders([slow, fast]) == frozenset()
    assert len(fairness.groups([slow, fast], fairness.TESTED)) == 2


def test_amp_of_an_unknown_kind_may_be_that_of_the_other():
    a, b = stating(), stating(framework="mxnet", precision="fp16_amp")

    assert (obstacles(a, b, FRAMEWORKS), fairness.unknown_facts(a, b)) == ((), ("precision",))


def test_a_model_name_that_does_not_say_its_variant_is_not_ranked():
    a, b = (stating(replace(MANY, model="resnet50"), name) for name in ("pytorch", "mxnet"))

    assert obstacles(a, b, FRAMEWORKS) == (Obstacle(key="facts.model_variant", ours=None, theirs=None),)


def test_runs_of_one_case_that_state_different_things_are_unlike_another_case():
    mixed = list(stating().measurements)
    other = Fact(key="data", value="imagenet", source="stated")
    mixed[2] = replace(mixed[2], facts=(*(fact for fact in mixed[2].facts if fact.key != "data"), other))

    (found,) = obstacles(synthetic.summary(mixed), stating(framework="mxnet"), FRAMEWORKS)

    assert found == Obstacle(key="facts.data", ours="synthetic; imagenet", theirs="synthetic")


def test_one_device_exchanges_nothing_and_a_processor_has_no_driver():
    a, b = stating(CASE, communication="NCCL_P2P_DISABLE=1", driver_generation="470"), stating(CASE, "mxnet")

    assert obstacles(a, b, FRAMEWORKS) == ()


def test_all_machines_that_count_are_looked_at():
    mixed = [synthetic.measured(CASE, k, 100.0 + k) for k in range(5)]
    mixed[3] = replace(mixed[3], environment=ELSEWHERE)

    found = obstacles(summary(), synthetic.summary(mixed), FRAMEWORKS)

    assert keys(found) == ["environment"]
    assert found[0].theirs == f"{synthetic.CPU_KEY}; {ELSEWHERE}"


def test_a_machine_of_a_run_that_does_not_count_is_no_obstacle():
    failed = replace(synthetic.failed(CASE, 5, "Killed"), environment=ELSEWHERE)
    runs = [synthetic.measured(CASE, k, speed) for k, speed in enumerate(SPEEDS)]

    assert obstacles(summary(), synthetic.summary([*runs, failed]), FRAMEWORKS) == ()


def test_only_what_the_comparison_is_about_may_differ():
    faster = summary(replace(CASE, xla=True))

    assert obstacles(summary(), faster, setting("xla")) == ()
    assert keys(obstacles(summary(), summary(replace(CASE, xla=True), framework_version="9"), setting("xla"))) == [
        "framework_version"
    ]
    assert keys(obstacles(summary(), faster, SCALES)) == ["xla"]


def test_across_reports_the_machine_must_be_known_and_the_runs_others():
    unknown = summary(environment=None)

    assert keys(obstacles(unknown, unknown, VERSIONS)) == ["environment", "runs"]
    assert keys(obstacles(unknown, unknown, FRAMEWORKS)) == ["facts.device_model"]
    later = summary(environment=ELSEWHERE, started_at="2027-01-01T00:00:00+08:00", log_sha256=None)
    assert obstacles(summary(), later, MACHINES) == ()


def test_a_group_holds_what_may_be_compared_and_nothing_else():
    same, other = summary(synthetic.case("mxnet")), summary(replace(CASE, precision="amp"))

    assert fairness.group(summary(), FRAMEWORKS) == fairness.group(same, FRAMEWORKS)
    assert fairness.group(summary(), FRAMEWORKS) != fairness.group(other, FRAMEWORKS)


def test_an_unlike_pair_has_no_ratio_at_all():
    with pytest.raises(fairness.ComparisonError, match="environment"):
        fairness.relative(summary(), summary(environment=ELSEWHERE), FRAMEWORKS)


def test_an_effect_measured_on_two_machines_is_refused_with_the_reason():
    off, on = summary(), summary(replace(CASE, xla=True), tuple(1.26 * one for one in SPEEDS), environment=ELSEWHERE)
    book = Book(evaluation=synthetic.evaluation([off, on]))

    (found,) = effects.effects(book, blocks.models(book)[0])

    assert (found.ratio, found.judged) == (None, "too_few")
    said = effects.why(found, words.read())
    assert said.plain("en") == f"on different machines: {synthetic.CPU_KEY} / {ELSEWHERE}"
    assert said.plain("zh") == f"测试机器不同：{synthetic.CPU_KEY} / {ELSEWHERE}"


def test_the_pages_script_is_told_what_may_be_compared_and_what_differs():
    cases = [CASE, synthetic.case("tensorflow"), synthetic.case("mxnet"), replace(CASE, precision="amp")]
    cases = [replace(case, protocol=Protocol()) for case in cases]
    speeds = (SPEEDS, tuple(2 * one for one in SPEEDS), tuple(1.001 * one for one in SPEEDS), SPEEDS)
    failed = synthetic.summary([synthetic.failed(replace(cases[0], nodes=4), 0, "Killed")])
    book = Book(evaluation=synthetic.evaluation([*(summary(c, s) for c, s in zip(cases, speeds, strict=True)), failed]))

    told = embedded.document(book)["cases"]

    rows = {
        case.framework: row for row, case in enumerate(book.planned) if case.precision == "fp32" and case.nodes == 1
    }
    amp, unmeasured = (next(r for r, c in enumerate(book.planned) if test(c)) for test in (is_amp, is_large))
    group, apart = (unpacked(told["values"][name]) for name in ("group", "apart"))
    assert len({group[row] for row in rows.values()}) == 1
    assert group[amp] not in {group[row] for row in rows.values()}
    assert (group[unmeasured], apart[unmeasured]) == (None, None)
    assert sorted(apart[rows["tensorflow"]]) == sorted([rows["pytorch"], rows["mxnet"]])
    assert apart[rows["pytorch"]] == apart[rows["mxnet"]] == [rows["tensorflow"]]


def is_amp(case):
    return case.precision == "amp"


def is_large(case):
    return case.nodes == 4


def unpacked(column):
    return column if isinstance(column, list) else [column["of"][place] for place in column["at"]]


def test_the_page_shows_the_reason_in_place_of_the_ratio(tmp_path):
    from evalsuite import report

    off, on = summary(), summary(replace(CASE, xla=True), tuple(1.26 * one for one in SPEEDS), environment=ELSEWHERE)

    page = report.build(synthetic.evaluation([off, on]), tmp_path, languages=["en"])[0].read_text(encoding="utf-8")

    assert f"<td>on different machines: {synthetic.CPU_KEY} / {ELSEWHERE}</td>" in page
    assert "1.26x" not in page


def test_a_repaired_driver_makes_no_other_machine_and_a_new_generation_does():
    (node,) = synthetic.GPU.nodes

    def on(driver, framework):
        one = stating(framework=framework)
        runs = [replace(run, environment=Machine(nodes=(replace(node, driver=driver),))) for run in one.measurements]
        return replace(one, measurements=tuple(runs))

    def keys(a, b):
        found = fairness.obstacles(on(a, "pytorch"), on(b, "mxnet"), fairness.FRAMEWORKS)
        return [one.key for one in found]

    assert "environment" not in keys("550.54.15", "550.90.07")
    assert "environment" in keys("550.54.15", "570.12")
