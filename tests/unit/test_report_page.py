import random
import re
from dataclasses import replace
from itertools import pairwise

import pages
import pytest
import synthetic

from evalsuite import report
from evalsuite.report.book import blocks
from evalsuite.report.book.book import Book
from evalsuite.report.book.states import GLYPHS
from evalsuite.report.data import tables
from evalsuite.report.page import render
from evalsuite.report.text import names, words
from tests import sources
from tests.runfolders import contents

SPOKEN = words.read()


@pytest.fixture(params=[name for name in synthetic.TRIED if name != "full"])  # "full" has tests of its own
def page(request, built):
    return built(request.param).page


# what holds for every page


def test_ids_are_unique_and_every_link_receipt_and_label_has_its_target(page):
    ids = [element["id"] for element in page.all() if element["id"]]
    links = {element["href"][1:] for element in page.all("a") if (element["href"] or "").startswith("#")}
    refs = {element["href"][1:] for element in page.all("a", class_="num")}
    receipts = {element["id"] for element in page.one(id="reproduction").all("tbody") if element["id"]}

    assert len(ids) == len(set(ids))
    assert sorted(links - set(ids)) == []
    assert refs <= receipts | {card["id"] for card in page.all("article")}
    for svg in page.all("svg", class_="fig-svg"):
        assert svg["role"] == "group"
        assert svg["aria-labelledby"] in ids


def test_every_table_has_a_caption_and_scoped_heads_and_no_cell_or_placeholder_is_left_empty(page):
    empty = [cell for tag in ("td", "th") for cell in page.all(tag) for lang in ("zh-CN", "en") if not cell.text(lang)]

    assert empty == []
    for table in page.all("table"):
        assert table.all("caption")
        assert all(head["scope"] for head in table.all("th"))

    text = page.one("body").text()
    assert "None" not in re.sub(r"\{\{ 7\*7 \}\} \{placeholder\}", "", text)
    assert not re.search(r"\{[a-z_]+(\|[^}]*)?\}", text.replace("{placeholder}", ""))


def test_both_languages_show_the_same_numbers(page):
    shown = [section for section in page.one("main").all("section") if section["id"] != "glossary"]
    for element in (element for section in shown for element in section.all()):
        children = [child for child in element.children if isinstance(child, pages.Element)]
        for one, other in pairwise(children):
            if (one["lang"], other["lang"]) != ("zh-CN", "en") or "both" in (one["class"] or ""):
                continue
            if one.tag != "text" or "…" not in one.text() + other.text():  # a figure cuts labels that have no room
                assert sorted(pages.numbers_in(one.text())) == sorted(pages.numbers_in(other.text()))


