"""The report in a real browser: nothing is fetched, nothing complains, everything works by keyboard."""

import csv
import io
import re

import chromium
import pytest
import synthetic

from evalsuite import report
from evalsuite.core import paths
from tests import sources
from tools import make_examples

chromium.require()

PAGES = ("quick", "thorough", "gpu", "partial", "hostile", "empty", "all_failed", "timers", "ladder",
         "training", "variants")  # fmt: skip
NUMBERS_CUT = """[...document.querySelectorAll('.results')].filter((one) => { one.closest('.scroll').scrollLeft = 60;
  const [first, ...others] = [...one.tHead.rows[0].cells].map((cell) => () => cell.getBoundingClientRect());
  return others.some((box) => box().left < first().right - 1 && box().right > first().right + 1); }).length"""
NARROW = {"width": 320, "height": 256, "deviceScaleFactor": 1, "mobile": False}  # 1280 × 1024 at 400 %
WIDE = {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}
SHOWN = "[...document.querySelectorAll('{}')].filter(e => e.getClientRects().length).length"


@pytest.fixture(autouse=True)
def as_a_new_reader(tab):
    tab.call("Emulation.setDeviceMetricsOverride", **WIDE)
    tab.call("Emulation.setScriptExecutionDisabled", value=False)
    tab.call("Emulation.setEmulatedMedia", media="", features=[])
    yield


@pytest.mark.parametrize("name", PAGES)
def test_the_page_loads_without_a_complaint_and_without_a_request(tab, address, name):
    tab.visit(f"{address(name)}#lang=en")

    assert tab.evaluate("document.documentElement.classList.contains('ready')")
    assert tab.complaints() == []
    assert set(tab.requests()) == {address(name)}


def test_hostile_text_runs_nowhere_and_stays_text_in_a_receipt(tab, address):
    tab.visit(f"{address('hostile')}#lang=en")
    tab.evaluate("document.querySelectorAll('.mark').forEach(mark => mark.focus())")
    tab.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")

    assert tab.evaluate("document.querySelectorAll('img, iframe, [onerror], [onload]').length") == 0
    assert tab.evaluate("document.querySelectorAll('script').length") == 2
    tab.evaluate(f"{NUMBER}.click()")
    assert drawn_receipt(tab)
    assert tab.evaluate("document.querySelectorAll('#drawer :is(b, img, script, iframe)').length") == 0
    assert tab.complaints() == []


# The words that a reader passes on two screens, without the contents at the side; a Chinese word has two signs.
TWO_SCREENS = """(() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
  let text = "";
  for (let node; (node = walker.nextNode()); ) {
    const holder = node.parentElement;
    if (!holder.checkVisibility() || holder.closest(".contents, .skip, .vh, .bar, script, style")) continue;
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (box.height && box.top < 2 * innerHeight) text += " " + node.data;
  }
  return text;
})()"""
DESK = {"width": 1440, "height": 900, "deviceScaleFactor": 1, "mobile": False}


def words_in(text: str) -> int:
    han = re.findall(r"[\u4e00-\u9fff]", text)
    return len(re.findall(r"[A-Za-z][\w.’'/-]*", text)) + len(han) // 2


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ["quick", "thorough", "gpu", "partial", "all_failed", *make_examples.EXAMPLES])
def test_two_screens_have_at_most_350_words_and_eight_brackets(tab, address, name, language):
    tab.call("Emulation.setDeviceMetricsOverride", **DESK)
    kept = make_examples.OUT / name / "report.html"
    tab.visit(f"{kept.as_uri() if kept.is_file() else address(name)}#lang={language}")
    text = tab.evaluate(TWO_SCREENS)

    assert (words_in(text) <= 350, len(re.findall(r"[(（]", text)) <= 8) == (True, True), (words_in(text), text)


def test_the_address_chooses_the_language_and_the_switch_changes_it_with_title_and_address(tab, address):
    heading = "document.documentElement.lang + ' ' + document.querySelector('#verdict-title').innerText.split('#')[0]"
    tab.visit(f"{address('quick')}#lang=zh")
    asked = tab.evaluate(heading)
    tab.evaluate("document.querySelector('#lang-en').click()")

    assert (asked, tab.evaluate(heading)) == ("zh-CN 结论", "en Verdict")
    assert "lang=en" in tab.evaluate("location.hash")
    assert tab.evaluate(SHOWN.format("main [lang=zh-CN]:not(.both)")) == 0


