"""Why two results may not be compared, in words: every kind of obstacle has a sentence in both languages."""

import pytest

from evalsuite.report.book import why_not_comparable
from evalsuite.report.text import words
from evalsuite.results.compare.fairness import Obstacle
from tests import sources


def reason(key, ours, theirs, language="en"):
    return why_not_comparable.sentence(Obstacle(key=key, ours=ours, theirs=theirs), words.read()).plain(language)


def test_clocks_and_grounds_need_no_values():
    assert reason("grounds", "printed only", None).startswith("one of the two is printed by its script alone")
    sides = ("printed only", None)
    both = [Obstacle(key="grounds", ours=sides[k], theirs=sides[1 - k]) for k in (0, 1)]
    briefs = [why_not_comparable.brief(each, words.read()) for each in both]
    assert [each.plain("en") for each in briefs] == ["printed by its script alone", "timed by a clock"]
    uneven = "the value of one is not ranked: uneven speed over the window (see data quality)"
    assert reason("clocks", "D10 in a", None) == uneven


@pytest.mark.parametrize(("key", "english", "chinese"), sources.table("unlike.toml")["conditions"])
def test_a_condition_is_called_by_its_name_in_the_report(key, english, chinese):
    assert reason(key, "off", "1.0") == english
    assert reason(key, "off", "1.0", "zh") == chinese


def test_a_value_of_an_option_or_fact_is_written_as_in_the_tables():
    assert reason("facts.optimiser", "adam", "lazy adam") == "optimiser differs: Adam / LazyAdam"
    assert reason("classifier", "partial_fc", "data") == "classifier differs: Partial FC / data parallel"
    assert reason("options.data_loader", "dali", "1024", "zh") == "数据加载器不同：DALI / 1,024"


def test_what_is_not_recorded_is_said_so():
    assert reason("framework_version", None, "2.9") == "with different versions: not recorded / 2.9"
