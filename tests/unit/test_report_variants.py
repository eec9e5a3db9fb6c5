"""The section on networks and algorithms: what one option changes, and what that costs (docs/numbers.md#variants)."""

import pages
import pytest
import synthetic

from evalsuite.report.book import board
from evalsuite.report.book import changes as room
from evalsuite.report.book.book import Book
from evalsuite.report.text import words
from tests import sources


@pytest.fixture(scope="module")
def section(built):
    return built("variants").section("variants")


def changes(summaries=None):
    evaluation = synthetic.variants() if summaries is None else synthetic.evaluation(summaries)
    return room.changes(Book(evaluation=evaluation), evaluation.planned)


def ladder(recipe="benchmark-resnet50", speed=20.0, **options):
    """Five runs of one case with these options."""
    of = synthetic.case(
        "bluefog", recipe=recipe, options=tuple(sorted(options.items())), protocol=synthetic.FULL, batch_per_device=32
    )
    return synthetic.summary(synthetic.measured(of, k, speed + k / 10) for k in range(5))


def test_each_change_is_of_one_option_at_one_scale_and_batch_size_of_which_both_sides_have_a_value(section):
    (table,) = section.all("table", class_="values")
    found, chinese = (pages.rows(table, language) for language in ("en", "zh-CN"))
    ours = [row for row in found if row[2].startswith("Bluefog")]

    assert len(ours) == 11  # one side of a twelfth ran out of memory
    assert {row[0] for row in ours} == {"optimiser"}
    assert all(float(row[7].partition("x")[0]) > 0 for row in ours)
    assert ["优化器", "默认 → 梯度 AllReduce"] in [row[:2] for row in chinese]


def test_a_chain_of_changes_is_taken_apart_into_single_ones():
    found = {(change.option, *change.values) for change in changes() if change.before.framework == "chainermn"}

    assert found == {
        ("communication", "ethernet-10g", "infiniband-fdr"),
        ("double_buffering", None, "on"),
        ("allreduce_grad_dtype", None, "float16"),
    }


@pytest.mark.parametrize(("one", "other"), sources.table("report_variants.toml")["no_variants"])
def test_what_differs_in_more_than_one_option_is_no_variant(one, other):
    assert changes([ladder(**one), ladder(**other)]) == ()


def test_a_difference_is_significant_by_the_rules_of_all_comparisons_and_what_switches_nothing_on_is_the_base():
    near, far = (changes([ladder(), ladder(optimiser="x", speed=speed)])[0] for speed in (20.05, 30.0))
    (switched,) = changes([ladder(fp16_allreduce="on"), ladder(fp16_allreduce="off")])

    assert (near.outcome, far.outcome) == ("equal", "ahead")
    assert switched.values == ("off", "on")


def test_the_csv_has_every_change_with_both_cases(built):
    table = built("variants").table("variants")
    last = next(row for row in table if row["after"] == "float16" and row["case_id_after"].endswith("-4x8"))

    assert len(table) == 12 + 9
    assert float(last["ratio"]) > 1 and last["outcome"] == "ahead"


def test_the_finding_of_variants_says_what_each_option_changes_at_the_scale_shown():
    found = synthetic.evaluation([ladder(), ladder(optimiser="x", speed=30.0)])
    made = board.board(Book(evaluation=found), words.read())

    assert made.finding.plain("en") == "Throughput at 1×1: optimiser default → x +49.5%."
    assert made.finding.plain("zh") == "1×1 的吞吐率变化：优化器：默认 → x +49.5%。"