def test_without_script_everything_can_be_read_in_both_languages(tab, address):
    tab.call("Emulation.setScriptExecutionDisabled", value=True)
    tab.visit(address("quick"))
    chinese = tab.evaluate("document.querySelector('#verdict').innerText")
    tab.evaluate("document.querySelector('#lang-en').checked = true")
    english = tab.evaluate("document.querySelector('#verdict').innerText")

    assert "结论" in chinese and "Verdict" not in chinese
    assert "Verdict" in english and "结论" not in english
    assert tab.evaluate(SHOWN.format("table")) >= 15
    assert tab.evaluate(SHOWN.format(".fig-svg")) >= 1
    assert tab.evaluate(SHOWN.format(".js")) == 0


def test_a_number_leads_to_its_runs_and_their_log(tab, address):
    tab.visit(f"{address('quick')}#lang=en")
    tab.evaluate("document.querySelector('table.values a.num').click()")
    tab.evaluate("[...document.querySelectorAll('#drawer a')].at(-1).click()")
    receipt = tab.evaluate("document.querySelector('.is-target').innerText")

    assert drawn_receipt(tab) == ""
    assert "r0/log.bench-01.txt" in receipt
    assert tab.evaluate("document.querySelector('.is-target').closest('details').open")
    assert tab.evaluate("document.activeElement.matches('.is-target')")
    assert "at=c-" in tab.evaluate("location.hash")


def test_a_mark_of_the_chart_opens_the_receipt_of_its_own_case(tab, address):
    tab.visit(f"{address('thorough')}#lang=en")
    tab.evaluate(
        "document.querySelectorAll('.fig-svg a.num')[1].dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    )

    assert "same as in the report" in drawn_receipt(tab)


SAVES = (
    "window.saved = []; URL.createObjectURL = blob => { saved.push(blob); return 'blob:none' };"
    "HTMLAnchorElement.prototype.click = function () { saved.at(-1).file = this.download }"
)
FILES = "Promise.all(saved.map(async blob => [blob.file, await blob.text()]))"


def table(text):
    return list(csv.DictReader(io.StringIO(text.lstrip("\ufeff"))))


def test_tables_are_saved_from_the_page(tab, address):
    tab.visit(f"{address('quick')}#lang=en")
    tab.evaluate(SAVES)
    tab.evaluate(
        "document.querySelector('table.values').closest('.scroll').nextElementSibling.querySelector('button').click()"
    )
    ((name, values),) = tab.evaluate(FILES)

    assert re.fullmatch(r"table-\d+-\d+\.csv", name)
    assert [float(row[next(reversed(row))]) > 0 for row in table(values)]


def test_a_table_is_one_stop_that_is_seen_and_the_arrows_go_on_inside(tab, address):
    tab.visit(f"{address('thorough')}#lang=en")
    stops = "[...document.querySelectorAll('table.results')].map(t => t.querySelectorAll('[tabindex=\"0\"]').length)"
    where = "(cell => [cell.parentNode.rowIndex, cell.cellIndex])(document.activeElement.closest('td, th'))"
    tab.evaluate("document.querySelector('table.results td a').focus()")
    seen = [tab.evaluate(where)]
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "Tab"):
        tab.press(key)
        seen.append(tab.evaluate(f"document.activeElement.closest('table') ? {where} : null"))

    assert seen == [[1, 1], [1, 2], [2, 2], [3, 2], None]
    assert set(tab.evaluate(stops)) == {1}

    tab.visit(f"{address('thorough')}#lang=en&framework=TensorFlow")
    kept = "document.querySelector('table.results [tabindex=\"0\"]')"
    assert tab.evaluate(f"{kept}.checkVisibility()")


@pytest.mark.parametrize("name", ["quick", "full"])
def test_at_four_hundred_per_cent_nothing_is_cut_off(tab, address, name):
    tab.call("Emulation.setDeviceMetricsOverride", **NARROW)
    tab.visit(f"{address(name)}#lang=en")

    assert tab.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    assert tab.evaluate(NUMBERS_CUT) == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["quick", "gpu", "all_failed"])
