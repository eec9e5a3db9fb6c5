import json
import re

import corruptions
import pytest

from evalsuite import cli
from evalsuite.core import expressions
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.findings import OwnCriteria
from evalsuite.core.model import Utilisation
from evalsuite.plan import spec
from evalsuite.report.sections.verdict import cards
from evalsuite.report.text import words
from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.judge import criteria
from evalsuite.results.judge.verdicts import verdicts
from evalsuite.results.measure.summary import summaries
from evalsuite.results.rules import own_figures
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import Store
from tests import runfolders, sources
from tests.toys import CASE, measured

CRITERIA = criteria.read()
EXPRESSIONS = sources.table("expressions.toml")


def rows(scales, repeats=5, **changes):
    runs = [
        measured(CASE.at_scale(nodes, 8 if nodes > 1 else devices), repeat, value + repeat / 100, **changes)
        for nodes, devices, value in scales
        for repeat in range(repeats)
    ]
    return with_scaling(summaries(runs))


def test_gpu_utilisation_is_judged_where_it_is_lowest():
    def gpu(mean):
        of_all = {"resource": "gpu", "unit": "%", "p5": 0, "p95": 100, "samples": 20_000, "coverage": 1.0}
        return {"utilisation": (Utilisation(mean=mean, **of_all),)}

    both = [*rows([(20, 8, 100.0)], **gpu(95.0)), *rows([(25, 8, 900.0)], **gpu(60.0))]
    found = next(verdict for verdict in verdicts(both, CRITERIA) if verdict.criterion == "C2a")

    assert (found.outcome, found.measured.value, found.case.nodes) == ("fail", pytest.approx(0.60), 25)


# the file


def written(folder, text):
    file = folder / "own.toml"
    file.write_text(text, encoding="utf-8")
    return file


C1 = "[C1]\nthreshold = 0.8\nmin_nodes = 2\n"


def test_the_default_file_asks_for_all_criteria_and_a_table_that_is_left_out_for_none(tmp_path):
    assert criteria.Threshold(threshold=0.8, min_nodes=20) == CRITERIA.C1
    assert criteria.Threshold(threshold=0.8, min_nodes=20) == CRITERIA.C2

    only_columns = criteria.read(written(tmp_path, '[[column]]\nname = "mine"\nvalue = "n"\n'))
    assert only_columns.C1 == CRITERIA.C1 and only_columns.column[0].name == "mine"
    asked = criteria.read(written(tmp_path, C1))
    assert [verdict.criterion for verdict in verdicts(rows([(1, 1, 100.0)]), asked)] == ["C1"]
    assert asked.target == ()


@pytest.mark.parametrize(
    ("min_nodes", "en", "zh"),
    [(2, "of 2 nodes or more", "不少于 2 个节点"), (1, "of 1 node or more", "不少于 1 个节点")],
)
def test_the_card_says_the_scale_that_the_file_asks_for(min_nodes, en, zh, tmp_path):
    asked = criteria.read(written(tmp_path, C1.replace("= 2", f"= {min_nodes}")))
    (verdict,) = verdicts(rows([(1, 1, 100.0)], origin="cited"), asked)

    card = cards._card(verdict, words.read())

    for said in (card.statement, card.reason):
        assert str(min_nodes) in said.plain("en")
        assert "20" not in said.plain("en") + said.plain("zh")
    assert en in card.statement.plain("en")
    assert zh in card.statement.plain("zh")


def test_compare_refuses_a_bad_file_before_anything_is_started(tmp_path, capsys):
    file = written(tmp_path, C1.replace("0.8", "80"))

    code = cli.main(["compare", "--frameworks", "pytorch", "--runs", str(tmp_path / "runs"), "--criteria", str(file)])

    assert code == Exit.USAGE
    assert "Did you mean 0.8?" in capsys.readouterr().err
    own = '[[criterion]]\nname = "k"\nholds = "n > 1"\n'
    for text, why in ((f"{own}frameworks = ['pytorhc']", "k.*pytorhc"), (own * 2, "each name once")):
        words = ["--runs", str(tmp_path / "runs"), "--criteria", str(written(tmp_path, text))]
        assert cli.main(["compare", "--frameworks", "pytorch", *words]) == Exit.USAGE
        assert re.search(why, capsys.readouterr().err)
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(("text", "differences"), sources.cases("criteria.toml")["named"])
def test_criteria_that_are_not_the_usual_ones_are_named(text, differences, tmp_path):
    (tmp_path / "own.toml").write_text(criteria.DEFAULT.read_text() if text == "the usual ones" else text)

    findings = list(criteria.read(tmp_path / "own.toml").findings(tmp_path / "own.toml"))

    assert [(type(finding), finding.differences, finding.where) for finding in findings] == (
        [(OwnCriteria, differences, "own.toml")] if differences else []
    )


