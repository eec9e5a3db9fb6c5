"""The section on convergence: final values, curves, time to solution (docs/report.md#convergence)."""

import pages
import pytest


@pytest.fixture(scope="module")
def section(built):
    return built("training").section("convergence")


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", ["reaches 76%", "the same accuracy (within 0.3 points)", "does not reach 76%: −0.86 points⚠"]),
        ("zh-CN", ["达到 76%", "准确率相同（相差不超过 0.3 个百分点）", "未达到 76%：相差 −0.86 个百分点⚠"]),
    ],
)
def test_each_final_value_is_judged_against_the_target_and_the_smallest_batch(section, language, said):
    found = pages.rows(section.all("table", class_="values")[0], language)

    assert [row[6] for row in found] == said


def test_a_scaled_time_carries_its_sign_and_a_model_without_a_target_no_judgement(section):
    first, second, _ = pages.rows(section.all("table", class_="values")[0])
    assert first[5].startswith("≈74,000.0") and first[5].endswith("from 81 epochs")
    assert "≈" not in second[5]

    second = section.all("table", class_="values")[1]
    assert [row[0] for row in pages.rows(second)] == ["ChainerMN", "ChainerMN"]
    assert len(second.one("thead").all("th")) == 7
    assert "The criteria set no target for this model" in section.text("en")


def test_csv_and_summary_json_have_the_scores_and_what_the_rules_find(built):
    found = built("training").summary
    last = [row for row in built("training").table("scores") if row["split"] == "validation" and row["epoch"] == "81"]
    of_two = (one for one in found["summaries"] if one["case"]["total_devices"] == 2)
    two = next(one for one in of_two if one["case"]["framework"] == "pytorch")

    assert any(row["value"] == "76.282" for row in last)
    final = {"split": "validation", "metric": "top1", "epoch": 81, "value": 76.282, "at_s": 66600.0}
    assert final in two["final_scores"]
    solution = {"seconds": pytest.approx(74000.0), "epochs": 81, "scaled_by": pytest.approx(90 / 81)}
    assert two["time_to_solution"] == solution
    assert {"D17", "D24"} <= {finding["code"] for finding in found["findings"]}


def test_panels_and_axes_are_named_in_the_language_of_the_reader(section):
    english, chinese = (pages.rows(section.all("figure")[0].one("table"), language) for language in ("en", "zh-CN"))
    assert {"Training: top-1 accuracy", "Validation: top-1 accuracy"} <= {row[0] for row in english}
    assert {row[1] for row in english} == {"416", "1,664", "13,312"}
    assert {row[0] for row in chinese} == {"验证 Top-1 准确率", "训练 Top-1 准确率", "训练损失"}

    mixed, accuracy = (section.all("figure")[place].one("p", class_="fig-axes") for place in (0, 2))
    assert mixed.text("en") == "Vertical: value; a panel marked % is in per centHorizontal: epochs"
    assert accuracy.text("en") == "Vertical: value(%)Horizontal: epochs"