def test_text_stands_out_from_its_ground(tab, address, name, theme):
    tab.visit(f"{address(name)}#lang=zh&theme={theme}")
    poor = tab.evaluate(CONTRAST)

    assert poor == []


def test_every_control_has_a_name_and_room_for_a_finger_and_the_page_can_be_walked_by_keyboard(tab, address):
    tab.visit(f"{address('quick')}#lang=en")
    shown = tab.evaluate(
        "[...document.querySelectorAll('button, summary, select, label')].filter(e => e.getClientRects().length)"
        ".map(e => [e.innerText.trim() || e.textContent.trim(), Math.round(e.getBoundingClientRect().height)])"
    )

    assert [entry for entry in shown if not entry[0]] == []
    assert [entry for entry in shown if entry[1] < 24] == []

    tab.visit(f"{address('quick')}#lang=en")
    seen = []
    for _ in range(12):
        tab.press("Tab")
        seen.append(
            tab.evaluate(
                "(e => e.id || e.getAttribute('href') || e.textContent.trim().slice(0, 20))(document.activeElement)"
            )
        )

    assert seen[0] == "#main"
    assert "lang-en" in seen
    assert "#verdict" in seen
    assert len(set(seen)) == len(seen)


STOPS = (
    "[...document.querySelectorAll('a[href], button, input, select, summary, [tabindex]')]"
    ".filter(e => !e.disabled && e.tabIndex >= 0 && e.checkVisibility()).length"
)


EXAMPLES = (paths.DATA.parent / "docs" / "examples").as_uri()
FOLDS = "[...document.querySelectorAll('details')].filter((one) => one.checkVisibility()).length"
CUT = "[...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth + 1).length"


@pytest.mark.parametrize(
    ("name", "screens", "stops"),
    [("cpu-quick", 9, 200), ("dlperf-v1", 24, 200), ("tianshu", 50, 300), ("recorded", 40, 380)],
)
def test_an_example_fits_into_its_screens_has_few_doors_and_cuts_no_table(tab, name, screens, stops):
    tab.call("Emulation.setDeviceMetricsOverride", **WIDE | {"width": 1440})
    tab.visit(f"{EXAMPLES}/{name}/report.html#lang=en")

    assert tab.evaluate("document.documentElement.scrollHeight") <= screens * 900
    assert tab.evaluate(STOPS) <= stops
    assert tab.evaluate(FOLDS) <= 20

    tab.call("Emulation.setDeviceMetricsOverride", **WIDE | {"width": 1280})
    tab.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    assert tab.evaluate(CUT) == 0


