"""The published site in a real browser: nothing is fetched, nothing complains, both languages, any width."""

import chromium
import pytest
import reports
import synthetic

from evalsuite import report
from evalsuite.finished import history
from evalsuite.report.text import names
from evalsuite.site import publishing

chromium.require()

NARROW = {"width": 320, "height": 640, "deviceScaleFactor": 1, "mobile": False}
WIDE = {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}
PAGES = ("index.html", "history/resnet50_v1.5.html")
SEEN = "[...document.querySelectorAll('main {}')].filter(e => e.getClientRects().length).map(e => e.textContent.trim())"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Two days of one case, the second slower; a hostile report; and one page as it is really drawn."""
    folder = tmp_path_factory.mktemp("site")
    days = [reports.summary(), reports.summary(reports.SLOWER, day=2, version="2.1")]
    folders = [reports.written(folder / f"day{k}", reports.evaluation(day)) for k, day in enumerate(days)]
    folders.append(reports.written(folder / "hostile", synthetic.hostile()))
    report.build(synthetic.one_case(), folder / "real")
    publishing.publish([*folders, folder / "real"], folder / "site")
    return folder / "site"


@pytest.fixture(autouse=True)
def as_a_new_reader(tab):
    tab.call("Emulation.setDeviceMetricsOverride", **WIDE)
    tab.call("Emulation.setScriptExecutionDisabled", value=False)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_page_loads_without_a_complaint_and_fetches_only_itself(tab, site, page, language):
    address = (site / page).as_uri()

    tab.visit(f"{address}#lang={language}")

    assert tab.complaints() == []
    assert set(tab.requests()) == {address}
    assert tab.evaluate("document.documentElement.dataset.lang") == language


def test_the_language_changes_by_keyboard_with_the_title_of_the_page(tab, site):
    tab.visit(f"{(site / 'index.html').as_uri()}#lang=zh")
    tab.evaluate("document.getElementById('lang-zh').focus()")

    tab.press("ArrowRight")

    assert tab.evaluate(SEEN.format("section > h2 > i")) == ["Reports", "Regressions", "History"]
    assert tab.evaluate("document.title").startswith("Reports · ")
    assert tab.evaluate("document.documentElement.lang") == "en"


def test_without_script_one_language_is_shown_and_the_other_is_a_click_away(tab, site):
    tab.call("Emulation.setScriptExecutionDisabled", value=True)
    tab.visit((site / "index.html").as_uri())
    tab.call("Emulation.setScriptExecutionDisabled", value=False)

    before = tab.evaluate(SEEN.format("section > h2 > i"))
    tab.evaluate("document.getElementById('lang-en').checked = true")

    assert before == ["报告", "性能下降", "历史"]
    assert tab.evaluate(SEEN.format("section > h2 > i")) == ["Reports", "Regressions", "History"]


@pytest.mark.parametrize("page", PAGES)
def test_a_narrow_screen_scrolls_tables_and_never_the_page(tab, site, page):
    tab.call("Emulation.setDeviceMetricsOverride", **NARROW)

    tab.visit((site / page).as_uri())

    assert tab.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]


def test_a_narrow_screen_shows_the_result_of_each_report_and_charts_have_shapes(tab, site):
    tab.call("Emulation.setDeviceMetricsOverride", **NARROW)
    tab.visit((site / "index.html").as_uri())
    right = "Math.max(...[...document.querySelectorAll('.result p')].map(e => e.getBoundingClientRect().right))"
    assert tab.evaluate(right) <= NARROW["width"]

    tab.visit((site / "history/resnet50_v1.5.html").as_uri())
    signs = "[...document.querySelectorAll('svg.time .dot.slower')].map(e => e.nextElementSibling.textContent)"
    assert set(tab.evaluate(signs)) == {"▼"}


def test_hostile_text_runs_nowhere(tab, site):
    for page in PAGES:
        tab.visit((site / page).as_uri())

        assert tab.evaluate("document.querySelectorAll('img, iframe, [onerror], [onload]').length") == 0
        assert tab.evaluate("document.querySelectorAll('script').length") == 2


def test_a_measurement_leads_to_its_case_in_its_report(tab, site):
    tab.visit((site / "history/resnet50_v1.5.html").as_uri())
    links = tab.evaluate("[...document.querySelectorAll('td a')].map(a => a.href)")
    own = history.content_id(site.parent / "real")

    [link] = [link for link in links if f"/{own}/" in link]
    tab.visit(link)

    assert names.case_anchor(synthetic.one_case().summaries[0].case) in link
    assert tab.evaluate("document.querySelector(location.hash) !== null")
