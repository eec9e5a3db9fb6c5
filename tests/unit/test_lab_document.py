"""`[document]` and `[[problems]]` of an author file: the lab's own report, with chapter numbers that do not move."""

import json
import re
from dataclasses import replace
from io import BytesIO

import jsonschema
import openpyxl
import pages
import pytest
import synthetic

from evalsuite import report
from evalsuite.core import author_document, paths
from evalsuite.core.author_document import BothLanguages, LabDocument, OwnSection
from evalsuite.finished import finished
from evalsuite.report import forms
from evalsuite.report.book import outline
from evalsuite.report.book.book import Book
from evalsuite.report.page import contents
from evalsuite.report.sections.author import author, author_file
from evalsuite.report.sections.common.section import Subject
from evalsuite.report.text import names, words
from tests import sources

DOCUMENT = sources.text("lab_document.toml")
EIGHT = [
    *("1 Introduction", "2 Background", "3 ResNet-50 v1.5", "4 BERT-Base", "5 Face recognition", "6 GPT-2"),
    *("7 Wide & Deep", "8 Problems"),
]


@pytest.fixture
def read(tmp_path):
    def reading(text):
        file = tmp_path / "author.toml"
        file.write_text(text, encoding="utf-8")
        return author_file.read(file)

    return reading


def chapters(evaluation):
    """The chapters of the page as "3 ResNet-50 v1.5"."""
    book = Book(evaluation=evaluation)
    subject = Subject(book=book, words=words.read())
    return [
        f"{number} {section.title if isinstance(section.title, str) else section.title.plain('en')}"
        for number, section in contents.place_sections(subject)
    ]


def documented(evaluation, **changes):
    return replace(evaluation, document=LabDocument(title=BothLanguages(zh="一", en="one"), **changes))


def of_models(*names):
    """The quick evaluation with its cases trained on other models."""
    quick = synthetic.quick()
    found = []
    for name in names:
        found += [replace(row, case=replace(row.case, model=name, recipe=f"script-{name}")) for row in quick.summaries]
    return replace(quick, summaries=tuple(found), planned=tuple(row.case for row in found), verdicts=())


def test_the_eight_chapters_have_their_numbers_whatever_data_there_are():
    for models in ((), ("resnet50_v1.5",), ("bert_base",), ("wide_and_deep", "resnet50_v1.5")):
        found = chapters(documented(of_models(*models)))

        numbers = [chapter.partition(" ")[0] for chapter in found]
        assert numbers[:9] == [*"12345678", "A1"]
        assert [each for each in found[:8] if "ResNet" not in each] == [each for each in EIGHT if "ResNet" not in each]


@pytest.mark.parametrize(("evaluation", "part", "expected"), sources.cases("lab_chapters.toml")["chapters"])
def test_chapters_of_models_have_the_number_of_their_kind_or_a_place_of_their_own(evaluation, part, expected):
    models, document = evaluation
    found = of_models(*models) if document is None else documented(of_models(*models), **document)

    assert chapters(found)[slice(*part)] == list(expected)


def test_the_chapters_and_places_that_a_lab_may_name_are_those_of_the_report_and_models_keep_their_order():
    given = [module.__name__.rpartition(".")[2] for module in contents.WHOLE]
    renamed = {"introduction": outline.INTRODUCTION, "author_sections": outline.OWN}
    known = [model for chapter in outline.MODEL_CHAPTERS for model in chapter.models]

    assert sorted(renamed.get(name, name) for name in given) == sorted(outline.ORDERED)
    places = {"own", *outline.FREE_PLACES, *(chapter.key for chapter in outline.MODEL_CHAPTERS)}
    assert set(author_document.Place.__args__) == places
    assert sorted(known, key=names.model_order) == known