@pytest.mark.parametrize(("holds", "outcome", "reason"), EXPRESSIONS["judged"])
def test_a_criterion_of_ones_own_is_judged_by_both_ends_of_the_interval(holds, outcome, reason, tmp_path):
    asked = criteria.read(written(tmp_path, f'[[criterion]]\nname = "own"\nholds = "{holds}"\n')).criterion
    (found,) = own_figures.verdicts(rows([(1, 1, 100.0)]), asked, ())
    (missing,) = own_figures.verdicts(rows([(1, 1, 100.0)]), asked, [CASE.at_scale(2, 8)])

    assert (found.outcome, " ".join((found.reason, *found.notes)), found.holds) == (outcome, reason, holds)
    assert cards._card(found, words.read()).reason and cards._card(found, words.read()).statement.plain("en").endswith(
        holds
    )
    assert missing.outcome == ("fail" if outcome == "fail" else "undetermined")


def test_a_column_of_a_spec_is_in_plan_page_tables_and_summary(tmp_path):
    runfolders.finished(tmp_path / "runs", runfolders.Host(printed=(runfolders.steps(seconds=0.5),)))
    own = spec.read(written(tmp_path, '[[column]]\nname = "twice"\nvalue = "items_per_s * 2"\nunit = "images/s"\n'))
    store = Store(tmp_path / "runs")
    store.write_plan(Planned(profile="own", repeats=1, cases=(CASE,), skips=(), columns=own.columns))

    asked = written(tmp_path, '[price]\ncurrency = "EUR"\ndevice_hour = 2.88\nkwh = 0.3\n')
    cli.main(["report", "--runs", str(tmp_path / "runs"), "--out", str(tmp_path / "o"), "--criteria", str(asked)])

    (summary,) = json.loads((tmp_path / "o" / "summary.json").read_text())["summaries"]
    assert summary["figures"]["own_twice"] == pytest.approx(128, rel=1e-3)
    assert summary["figures"]["own_cost"] == pytest.approx(2.88 / 3600 / 64 * 1e6, rel=1e-3)
    assert expressions.values("energy_j_per_item / 3.6 * 0.3", {"energy_j_per_item": 0.6}) == pytest.approx((0.05,))
    assert "twice = items_per_s * 2" in (tmp_path / "o" / "report.html").read_text()
    assert "own_twice" in (tmp_path / "o" / "tables" / "summaries.csv").read_text()


@pytest.mark.parametrize(("text", "said"), EXPRESSIONS["refused"])
def test_an_expression_is_arithmetic_over_known_fields_and_nothing_else(text, said, tmp_path):
    with pytest.raises(EvalsuiteError, match=said):
        criteria.read(written(tmp_path, f"[[criterion]]\nname = 'own'\nholds = '{text}'\n"))


@pytest.mark.parametrize("value", ["1e999", "1e308*10", "n*1e400", "n / (n - n)", "0*1e999", "-1e999"])
def test_a_column_that_never_has_a_value_is_refused_when_the_file_is_read(value, tmp_path):
    with pytest.raises(EvalsuiteError, match="never has a value"):
        criteria.read(written(tmp_path, f"[[column]]\nname = 'own'\nvalue = '{value}'\n"))


def test_a_certificate_names_outcome_seal_last_day_and_the_nodes_that_fail_or_lack(tmp_path, capsys):
    place, asked, page = corruptions.honest(tmp_path), tmp_path / "criteria.toml", tmp_path / "certificate.html"
    criterion = '[[criterion]]\nname = "rate"\nholds = "items_per_s > {}"\n'
    words = ["report", "--runs", str(place.runs), "--out", str(place.report), "--criteria", str(asked)]

    asked.write_text(criterion.format("1e9") + '[certificate]\nvalid_days = 30\nnodes = ["n7"]\n')
    assert cli.main([*words, "--certificate", str(page)]) == Exit.DONE
    text = page.read_text()
    assert all(each in text for each in (place.seal, "n7", "2026-12-20", "未测量的节点"))
    assert "UNDETERMINED by own criteria, not those of evalsuite; valid until 2026-12-20" in capsys.readouterr().out

    assert cli.main([*words, "--certificate", str(place.report / "c.html")]) == Exit.USAGE


@pytest.mark.parametrize(
    "name", ["mfu", "Efficiency", "C1", "the C2a of the lab", "Linear speed-up", "加速比", "utilization"]
)
def test_a_name_of_the_house_is_refused_for_a_criterion_and_a_column_with_what_to_call_it(name, tmp_path):
    for kind, rest in (("criterion", 'holds = "cv < 0.05"'), ("column", 'value = "n"')):
        text = f'[[{kind}]]\nname = "{name}"\n{rest}\n'
        if "column" not in text or (name.islower() and name.isascii()):
            with pytest.raises(EvalsuiteError, match=f'"{name}" is the name .* call it lab_'):
                criteria.read(written(tmp_path, text))
