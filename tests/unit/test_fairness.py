"""May these two be compared? One answer, with its reasons, for every table, chart and command."""

from dataclasses import replace

import pytest
import synthetic

from evalsuite import report
from evalsuite.core.model import Fact, Machine, Protocol
from evalsuite.report.book import changes, why_not_comparable
from evalsuite.report.book.book import Book
from evalsuite.report.text import words
from evalsuite.results.compare import decisions, fairness
from evalsuite.results.compare.fairness import FRAMEWORKS, MACHINES, SCALES, VERSIONS, Obstacle, obstacles, setting
from tests import sources

CASE = synthetic.case("pytorch")
SPEEDS = (100.0, 101.0, 99.0, 100.5, 99.5)
ELSEWHERE = Machine(name="another machine")
LAMB = (*CASE.options, ("optimiser", "lamb"))


def summary(of=CASE, speeds=SPEEDS, **changes):
    """*of* measured with *speeds*; *changes* are those of its runs."""
    runs = [replace(synthetic.measured(of, k, speed), **changes) for k, speed in enumerate(speeds)]
    return synthetic.summary(runs)


def keys(found):
    return [each.key for each in found]


def test_every_reason_keeps_frameworks_apart_and_nothing_else_does():
    assert obstacles(summary(), summary(synthetic.case("tensorflow")), FRAMEWORKS) == ()

    other = summary(replace(CASE, precision="amp", nodes=2), environment=ELSEWHERE)
    assert keys(obstacles(summary(), other, FRAMEWORKS)) == ["nodes", "precision", "environment"]

    same, other = summary(synthetic.case("mxnet")), summary(replace(CASE, precision="amp"))
    assert fairness.group(summary(), FRAMEWORKS) == fairness.group(same, FRAMEWORKS)
    assert fairness.group(summary(), FRAMEWORKS) != fairness.group(other, FRAMEWORKS)


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


MANY = replace(CASE, nodes=2, devices_per_node=8, device="gpu", precision="amp")
KINDS = {None: MANY, "fp32": replace(MANY, precision="fp32"), "one device": CASE}
KINDS["nameless"] = replace(MANY, model="resnet50")


def stating(of=None, framework="pytorch", without=(), speeds=SPEEDS, **given):
    """*of* of another framework, with its facts as *given* by the user, and others not known."""
    base = {fact.key: fact for fact in synthetic.FACTS if fact.key not in without}
    stated = {key: Fact(key=key, value=value, source="stated") for key, value in given.items()}
    return summary(replace(KINDS.get(of, of), framework=framework), speeds, facts=tuple({**base, **stated}.values()))


@pytest.mark.parametrize(("ours", "theirs", "key"), sources.table("fairness.toml")["kept_apart"])
def test_work_and_place_must_be_equal(ours, theirs, key):
    a, b = stating(**ours), stating(framework="mxnet", speeds=tuple(2 * speed for speed in SPEEDS), **theirs)

    assert keys(obstacles(a, b, FRAMEWORKS)) == [f"facts.{key}"]
    assert len(fairness.groups([a, b], FRAMEWORKS)) == 2


@pytest.mark.parametrize(("ours", "theirs", "apart", "unknown"), sources.cases("fairness.toml")["other_kinds"])
def test_what_is_another_kind_keeps_apart_and_what_may_be_the_same_is_preliminary(ours, theirs, apart, unknown):
    ours, theirs = stating(**ours), stating(**theirs)

    found = [(obstacle.key, obstacle.ours, obstacle.theirs) for obstacle in obstacles(ours, theirs, FRAMEWORKS)]
    assert found == list(apart)
    assert unknown == () or fairness.unknown_facts(ours, theirs) == unknown


@pytest.mark.parametrize("key", ["loader", "loader_workers", "memory_layout", "image", "kernel_switches", "nccl"])
def test_what_a_framework_chooses_never_keeps_it_out(key):
    a, b = stating(**{key: "one"}), stating(framework="mxnet", speeds=tuple(2 * one for one in SPEEDS), **{key: "two"})

    assert obstacles(a, b, FRAMEWORKS) == () and fairness.unknown_facts(a, b) == ()


@pytest.mark.parametrize("key", ["data", "optimiser", "clipping", "parallel_layout", "communication", "host_kind"])
def test_where_a_fact_is_unknown_a_ranking_is_preliminary_and_has_no_test(key):
    full = replace(MANY, protocol=Protocol())
    slow, fast = stating(full, without=[key]), stating(full, "mxnet", speeds=tuple(2 * speed for speed in SPEEDS))

    assert obstacles(fast, slow, FRAMEWORKS) == ()
    assert fairness.unknown_facts(fast, slow) == (key,)
    assert decisions.decide(slow, fast).known == "facts"


def test_runs_of_one_case_that_state_different_things_are_unlike_another_case():
    mixed = list(stating().measurements)
    other = Fact(key="data", value="imagenet", source="stated")
    mixed[2] = replace(mixed[2], facts=(*(fact for fact in mixed[2].facts if fact.key != "data"), other))

    (obstacle,) = obstacles(synthetic.summary(mixed), stating(framework="mxnet"), FRAMEWORKS)

    assert obstacle == Obstacle(key="facts.data", ours="synthetic; imagenet", theirs="synthetic")


def test_all_machines_that_count_are_looked_at_and_none_of_a_run_that_does_not():
    runs = [synthetic.measured(CASE, k, speed) for k, speed in enumerate(SPEEDS)]
    failed = replace(synthetic.failed(CASE, 5, "Killed"), environment=ELSEWHERE)
    mixed = [*runs[:3], replace(runs[3], environment=ELSEWHERE), runs[4]]

    (obstacle,) = obstacles(summary(), synthetic.summary(mixed), FRAMEWORKS)

    assert (obstacle.key, obstacle.theirs) == ("environment", f"{synthetic.CPU_KEY}; {ELSEWHERE}")
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


def test_an_effect_measured_on_two_machines_is_refused_with_the_reason_in_place_of_the_ratio(tmp_path):
    off, on = summary(), summary(replace(CASE, xla=True), tuple(1.26 * each for each in SPEEDS), environment=ELSEWHERE)
    book = Book(evaluation=synthetic.evaluation([off, on]))

    (change,) = changes.changes(book, book.planned)
    page = report.build(book.evaluation, tmp_path, languages=["en"])[0].read_text(encoding="utf-8")

    assert (change.ratio, change.outcome) == (None, None)
    (obstacle,), both = change.obstacles, f"{synthetic.CPU_KEY} / {ELSEWHERE}"
    said = why_not_comparable.sentence(obstacle, words.read())
    assert (said.plain("en"), said.plain("zh")) == (f"on different machines: {both}", f"测试机器不同：{both}")
    assert f"<td>on different machines: {both}<" in page and "1.26x" not in page
