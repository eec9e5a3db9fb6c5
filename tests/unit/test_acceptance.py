"""Acceptance on the page: every framework, model and precision in one matrix, with what would decide the open ones."""

import json

import accepted
import jsonschema
import pages
import pytest

from evalsuite import report
from evalsuite.core import paths
from evalsuite.core.model import Summary
from evalsuite.report.book import identity
from evalsuite.report.book.book import Book
from evalsuite.report.data import summary_json
from evalsuite.report.forms import markdown
from evalsuite.report.sections.common.section import Subject
from evalsuite.report.sections.verdict import verdict
from evalsuite.report.text import words
from tests import goldens
from tools import make_examples

SPOKEN = words.read()


@pytest.fixture(scope="module")
def subject():
    book = Book(evaluation=accepted.accepted())
    return Subject(book=book, words=SPOKEN)


@pytest.fixture(scope="module")
def cards(subject):
    return {card.verdict.criterion: card for card in verdict.facts(subject)["cards"]}


def cell(cards, criterion, *named):
    (found,) = (each for each in cards[criterion].cells if all(name in each["name"] for name in named))
    return found


def test_measured_runs_at_32_nodes_pass_fail_and_stay_open_each_with_its_reason(cards):
    passed, failed = cell(cards, "C1", "PyTorch", "ResNet-50", "FP32"), cell(cards, "C1", "MXNet", "ResNet-50", "FP32")
    broken, open_ = (
        cell(cards, "C1", "PaddlePaddle", "ResNet-50", "AMP"),
        cell(cards, "C1", "TensorFlow", "ResNet-50", "AMP"),
    )

    assert (passed["cell"].outcome, passed["value"].text) == ("pass", "93.1%")
    assert (failed["cell"].outcome, failed["value"].text) == ("fail", "63.7%")
    assert (broken["cell"].outcome, broken["value"]) == ("fail", None)
    assert open_["cell"].outcome == "undetermined"
    open_cell = open_["cell"]
    assert (open_cell.reason, open_cell.notes[0]) == ("not_decided", "spans")  # its interval holds the threshold


def test_a_criterion_is_a_row_of_the_page_and_of_markdown_with_what_it_says_of_each(subject, tmp_path):
    report.build(subject.book.evaluation, tmp_path)
    page = pages.read((tmp_path / "report.html").read_text(encoding="utf-8"))
    (table,) = page.all("table", class_="acceptance")
    rows = pages.rows(table)

    assert [row[0][:3].strip() for row in rows] == ["C1", "C2a", "C2b"]
    assert "Fail MXNet · ResNet-50 v1.5 · FP32 63.7%" in rows[0][-1]
    facts = verdict.in_every_form(subject)
    parts = markdown.make_writer("en").fill("verdict/verdict.md.j2", **facts, every_scale=False)
    (shown,) = [part for part in parts if "MXNet · ResNet-50 v1.5 · FP32 Fail 63.7%" in part]
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
