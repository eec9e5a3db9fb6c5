"""Criteria files that ask for something that is not there, or for less than they say, and what is said of them."""

from dataclasses import replace

from evalsuite import cli
from evalsuite.core.errors import Exit
from evalsuite.core.model import Utilisation
from evalsuite.report.sections.verdict import cards
from evalsuite.report.text import words
from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.judge import criteria
from evalsuite.results.judge.verdicts import verdicts
from evalsuite.results.measure.summary import summaries
from tests import runfolders
from tests.toys import CASE, measured

SPOKEN = words.read()
SCALE, LARGER, AMP = CASE.at_scale(20, 8), CASE.at_scale(40, 8), replace(CASE, precision="amp")
OTHER = replace(CASE, framework="othernet")
C1 = {"threshold": 0.8, "min_nodes": 20}


def runs(case, value, **changes):
    return [measured(case, r, value * (1 + 0.001 * r), **changes) for r in range(5)]


def judged(facts, *of, planned=()):
    rows = with_scaling(summaries([run for each in of for run in each]))
    return {verdict.criterion: verdict for verdict in verdicts(rows, criteria.of(facts, "my.toml"), planned)}


def stated(verdict, language="en"):
    return cards._card(verdict, SPOKEN).statement.plain(language)


GOOD = (*runs(CASE, 100.0), *runs(SCALE, 14_000.0))
POOR = (*runs(OTHER, 100.0), *runs(OTHER.at_scale(20, 8), 9_000.0))


def test_a_criterion_is_about_the_frameworks_that_it_names_and_says_so_and_without_a_scope_about_all():
    found = judged({"C1": {**C1, "scope": {"frameworks": ["toynet"]}}}, GOOD, POOR)["C1"]
    every = judged({"C1": C1}, GOOD, POOR)["C1"]

    assert (found.outcome, [cell.framework for cell in found.cells]) == ("pass", ["toynet"])
    assert "Only: toynet" in stated(found) and "仅限：toynet" in stated(found, "zh")
    assert every.outcome == "fail" and "Only" not in stated(every)


def test_the_largest_planned_scale_alone_is_judged_where_that_is_asked_for_and_the_card_says_so():
    alone = {"C1": {**C1, "aggregation": "largest_scale"}}
    uneven = (runs(CASE, 100.0), runs(SCALE, 9_000.0), runs(LARGER, 28_000.0))

    found = judged(alone, *uneven)["C1"]
    lost = judged(alone, GOOD, planned=(CASE, SCALE, LARGER))["C1"]  # the largest did not go well

    assert (found.outcome, found.cells[0].scales) == ("pass", ("40x8",))
    assert "at the largest scale" in stated(found)
    assert judged(alone, GOOD, runs(LARGER, 18_000.0))["C1"].outcome == "fail"
    assert judged({"C1": C1}, *uneven)["C1"].outcome == "fail"
    assert (lost.outcome, lost.reason) == ("undetermined", "missing")


def test_one_reading_of_utilisation_can_be_asked_for():
    gpu = Utilisation(resource="gpu", unit="%", mean=90.0, p5=90.0, p95=90.0, samples=200, coverage=1.0)
    of = runs(SCALE, 14_000.0, utilisation=(gpu, replace(gpu, resource="cpu", mean=60.0)))
    alone = runs(SCALE, 14_000.0, utilisation=(gpu,))

    assert list(judged({"C2": {"threshold": 0.8, "metric": "gpu"}}, of)) == ["C2a"]
    assert list(judged({"C2": {"threshold": 0.8, "metric": "all_resources"}}, of)) == ["C2b"]
    without = judged({"C2": {"threshold": 0.8, "metric": "all_resources"}}, alone)["C2b"]
    assert (without.outcome, without.reason) == ("undetermined", "no_capacity")


def test_the_comparison_of_frameworks_has_a_scope_too():
    third = replace(CASE, framework="thirdnet")
    of = (runs(CASE, 100.0), runs(OTHER, 110.0), runs(third, 120.0))

    found = judged({"C3": {"scope": {"frameworks": ["toynet", "othernet"]}}}, *of)["C3"]

    assert found.case.framework == "othernet"


def test_a_report_by_criteria_that_select_nothing_is_not_written(tmp_path, capsys):
    runfolders.finished(tmp_path / "runs")
    file = tmp_path / "my.toml"
    file.write_text('[C1]\nthreshold = 0.8\nmin_nodes = 1\nscope = { frameworks = ["toynett"] }\n')

    code = cli.main(
        ["report", "--runs", str(tmp_path / "runs"), "--out", str(tmp_path / "out"), "--criteria", str(file)]
    )

    assert code == Exit.USAGE
    assert "my.toml: [C1.scope] frameworks" in capsys.readouterr().err
    assert not (tmp_path / "out" / "report.html").exists()