@pytest.mark.parametrize("place", author_document.Place.__args__)
@pytest.mark.parametrize("kind", ["tianshu", "free"])
def test_no_own_section_is_lost(place, kind, tmp_path):
    section = OwnSection(
        title=BothLanguages(zh="标", en="Head"), text=BothLanguages(zh="文", en="Body-of-mine"), place=place
    )
    evaluation = documented(synthetic.quick(), outline=kind, sections=(section,))
    report.build(evaluation, tmp_path, ["en"])

    assert (tmp_path / "report.html").read_text(encoding="utf-8").count("Body-of-mine") == 1


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The page and the folder of a report with everything that a lab can write."""
    folder = tmp_path_factory.mktemp("published")
    (folder / "author.toml").write_text(DOCUMENT, encoding="utf-8")
    attached = author.attached(synthetic.quick(), author_file.read(folder / "author.toml"))
    report.build(attached, folder)
    forms.write(("md",), attached, folder, ("zh", "en"))
    return pages.read((folder / "report.html").read_text(encoding="utf-8")), folder


def test_the_page_has_the_labs_title_platform_expectations_and_main_results(published):
    page, _ = published
    background, introduction = (page.one("section", id=name) for name in ("background", "intro"))

    assert page.one("h1").text("zh-CN") == "天枢大规模分布式训练评测报告（作者原文）"
    assert page.one("h1").text("en") == "Tianshu: <b>large-scale</b> training (author’s words)"
    assert page.one("p", class_="kicker").text("en") == "A lab"
    assert "Platform one." in background.text("en") and "Platform two." in background.text("en")
    [link] = [link for link in background.all("a") if "Its page" in link.text("en")]
    assert link["href"] == "https://example.org/a?b=1&c=2"
    # the first screen is none of the lab's chapters, and Markdown has it above them
    for said in ("Outstanding, of 4 frameworks", "Main results", "ResNet-50 v1.5"):
        assert said in introduction.text("en")


def test_an_own_section_stands_in_its_chapter_though_the_model_is_untested_and_others_in_the_labs_order(published):
    chapter = published[0].one("section", id="untested-gpt2")
    heads = [head.text("en").split("#")[0].strip() for head in published[0].all("h2")]

    assert "Not tested." in chapter.text("en") and "As <i>follows</i>." in chapter.text("en")
    assert re.search(r"6\.1\s+Conventions", chapter.one("h3").text("en"))
    assert [head[:2].strip() for head in heads if "Data quality" in head or "Thanks" in head] == ["9", "10"]


def test_kept_problems_stand_with_owner_and_answer(published):
    problems = published[0].one("section", id="problems")
    rows = problems.all("table")[0].one("tbody").all("tr")

    assert [row.one("th").text("en") for row in rows] == ["8-1", "8-2"]
    told = rows[0].text("en")
    assert "Why is it slow?" in told and "Li <b>Wei</b>" in told and "2026-11-20" in told and "closed" in told
    assert "Because of 24 runs." in told
    assert "nobody yet" in rows[1].text("en") and "no answer yet" in rows[1].text("en")


def test_the_documents_title_and_problems_stand_in_markdown_and_in_the_summary_that_is_read_back(published):
    summary = json.loads((published[1] / "summary.json").read_text(encoding="utf-8"))
    jsonschema.validate(summary, json.loads((paths.DATA / "schema" / "summary.schema.json").read_text()))
    assert [problem["status"] for problem in summary["problems"]] == ["closed", "open"]
    assert finished.read(published[1]).document.title.zh == "天枢大规模分布式训练评测报告"

    text = (published[1] / "report.en.md").read_text(encoding="utf-8")
    assert text.startswith("# Tianshu: &lt;b&gt;large-scale")
    assert "Because of 24 runs." in text


def test_a_wrong_number_in_the_document_is_a_finding(read):
    attached = author.attached(synthetic.quick(), read(DOCUMENT.replace("{frameworks|4}", "{frameworks|8}")))

    assert [(finding.code, finding.written) for finding in attached.findings if finding.code == "D16"] == [("D16", "8")]


# report author


CASE = synthetic.case("pytorch", (1, 2)).id
GOOD = f"""
[[finding]]
severity = "flag"
owner = "Li <b>Wei</b>"
decides = true
cases = ["{CASE}"]
zh = "共 {{frameworks|8}} 个框架，加速比 {{speedup:{CASE}}}。"
en = "There are {{frameworks|8}} frameworks; the speedup is {{speedup:{CASE}}}."
"""


def test_numbers_of_the_author_are_the_computed_ones_and_a_wrong_one_is_a_finding(read):
    attached = author.attached(synthetic.quick(), read(GOOD))
    ((_, said),) = author.notes(Book(evaluation=attached), words.read())

    assert said.plain("en").startswith("There are 4 frameworks; the speedup is 1.")
    assert [(f.code, f.written, f.computed) for f in attached.findings] == [("D16", "8", 4)]


@pytest.mark.parametrize(("written", "agrees"), [("1.93", True), ("1.9", True), ("2", True), ("1.95", False)])
def test_a_written_number_agrees_if_it_is_the_computed_one_rounded(written, agrees):
    assert author._agrees(written, 1.9269, "file:1") is agrees


@pytest.fixture(scope="module")
def noted(tmp_path_factory):
    """An evaluation with a note of its author, and the folder of its report."""
    folder = tmp_path_factory.mktemp("noted")
    (folder / "findings.toml").write_text(GOOD, encoding="utf-8")
    attached = author.attached(synthetic.quick(), author_file.read(folder / "findings.toml"))
    report.build(attached, folder)
    return attached, folder


def test_the_notes_stand_in_problems_and_in_the_section_of_their_model(noted):
    page = pages.read((noted[1] / "report.html").read_text(encoding="utf-8"))

    for section in ("problems", "model-resnet50_v1.5"):
        note = page.one("section", id=section).one("ul", class_="notes")
        assert "共 4 个框架" in note.text("zh-CN")
        assert "Li <b>Wei</b>" in note.text("en")
        assert "A verdict depends on it" in note.text("en")
        assert not note.all("b")


def test_the_notes_stand_in_markdown_spreadsheet_tables_and_summary(noted):
    found, folder = noted
    forms.write(("md", "xlsx"), found, folder, ("zh", "en"))

    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    (note,) = summary["author_findings"]
    jsonschema.validate(summary, json.loads((paths.DATA / "schema" / "summary.schema.json").read_text()))
    assert note["en"].startswith("There are 4 frameworks; the speedup is 1.")
    assert (note["owner"], note["cases"], note["decides"]) == ("Li <b>Wei</b>", [CASE], True)
    (markdown,) = [line for line in (folder / "report.en.md").read_text().split("\n") if "There are 4" in line]
    assert markdown.startswith("- **")
    assert "Followed up by Li &lt;b&gt;Wei&lt;/b&gt;" in markdown and "A verdict depends on it." in markdown
    sheet = openpyxl.load_workbook(BytesIO((folder / "report.xlsx").read_bytes())).worksheets[-1]
    told = dict(zip(*[[cell.value for cell in row] for row in sheet.iter_rows(max_row=2)], strict=True))
    assert told["zh"].startswith("共 4 个框架") and told["cases"] == CASE
    assert "There are 4 frameworks" in (folder / "tables" / "author_findings.csv").read_text(encoding="utf-8-sig")
