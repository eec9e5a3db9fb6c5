"""The section on networks and algorithms: what one option changes, and what that costs (docs/report.md#variants)."""

from dataclasses import replace

import pages
import pytest
import synthetic

from evalsuite import report
from evalsuite.core.model import Machine
from evalsuite.report.book import blocks
from evalsuite.report.book.book import Book
from evalsuite.report.sections.common import captioned_figure
from evalsuite.report.sections.variants import families as room
from evalsuite.report.sections.variants import sweeps
from evalsuite.report.text import words
from tests import sources


@pytest.fixture(scope="module")
def section(built):
    return built("variants").section("variants")


def families(summaries=None):
    evaluation = synthetic.variants() if summaries is None else synthetic.evaluation(summaries)
    return room.families(Book(evaluation=evaluation))


def ladder(recipe="benchmark-resnet50", speed=20.0, **options):
    """Five runs of one case with these options."""
    of = synthetic.case(
        "bluefog", recipe=recipe, options=tuple(sorted(options.items())), protocol=synthetic.FULL, batch_per_device=32
    )
    return synthetic.summary(synthetic.measured(of, k, speed + k / 10) for k in range(5))


def test_each_change_is_of_one_option_at_one_scale_and_batch_size_and_a_side_without_a_result_shows_its_state(section):
    found, chinese = (pages.rows(section.all("table", class_="values")[0], language) for language in ("en", "zh-CN"))
    lost = next(row for row in found if row[1:4] == ["default → gradient all-reduce", "4×8", "64"])

    assert len(found) == 12
    assert {row[0] for row in found} == {"optimiser"}
    assert found[0][1:4] == ["default → gradient all-reduce", "1×1", "32"]
    assert all(float(row[4].partition("x")[0]) > 0 for row in found if "OOM" not in row)
    assert (*lost[4:6], lost[-1]) == ("OOM", "OOM", "OOM")
    assert chinese[0][:2] == ["优化器", "默认 → 梯度 AllReduce"]


def test_efficiency_stands_at_the_largest_scale_that_two_share_with_its_base(section):
    bluefog, chainermn = (table for table in section.all("table", class_="values") if table["data-filter"] == "columns")
    note = next(element for element in section.all("p", class_="note") if "base =" in element.text("en"))

    assert [row[:2] for row in pages.rows(bluefog)] == [["32", "32"], ["64", "32"]]
    assert pages.rows(bluefog)[1][3] == "OOM"
    assert "base 16 devices" in pages.rows(bluefog)[0][4]
    assert "base 8 devices" in pages.rows(chainermn)[0][2]
    assert "base = 1, 16 devices" in note.text("en")


def test_a_chain_of_changes_is_taken_apart_into_single_ones():
    chainermn = families()[1]

    assert [setting.name(words.read()).plain("en") for setting in chainermn.settings] == [
        "10 Gbit/s Ethernet",
        "10 Gbit/s Ethernet + double buffering",
        "InfiniBand FDR",
        "FP16 all-reduce + 10 Gbit/s Ethernet + double buffering",
    ]
    assert {(change.option, *change.values) for change in chainermn.changes} == {
        ("communication", "ethernet-10g", "infiniband-fdr"),
        ("double_buffering", None, "on"),
        ("allreduce_grad_dtype", None, "float16"),
    }


def test_every_variant_has_a_line_and_the_one_without_an_option_is_called_default(section):
    lines, changes = section.all("figure")[0], section.all("figure")[2]

    legend = [entry.text("en") for entry in lines.one(class_="fig-legend").all("li")]
    assert legend == ["ideal line"]  # the lines have their names at their ends
    expected = {"默认", "梯度 AllReduce", "分层邻居 AllReduce"}
    assert {row[0] for row in pages.rows(lines.one("table"), "zh-CN")} == expected
    assert not changes.all(class_="fig-legend")  # a row for each change, which names it
    assert "Before is always “default”." in changes.text("en")


