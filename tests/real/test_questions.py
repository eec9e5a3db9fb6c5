"""The eight questions of a reader, of a planted campaign and of the examples; and how much work its page is."""

import functools

import pytest
import synthetic

from benchmarks import planted_logs
from evalsuite import report
from evalsuite.results.compare.scaling import with_scaling
from tests import sources
from tools.make_examples import EXAMPLES


def planted():
    """The campaign of which `benchmarks/planted_logs.py` writes logs, by what these logs say."""
    series = [[summary_of(each, scale) for scale in each.scales] for each in planted_logs.every()]
    rows = [summary for each in series for summary in with_scaling(each)]
    assert len(rows) == 984
    return synthetic.evaluation(rows, repeats=planted_logs.REPEATS, profile="full", title="984 cases")


def summary_of(series, scale):
    about = {"recipe": series.model, "device": "gpu", "protocol": synthetic.FULL, "options": ()}
    about |= {"model": series.model, "precision": series.precision, "batch_per_device": series.batch}
    case, rates = synthetic.case(series.framework, scale, **about), enumerate(planted_logs.values(series, scale))
    if series.too_large:
        return synthetic.summary(synthetic.failed(case, k, "CUDA out of memory") for k, _ in rates)
    return synthetic.summary(synthetic.measured(case, k, rate, environment=synthetic.GPU) for k, rate in rates)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Of the page of a campaign."""

    @functools.cache
    def of(name):
        evaluation = planted() if name == "planted" else EXAMPLES[name]()
        return report.build(evaluation, tmp_path_factory.mktemp(name))[0].as_uri()

    return of


ASKED_OF = sources.table("questions.toml")
ACTIONS = ASKED_OF["actions"]


@pytest.mark.parametrize(("page", "clicks", "place", "en", "zh"), ASKED_OF["rows"])
def test_a_question_is_answered_in_two_actions_at_most_in_both_languages(tab, address, page, clicks, place, en, zh):
    assert len(clicks) <= 2
    for language, said in (("en", en), ("zh", zh)):
        tab.visit(f"{address(page)}?{language}#lang={language}")
        for click in clicks:
            tab.evaluate(ACTIONS[click])
        tab.evaluate(f"document.querySelector('{place}').scrollIntoView()")
        tab.wait(f"document.querySelector('{place}').innerText.includes('{said[0]}')")
        answer = tab.evaluate(f"document.querySelector('{place}').innerText")

        assert [word for word in said if word not in answer] == []


@pytest.mark.parametrize(("box", "most_s"), [("lang]:not(:checked)", 0.3)])
def test_a_link_into_so_large_a_page_arrives_and_its_language_takes_little_work(tab, address, box, most_s):
    tab.visit(f"{address('planted')}#lang=en&at=quality")
    tops = [tab.evaluate("document.getElementById('quality').getBoundingClientRect().top") for _ in range(2)]
    tab.call("Performance.enable", timeDomain="threadTicks")  # what runs beside it takes no part
    worked_s = []
    for _ in range(6):
        worked_s.append(
            {each["name"]: each["value"] for each in tab.call("Performance.getMetrics")["metrics"]}["TaskDuration"]
        )
        tab.evaluate(f"document.querySelector('input[name={box}').click(); document.body.offsetHeight")

    assert min(tops) >= 0 and max(tops) <= 200 and abs(tops[0] - tops[1]) < 2  # what is above may settle by a pixel
    pairs = [(after - before) / 2 for before, after in zip(worked_s, worked_s[2:], strict=False)]  # on and off again
    assert 0 < min(pairs) < most_s  # the one that was disturbed least