def test_sections_are_numbered_without_gaps_and_no_level_of_heading_is_skipped(page):
    numbers = [heading.one(class_="no").text() for heading in page.all("h2") if heading.all(class_="no")]
    levels = [int(element.tag[1]) for element in page.all() if re.fullmatch(r"h[1-6]", element.tag)]

    annex = [number for number in numbers if number.startswith("A")]
    chapters = len(numbers) - len(annex)
    assert numbers == [str(place) for place in range(1, chapters + 1)] + [f"A{k}" for k in range(1, len(annex) + 1)]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_nothing_is_fetched_no_style_or_handler_stands_in_an_element_and_the_policy_allows_ours_only(page):
    for element in page.all():
        assert "style" not in element.attributes
        assert not any(name.startswith("on") for name in element.attributes)
        assert element["src"] is None
        assert element.tag not in ("img", "iframe", "object", "embed", "link", "base")
        assert not (element["href"] or "#").startswith(("http", "//", "javascript"))

    policy = page.one("meta", http_equiv="Content-Security-Policy")["content"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert policy.count("'sha256-") == len(page.all("style")) + sum(not s["type"] for s in page.all("script"))


# one build


def test_the_order_of_the_input_changes_nothing(built, tmp_path):
    evaluation = synthetic.partial()
    shuffle = random.Random(3).sample
    shuffled = replace(
        evaluation,
        planned=tuple(shuffle(evaluation.planned, len(evaluation.planned))),
        summaries=tuple(shuffle(evaluation.summaries, len(evaluation.summaries))),
        verdicts=tuple(reversed(evaluation.verdicts)),
        commands=dict(reversed(evaluation.commands.items())),
    )

    report.build(shuffled, tmp_path)

    assert contents(tmp_path) == contents(built("partial").folder)


def test_tables_open_in_a_spreadsheet_and_compute_nothing(built):
    found = contents(built("hostile").folder / "tables")

    assert set(found) == {f"{name}.csv" for name in tables.COLUMNS}
    for content in found.values():
        assert content.startswith(b"\xef\xbb\xbf")
        assert not re.search(rb'(^|,|\n)"?=', content)


def test_files_have_a_row_for_each_run_raw_values_and_what_a_program_asks_for(built):
    rows = {row["run_id"]: row for row in built("quick").table("runs")}
    runs = [run for summary in synthetic.quick().summaries for run in summary.measurements]
    assert all(float(rows[run.run.id]["items_per_s"]) == run.value for run in runs)
    assert {row["window_steps"] for row in built("partial").table("runs")} == {"", "30"}

    found = built("quick").summary
    summary = found["summaries"][0]
    assert found["schema_version"] == 3
    assert {verdict["criterion"] for verdict in found["verdicts"]} == {"C1", "C2a", "C2b"}
    assert summary["id"] == summary["case"]["id"]
    assert set(summary["throughput"]) == {"value", "low", "high", "coverage"}
    assert summary["throughput"]["coverage"] == 0.75
    assert summary["utilisation"][0]["samples"] > 0
    assert found["data_quality"]["runs_made"] == 24


# the verdict block


@pytest.mark.parametrize(("name", "bold", "en", "zh"), sources.cases("report_page.toml")["the_fastest_by_more_than"])
def test_the_fastest_by_more_than_noise_is_bold_and_named_first_and_none_without_enough_repeats(
    name, bold, en, zh, built
):
    page = built(name).page
    first = page.one(class_="found")

    assert bool(page.all("td", class_="best")) is bold
    assert en in first.text("en").replace("\u00a0", " ") and zh in first.text("zh-CN")
    assert ("is fastest" in page.one("section", id="verdict").text("en")) is bold


@pytest.mark.parametrize(("name", "signs", "section", "words"), sources.table("report_page.toml")["ends"])
def test_each_end_of_a_run_has_its_own_sign_in_its_table_and_its_reason_below(name, signs, section, words, built):
    page = built(name).page
    results = page.all("table", class_="results")
    cells = [cell.text("en") for table in results for cell in table.all("td", class_="state")]

    assert {sign: cells.count(GLYPHS[sign]) for sign in signs} == signs
    assert all(said in page.one(id=section).text("en") for said in words)


def test_environments_that_differ_are_shown_apart_and_units_never_mixed(built):
    rows = built("gpu").page.all("tr", class_="differs")
    assert {row.one("th").text("en") for row in rows} == {"Driver", "CUDA of the driver"}

    captions = [table.one("caption").text("en") for table in built("mixed_units").page.all("table", class_="values")]
    units = [set(re.findall(r"(?:images|samples)/s", caption)) for caption in captions]

    assert {"images/s"} in units and {"samples/s"} in units
    assert all(len(unit) <= 1 for unit in units)


def test_a_thousand_devices_are_shown_on_one_page_with_the_row_of_what_is_met(built):
    page = built("full").page
    chapters = [section["id"] for section in page.all("section", class_="chapter")]
    assert "125×8" in page.one(class_="values").text()
    assert chapters[:2] == ["model-resnet50_v1.5", "model-bert_base"]

    row = built("full").page.one("table", class_="acceptance").text("en")
    assert all(part in row for part in ("Pass", "86.1%", "84.2–87.7%", "80.0%", "125×8"))


def test_a_card_says_where_the_efficiency_of_a_framework_goes_in_all_its_settings(built):
    page = built("ladder").page
    cards = {card.one("h4").text("en"): card for card in page.all("article") if card["id"].startswith("why-")}
    bars = [[float(bar["width"]) for bar in svg.all("rect")] for svg in cards["PyTorch"].all("svg")]

    assert bars and all(sum(row) == pytest.approx(200, abs=0.5) for row in bars)
    assert page.all(class_="why-key")[0].text("en").strip() == "left; lost:"
    said = cards["PaddlePaddle"].text("en")
    assert "89.0% of what is added the cores are busy, for 11.0% they wait; what for" in said


def test_hostile_text_is_shown_spelled_out_and_never_becomes_markup(built):
    page = built("hostile").page

    assert [script["type"] for script in page.all("script")] == [None, None]
    assert page.one("h1").text("en") == synthetic.HOSTILE[0]
    assert not [element for element in page.all() if element["onload"] or element["onerror"]]

    text = built("hostile").html
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]", text)
    assert r"\x1b[31mred" in text


@pytest.mark.parametrize("form", [names.visible, names.without_unseen])
@pytest.mark.parametrize("sign", "\u061c\u180e\u200b\u200d\u200e\u202e\u2028\u2063\u2067\ufeff\u00ad\u3164\U000e0041")
def test_what_has_no_width_or_turns_the_direction_is_shown_by_its_number(form, sign):
    assert form(f"每{sign}秒\u202f") == f"每{ascii(sign)[1:-1]}秒\u202f"


def test_anchors_are_safe_and_long_names_break_behind_their_signs():
    assert names.case_anchor(synthetic.case()) == names.case_anchor(synthetic.case())
    assert re.fullmatch(r"c-[0-9a-f]{10}", names.case_anchor(synthetic.case("</script>")))
    assert render._short('<td class="n">1 <a href="a b">x</a></td>\n<td>2</td>\n</tr>\n</tbody><tbody>') == (
        '<td class=n>1 <a href="a b">x</a><td>2<tbody>'
    )
    assert render.breakable("a.b_c/<d" * 3).startswith("a.<wbr>b_<wbr>c/&lt;d") and render.breakable("1.6.0") == "1.6.0"


@pytest.mark.parametrize(("changes", "size", "sequences"), sources.table("report_page.toml")["input_sizes"])
def test_the_size_of_a_models_input_is_what_its_cases_or_the_model_itself_fix(changes, size, sequences):
    book = Book(evaluation=synthetic.evaluation((), planned=(synthetic.case(**changes),)))
    (model,) = blocks.models(book)

    assert (model.input, model.sequences) == (size, sequences)
