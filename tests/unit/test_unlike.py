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
    of = ("grounds", "printed only", None), ("grounds", None, "printed only"), ("environment", "AMD EPYC", "Xeon")
    sides = [Obstacle(key=key, ours=ours, theirs=theirs) for key, ours, theirs in of]
    briefs = [why_not_comparable.brief(each, words.read()).plain("en") for each in sides]
    assert briefs == ["printed by its script alone", "timed by a clock", "the environment: AMD EPYC"]
    assert reason("clocks", "D10 in a", None).endswith("is not ranked: uneven speed over the window (see data quality)")


@pytest.mark.parametrize(("key", "english", "chinese"), sources.table("unlike.toml")["conditions"])
def test_a_condition_is_called_by_its_name_in_the_report(key, english, chinese):
    assert reason(key, "off", "1.0") == english
    assert reason(key, "off", "1.0", "zh") == chinese


def test_a_value_is_written_as_in_the_tables_and_what_is_not_recorded_is_said_so():
    assert reason("facts.optimiser", "adam", "lazy adam") == "optimiser differs: Adam / LazyAdam"
    assert reason("classifier", "partial_fc", "data") == "classifier differs: Partial FC / data parallel"
    assert reason("options.data_loader", "dali", "1024", "zh") == "数据加载器不同：DALI / 1,024"
    assert reason("framework_version", None, "2.9") == "with different versions: not recorded / 2.9"
