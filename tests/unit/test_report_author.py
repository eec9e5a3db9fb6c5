import json
from io import BytesIO

import jsonschema
import openpyxl
import pages
import pytest
import synthetic

from evalsuite import paths, report
from evalsuite.findings import AuthorContradicted
from evalsuite.report import forms
from evalsuite.report.book.book import Book
from evalsuite.report.sections.author import author, author_file
from evalsuite.report.text import words

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


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "findings.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_numbers_of_the_author_are_the_computed_ones_and_a_wrong_one_is_a_finding(file):
    found = author.attached(synthetic.quick(), author_file.read(file(GOOD)))
    ((_, said),) = author.notes(Book(evaluation=found), words.read())

    assert said.plain("en").startswith("There are 4 frameworks; the speedup is 1.")
    assert [(f.code, f.written, f.computed) for f in found.findings] == [("D23", "8", 4)]


@pytest.mark.parametrize(("written", "agrees"), [("1.93", True), ("1.9", True), ("2", True), ("1.95", False)])
def test_a_written_number_agrees_if_it_is_the_computed_one_rounded(written, agrees):
    assert author._agrees(written, 1.9269, "file:1") is agrees


@pytest.fixture(scope="module")
def noted(tmp_path_factory):
    """An evaluation with a note of its author, and the folder of its report."""
    folder = tmp_path_factory.mktemp("noted")
    (folder / "findings.toml").write_text(GOOD, encoding="utf-8")
    found = author.attached(synthetic.quick(), author_file.read(folder / "findings.toml"))
    report.build(found, folder)
    return found, folder


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


SAID = """
[document]
title = {{ zh = "{zh}", en = "{en}" }}
expected = [{{ zh = "比其他框架快 9 倍", en = "9 times as fast as others" }}]
"""


@pytest.mark.parametrize(
    ("en", "zh", "claims"),
    [
        ("PyTorch is fastest on H100: 98.6 % linear", "PyTorch 最快：98.6% 线性", ["98.6 % linear", "98.6% 线性"]),
        ("MXNet is the fastest", "MXNet 最快", ["fastest", "最快"]),
        ("9 frameworks are compared", "对比 9 个框架", ["9 frameworks", "9 个框架"]),
        ("4.7 times, or 4.7x, or 4.7-fold", "4.7 倍", ["4.7 times", "4.7x", "4.7-fold", "4.7 倍"]),
        ("It makes 99,999 images/s, 77 % faster", "快 77%", ["99,999 images/s", "77 % faster", "快 77%"]),
        ("Two frameworks on 4x8, in 4 cases of 1.0 s", "两个框架，4 个用例", []),
        ("Over 50 % linear; the speed-up is 1.83x", "扩展效率高于 50%，加速比 1.83 倍", []),
        ("Which is the fastest?", "哪个最快？", []),
        ("The aim is 98.6 % linear. No framework is fastest", "目标：98.6% 线性。没有最快的", []),
    ],
)
def test_plain_claims_that_the_numbers_contradict_are_marked_and_found(en, zh, claims, file):
    evaluation = synthetic.thorough()

    found = author.attached(evaluation, author_file.read(file(SAID.format(en=en, zh=zh))))

    assert {one.claim for one in found.findings if isinstance(one, AuthorContradicted)} == set(claims)
    assert all(f"{claim} [" in found.document.title.en for claim in claims if claim in en)
    assert all(f"{claim}［" in found.document.title.zh for claim in claims if claim not in en)
    assert found.document.expected[0].en == "9 times as fast as others"
