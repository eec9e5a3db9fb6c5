"""Acceptance on the page: every framework, model and precision in one matrix, with what would decide the open ones."""

import json

import accepted
import jsonschema
import pages
import pytest
import synthetic

from evalsuite import report
from evalsuite.core import paths
from evalsuite.core.model import Summary
from evalsuite.report.book import identity
from evalsuite.report.book.blocks import models
from evalsuite.report.book.book import Book
from evalsuite.report.data import summary_json
from evalsuite.report.forms import markdown
from evalsuite.report.sections.common import captioned_figure
from evalsuite.report.sections.common.section import Subject
from evalsuite.report.sections.verdict import verdict
from evalsuite.report.text import words
from tests import goldens
from tools import make_examples

SPOKEN = words.read()


@pytest.fixture(scope="module")
def subject():
    book = Book(evaluation=accepted.accepted())
    return Subject(book=book, models=models(book), look=captioned_figure.look(book), words=SPOKEN)


@pytest.fixture(scope="module")
def matrix(subject):
    return verdict.facts(subject)["accepted"]


def cell(matrix, framework, column):
    return {row.criterion: row for row in dict(matrix.rows)[framework][column]}


def test_one_matrix_holds_all_that_is_asked_for_and_reasons_stand_once_below_it(matrix):
    assert matrix.models == (("ResNet-50 v1.5", 2), ("BERT-Base", 1)) and matrix.precisions == ("FP32", "AMP", "AMP")
    assert [framework for framework, _ in matrix.rows] == ["MXNet", "OneFlow", "PaddlePaddle", "PyTorch", "TensorFlow"]
    assert all({item.criterion for item in each} == {"C1", "C2a", "C2b"} for _, cells in matrix.rows for each in cells)

    said = [note.plain("en") for note in matrix.notes]

    assert len(said) == len(set(said)) == 3
    note = cell(matrix, "TensorFlow", 1)["C1"].note
    assert "More repeats would decide." in said[note - 1] and "增加重复次数" in matrix.notes[note - 1].plain("zh")
    missing = {cell(matrix, "TensorFlow", 2)[name].note for name in ("C1", "C2a")}
    assert len(missing) == 1 and "Planned scales without a valid result: 32×8" in said[missing.pop() - 1]


def test_measured_runs_at_32_nodes_pass_fail_and_stay_open(matrix):
    passed, failed, broken = cell(matrix, "PyTorch", 0), cell(matrix, "MXNet", 0), cell(matrix, "PaddlePaddle", 1)

    assert (passed["C1"].outcome, passed["C1"].value.text, passed["C1"].note) == ("pass", "93.1%", None)
    assert (failed["C1"].outcome, failed["C1"].value.text) == ("fail", "63.7%")
    assert (broken["C1"].outcome, broken["C1"].value) == ("fail", None)
    assert cell(matrix, "MXNet", 2)["C2a"].outcome == "fail"
    assert cell(matrix, "TensorFlow", 1)["C1"].outcome == cell(matrix, "TensorFlow", 2)["C2a"].outcome == "undetermined"


@pytest.mark.parametrize("name", ["one_case", "gpu"])  # of one cell; of small scales, where no criterion can apply
def test_without_two_cells_that_a_criterion_is_about_there_is_no_matrix(name):
    book = Book(evaluation=synthetic.PAGES[name]())

    facts = verdict.facts(Subject(book=book, models=models(book), look=captioned_figure.look(book), words=SPOKEN))

    assert facts["accepted"] is None and facts["not_here"] is not None


def test_the_page_and_markdown_show_the_same_outcomes(subject, tmp_path):
    report.build(subject.book.evaluation, tmp_path)
    page = pages.read((tmp_path / "report.html").read_text(encoding="utf-8"))
    (table,) = page.all("table", class_="acceptance")
    rows = pages.rows(table)

    assert rows[0][1] == "C1 Fail 63.7% C2a Pass 91.0% C2b Fail 35.3%"
    writer = markdown.make_writer("en")
    (shown,) = [part for part in verdict.section(subject).markdown(writer) if "C1: Fail 63.7%" in part]
    assert "| MXNet | C1: Fail 63.7%; C2a: Pass 91.0%; C2b: Fail 35.3% |" in shown
    assert "资源" not in shown and "GPU、CPU、内存、网络" in page.one("section", id="verdict").text("zh-CN")


# the examples of `docs/examples` show what their data give today, and are what `make examples` writes


HOUSE = paths.DATA.parent
EXAMPLES = HOUSE / "docs" / "examples"
SCHEMA = json.loads((paths.DATA / "schema" / "summary.schema.json").read_text(encoding="utf-8"))


NAMES = list(make_examples.EXAMPLES)


@pytest.fixture(scope="module", params=NAMES)
def example(request):
    return request.param, make_examples.EXAMPLES[request.param]()


def figures(evaluation):
    """A line for each case: throughput, speed-up and efficiency; nothing beside a case without a value."""
    lines = ["case,throughput,speedup,efficiency"]
    for summary in evaluation.summaries:
        measured = isinstance(summary, Summary)
        values = (summary.items_per_s, summary.speedup, summary.efficiency) if measured else (None, None, None)
        printed = ("" if value is None else f"{value.value:.10g}" for value in values)
        lines.append(",".join((f'"{summary.case.id}"', *printed)))
    return "\n".join(lines) + "\n"


def test_the_figures_of_an_example_are_those_that_it_had_and_its_summary_keeps_to_the_published_schema(example):
    name, evaluation = example

    found = figures(evaluation)

    assert found == goldens.expected(f"examples/{name}.csv", found)
    assert len(evaluation.summaries) >= 8

    document = json.loads(json.dumps(summary_json.document(Book(evaluation=identity.ordered(evaluation)), "0" * 64)))

    jsonschema.validate(document, SCHEMA)
    assert len(document["summaries"]) == len(evaluation.summaries)


@pytest.mark.parametrize("name", NAMES)
def test_git_keeps_page_and_markdown_of_an_example_and_nothing_else(name):
    ignored = {"summary.json", "manifest.json", "tables"}

    kept = {path.name for path in (EXAMPLES / name).iterdir()} - ignored

    assert kept == {"report.html", "report.en.md", "report.zh.md", "report.en.svg", "report.zh.svg"}
