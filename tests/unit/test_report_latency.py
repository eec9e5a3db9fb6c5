import pages
import pytest
import synthetic

from evalsuite.report.book.book import Book
from evalsuite.report.data import summary_json, tables
from tests import sources


def test_tables_and_summary_hold_the_percentiles_that_runs_and_cases_have():
    book = Book(evaluation=synthetic.thorough())
    run, case = tables.rows(book)["runs"][0], tables.rows(book)["summaries"][0]
    times = book.measurements[0].throughput.step_time_s
    said = summary_json.document(book, "0" * 64)["summaries"][0]["latency"]

    assert [run["latency_p50_s"], run["latency_p99_s"]] == [sorted(times)[49], sorted(times)[98]]
    assert (case["latency_reports"], case["latency_steps_per_report"]) == (100, 1.0)
    of_case = {f"p{percent}_s": case[f"latency_p{percent}_s"] for percent in (50, 90, 99)}
    assert said == {**of_case, "reports": 100, "steps_per_report": 1.0}

    failed, short = (tables.rows(Book(evaluation=of()))["runs"][0] for of in (synthetic.all_failed, synthetic.quick))
    assert (failed["latency_p50_s"], failed["latency_reports"]) == (None, None)
    assert short["latency_p90_s"] is not None
    assert (short["latency_p99_s"], short["latency_reports"]) == (None, 30)


# the section on convergence: final values, curves, time to solution (docs/numbers.md#convergence)


@pytest.fixture(scope="module")
def section(built):
    return built("training").section("convergence")


@pytest.mark.parametrize(("language", "said"), sources.cases("report_latency.toml")["judged"])
def test_each_final_value_is_judged_against_the_target_and_the_smallest_batch(section, language, said):
    found = pages.rows(section.all("table", class_="values")[0], language)

    assert [row[6] for row in found] == list(said)


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
    of_two = (summary for summary in found["summaries"] if summary["case"]["total_devices"] == 2)
    two = next(each for each in of_two if each["case"]["framework"] == "pytorch")

    assert any(row["value"] == "76.282" for row in last)
    final = {"split": "validation", "metric": "top1", "epoch": 81, "value": 76.282, "at_s": 66600.0}
    assert final in two["final_scores"]
    solution = {"seconds": pytest.approx(74000.0), "epochs": 81, "scaled_by": pytest.approx(90 / 81)}
    assert two["time_to_solution"] == solution
    assert "D24" in {finding["code"] for finding in found["findings"]}