def test_accuracy_is_drawn_against_time_and_its_cost_stands_beside_the_gain(section):
    figure = section.all("figure")[-1]
    assert "Accuracy of ChainerMN by variant over time" in figure.text("en")
    assert "Horizontal: time(h)" in figure.text("en")
    assert len({row[1] for row in pages.rows(figure.one("table"))}) == 4

    table = section.all("table", class_="values")[2]
    found = {(row[0], row[1], row[2]): row[5] for row in pages.rows(table)}  # judged alike: no column
    assert found["all-reduce data type", "default → FP16", "4×8"] == ("76.10% → 75.80%−0.30 points · after 90 epochs")
    assert found["communication", "10 Gbit/s Ethernet → InfiniBand FDR", "1×8"] == "n/r"


@pytest.mark.parametrize(("one", "other"), sources.table("report_variants.toml")["no_variants"])
def test_what_differs_in_more_than_one_option_is_no_variant(one, other):
    assert families([ladder(**one), ladder(**other)]) == ()


def test_cases_of_two_environments_have_no_ratio():
    there = ladder(optimiser="allreduce")
    moved = replace(
        there, measurements=tuple(replace(run, environment=Machine(name="elsewhere")) for run in there.measurements)
    )

    ((change,),) = (family.changes for family in families([ladder(), moved]))

    assert [obstacle.key for obstacle in change.obstacles] == ["environment"]
    assert change.ratio is None


def test_a_difference_is_significant_by_the_rules_of_all_comparisons_and_what_switches_nothing_on_is_the_base():
    near, far = (families([ladder(), ladder(optimiser="x", speed=speed)])[0].changes[0] for speed in (20.05, 30.0))
    (family,) = families([ladder(fp16_allreduce="on"), ladder(fp16_allreduce="off")])

    assert (near.evidence, far.evidence) == ("tie", "decided")
    assert family.changes[0].values == ("off", "on")


def test_families_that_differ_in_the_protocol_alone_say_so():
    short = [replace(row.case, protocol=synthetic.QUICK) for row in (ladder(), ladder(optimiser="x"))]
    quick = [synthetic.summary(synthetic.measured(of, k, 20.0) for k in range(3)) for of in short]

    found = families([ladder(), ladder(optimiser="x"), *quick])

    heads = {room.heading(family, words.read()).plain("en").rpartition(", ")[2] for family in found}
    assert heads == {"20 warm-up and 100 measured steps", "5 warm-up and 30 measured steps"}


def test_hostile_values_of_options_stay_text(tmp_path):
    found = [ladder(), ladder(optimiser=" ".join(synthetic.HOSTILE))]

    html = report.build(synthetic.evaluation(found), tmp_path)[0].read_text(encoding="utf-8")

    assert pages.read(html).one("section", id="variants")
    assert not any(text in html for text in ('<script>alert("x")', "<img src=x", "<svg onload"))


def test_the_csv_has_every_change_with_both_cases(built):
    table = built("variants").table("variants")
    last = next(row for row in table if row["after"] == "float16" and row["metric"])

    assert len(table) == 12 + 9
    assert float(last["ratio"]) > 1
    assert (last["evidence"], last["final_before"], last["final_after"]) == ("decided", "76.1", "75.8")
    assert last["case_id_after"].endswith("-4x8")


def test_what_an_option_of_several_sizes_does_is_drawn_of_all_frameworks_in_the_setting_that_has_most_of_them():
    def of(name, size, **about):
        case = synthetic.case(name, options=(("deep_vocabulary", str(size)),), protocol=synthetic.FULL, **about)
        return synthetic.summary([synthetic.measured(case, 0, 900.0 / (size if name == "hugectr" else 1))])

    rows = [of(name, size) for name in ("hugectr", "oneflow") for size in (1, 2, 3)]
    book = Book(evaluation=synthetic.evaluation([*rows, *(of("oneflow", size, nodes=2) for size in (1, 2))]))
    (model,) = blocks.models(book)
    option, found = sweeps.of_option(book, model)
    figure = sweeps.draw_option(model, option, found, captioned_figure.look(book), words.read())

    assert [(one.name(words.read()).plain("en"), len(one.points)) for one in found] == [("HugeCTR", 3), ("OneFlow", 3)]
    assert "by −66.7% (HugeCTR) to 0.0% (OneFlow)" in figure.title.plain("en")