def test_print_shows_what_is_folded_and_forced_colours_keep_figures_and_states(tab, address):
    tab.visit(f"{address('quick')}#lang=zh")
    tab.call("Emulation.setEmulatedMedia", media="print")

    assert tab.evaluate(SHOWN.format(".controls, .filter, .contents, .permalink")) == 0
    seen = "['.facts', '.runs', '.annex > summary'].map((one) => document.querySelector(one).checkVisibility())"
    assert tab.evaluate(seen) == [False, False, True]  # what is long stays folded, with one line that says what it is

    tab.call("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "active"}])
    tab.visit(f"{address('quick')}#lang=en")

    assert tab.evaluate("matchMedia('(forced-colors: active)').matches")
    assert tab.evaluate(SHOWN.format(".fig-svg .mark")) > 0
    assert tab.complaints() == []


@pytest.mark.parametrize("script", [True, False])
def test_a_link_into_what_is_folded_opens_it(tab, address, script):
    tab.call("Emulation.setScriptExecutionDisabled", value=not script)
    tab.visit(f"{address('quick')}#models-table")
    first = tab.evaluate(SHOWN.format("#models-table"))
    tab.evaluate("document.querySelector('a.term').click()")
    tab.wait("document.querySelector('.glossary').checkVisibility()")

    assert first == 1
    assert tab.evaluate("document.querySelector('.glossary').closest('details').open")


# Every visible text against the nearest painted ground, as WCAG 2.2 computes it (w3.org/TR/WCAG22/#dfn-contrast-ratio).
CONTRAST = sources.text("browser_contrast.js")


@pytest.fixture(scope="module")
def questions(tmp_path_factory):
    """The address of a page of two models: a tie of BERT AMP at 32 devices."""
    return report.build(synthetic.asked(), tmp_path_factory.mktemp("questions"))[0].as_uri()


SEEN_TABLE = "[...document.querySelectorAll('.board-table')].filter(one => one.checkVisibility())"


@pytest.mark.parametrize("script", [True, False])
def test_a_model_and_a_scale_are_one_click_away_with_and_without_script(tab, questions, script):
    tab.call("Emulation.setScriptExecutionDisabled", value=not script)
    tab.visit(f"{questions}#lang=en")
    first = tab.evaluate(f"{SEEN_TABLE}.map(one => one.innerText)")
    tab.evaluate("[...document.querySelectorAll('.sheets > .tab')].at(-1).click()")
    second = tab.evaluate(f"{SEEN_TABLE}.map(one => one.innerText)")

    assert len(first) == len(second) == 1
    assert "ResNet-50" in first[0] and "BERT-Base" in second[0]
    assert "OneFlow" in second[0] and "CUDA out of memory" in second[0]


def test_the_reader_chooses_who_is_a_hundred_percent(tab, questions):
    tab.visit(f"{questions}#lang=en")
    ratios = f"[...{SEEN_TABLE}[0].querySelectorAll('tbody .ratio')].map(one => one.innerText)"
    before = tab.evaluate(ratios)
    tab.evaluate(
        "(box => { box.selectedIndex = 2; box.dispatchEvent(new Event('change', {bubbles: true})) })"
        "(document.querySelector('.baseline select'))"
    )
    after = tab.evaluate(ratios)

    assert before[0] == "100.0%" and after[1] == "100.0%" and float(after[0].rstrip("%")) > 100
    menu = "document.querySelector('.baseline option').textContent"
    zh = tab.evaluate(f"document.querySelector('#lang-zh').click(), {menu}")
    assert (tab.evaluate("document.documentElement.lang"), zh) == ("zh-CN", "最高者")


NUMBER = "[...document.querySelectorAll('main a.num[href^=\"#c-\"]')].find(link => link.getClientRects().length)"


def drawn_receipt(tab) -> str:
    return tab.evaluate("document.querySelector('#drawer').open ? document.querySelector('#drawer').innerText : ''")


@pytest.mark.parametrize(
    ("language", "said", "closes"),
    [
        ("zh", ("与报告一致", "日志行", "命令"), "关闭"),
        ("en", ("same as in the report", "Log lines", "Command"), "Close"),
    ],
)
def test_a_number_opens_its_receipt_where_it_stands_by_keyboard_too_and_gives_the_focus_back(
    tab, address, language, said, closes
):
    tab.visit(f"{address('quick')}#lang={language}")
    before = tab.evaluate("location.hash")
    tab.evaluate(f"{NUMBER}.click()")

    text = drawn_receipt(tab)
    assert all(word in text for word in (*said, closes)) and re.search("[0-9a-f]{64}", text)
    assert len(tab.evaluate("[...document.querySelectorAll('#drawer mark')].map(mark => mark.textContent)")) == 3
    assert tab.evaluate("location.hash") == before

    tab.evaluate("document.querySelector('.drawer-close').click()")
    assert drawn_receipt(tab) == ""
    assert tab.complaints() == []

    tab.evaluate(f"{NUMBER}.focus()")
    tab.press("Enter")

    assert drawn_receipt(tab)
    assert tab.evaluate("document.querySelector('#drawer').contains(document.activeElement)")

    tab.press("Escape")
    assert drawn_receipt(tab) == ""
    assert tab.evaluate(f"document.activeElement === {NUMBER}")


def test_every_receipt_counts_to_the_printed_value(tab, address):
    tab.visit(f"{address('thorough')}#lang=en")

    shown = tab.evaluate(
        "const links = [...document.querySelectorAll('main a.num[href^=\"#c-\"]')];"
        "[...new Set(links.map(link => link.getAttribute('href')))].map(hash => {"
        "const click = new MouseEvent('click', {bubbles: true, cancelable: true});"
        'document.querySelector(`main a.num[href="${hash}"]`).dispatchEvent(click);'
        "const said = document.querySelector('#drawer-result').className;"
        "document.querySelector('#drawer').close(); return said; })"
    )
    assert len(shown) > 5
    assert set(shown) == {"drawer-same"}
