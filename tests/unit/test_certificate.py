import json
import xml.etree.ElementTree as xml
from dataclasses import replace

import corruptions
import pytest
import synthetic

from evalsuite import cli
from evalsuite.audit import certificate
from evalsuite.audit.certificate import Threshold, Thresholds
from evalsuite.commands.evidence import certify
from evalsuite.core.errors import Exit
from evalsuite.report.book.book import Book
from evalsuite.report.data import summary_json
from tests import sources

RATES = (98.0, 99.0, 100.0, 101.0, 102.0, 103.0)


@pytest.fixture
def facts():
    runs = [
        replace(synthetic.measured(synthetic.case(), number, rate), hosts=(host,))
        for number, (rate, host) in enumerate(zip(RATES, ("n1", "n1", "n2", "n2", "n2", "n2"), strict=True))
    ]
    document = summary_json.document(Book(evaluation=synthetic.evaluation([synthetic.summary(runs)])), "0" * 64)
    document["summaries"][0] |= {"partial": False, "base": document["summaries"][0]["id"]}
    return document


def certified(facts, holds, **others):
    settings = {name: others.pop(name) for name in ("nodes", "valid_days") if name in others}
    asked = Threshold(name="asked", holds=holds, **{"unit": "images/s", **others})
    return certificate.certify(facts, Thresholds(criterion=(asked,), **settings), seal="0", sha256="1")


@pytest.mark.parametrize(("holds", "others", "outcome", "reason"), sources.cases("certificate.toml")["thresholds"])
def test_a_threshold_is_judged_by_the_worse_end(facts, holds, others, outcome, reason):
    found = certified(facts, holds, **others)

    assert (found.outcome, found.checks[0].outcome, found.checks[0].reason) == (outcome, outcome, reason)
    assert certify.why(found.checks[0], "en") and (found.checks[0].fields != ()) == (reason == "unread")


@pytest.mark.parametrize(("value", "limit", "shown", "asked"), sources.table("certificate.toml")["printed"])
def test_a_value_is_shown_on_its_side_of_the_limit_and_without_a_power_of_ten(value, limit, shown, asked):
    one = certificate.Check(name="a", holds="b", measured={"value": value}, limit=limit)

    assert (certify.measured(one), certify.limit(one)) == (shown, asked)


def test_few_repeats_and_printed_values_decide_nothing_and_another_unit_is_refused(facts):
    [one] = facts["summaries"]
    one["partial"] = True
    assert certified(facts, "items_per_s >= 1").checks[0].reason == "few"
    one["runs"][0]["grounds"] = "printed"
    assert certified(facts, "items_per_s >= 1").checks[0].reason == "unconfirmed"
    with pytest.raises(certificate.EvalsuiteError, match="sequences/s"):
        certified(facts, "items_per_s >= 1", unit="sequences/s")
    with pytest.raises(certificate.EvalsuiteError, match="no stated unit, and"):
        certified(facts, "items_per_s >= 1", unit="")


def test_nodes_whose_runs_all_fail_or_that_were_not_measured_are_named(facts):
    found = certified(facts, "items_per_s >= 99.5", nodes=("n1", "n2", "n3"), valid_days=30)

    assert (found.failing, found.missing, found.outcome) == (("n1",), ("n3",), "UNDETERMINED")
    assert (found.checks[-1].name, found.checks[-1].reason) == ("n3", "missing")
    assert found.valid_until > found.measured_at
    assert found.short_hash != replace(found, seal="2").short_hash


def test_the_door_writes_a_page_a_document_and_junit_and_says_what_a_report_lacks(tmp_path, capsys):
    place, asked = corruptions.honest(tmp_path), tmp_path / "thresholds.toml"
    rate = '[[criterion]]\nname = "rate"\nholds = "items_per_s > 1"\nunit = "{}"\n'
    words = ["certify", str(place.report), "--thresholds", str(asked), "--out", str(tmp_path / "c")]

    asked.write_text(rate.format("images/s"))
    assert cli.main(words) == Exit.UNDETERMINED  # two repeats
    document = json.loads((tmp_path / "c" / "certificate.json").read_text())
    page = (tmp_path / "c" / "certificate.html").read_text()
    assert document["seal"] == place.seal and place.seal in page and page.count(document["hash"]) == 3
    suite = xml.parse(tmp_path / "c" / "junit.xml").getroot()
    assert (suite.get("tests"), suite.get("skipped"), len(suite.findall(".//testcase/skipped"))) == ("2", "2", 2)

    assert cli.main([*words[:-1], str(place.report / "c")]) == Exit.USAGE

    asked.write_text(rate.format("tokens/s"))
    assert cli.main(words) == Exit.USAGE
    asked.write_text(rate.format("images/s").replace("items_per_s", "speed"))
    assert cli.main(words) == Exit.USAGE
    (place.report / "report.zh.md").unlink()
    asked.write_text(rate.format("images/s"))
    assert cli.main(words) == Exit.UNDETERMINED
    assert "report.zh.md" in capsys.readouterr().out
    with (place.report / "report.en.md").open("a") as file:
        file.write("1")
    assert cli.main(words) == Exit.CRITERION_FAILED
