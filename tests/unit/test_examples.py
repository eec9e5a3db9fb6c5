"""The examples of `docs/examples` show what their data give today, and are what `make examples` writes."""

import json

import jsonschema
import pytest

from evalsuite import paths
from evalsuite.model import Summary
from evalsuite.report.book import identity
from evalsuite.report.book.book import Book
from evalsuite.report.data import summary_json
from tests import goldens
from tools import make_examples

HOUSE = paths.DATA.parent
EXAMPLES = HOUSE / "docs" / "examples"
SCHEMA = json.loads((paths.DATA / "schema" / "summary.schema.json").read_text(encoding="utf-8"))


NAMES = list(make_examples.EXAMPLES)


@pytest.fixture(scope="module", params=NAMES)
def example(request):
    return request.param, make_examples.EXAMPLES[request.param]()


def written(interval):
    return "" if interval is None else f"{interval.value:.10g}"


def figures(evaluation):
    """A line for each case: throughput, speed-up and efficiency; nothing beside a case without a value."""
    lines = ["case,throughput,speedup,efficiency"]
    for summary in evaluation.summaries:
        measured = isinstance(summary, Summary)
        values = (summary.items_per_s, summary.speedup, summary.efficiency) if measured else (None, None, None)
        lines.append(",".join((f'"{summary.case.id}"', *map(written, values))))
    return "\n".join(lines) + "\n"


def test_the_figures_of_an_example_are_those_that_it_had(example):
    name, evaluation = example

    found = figures(evaluation)

    assert found == goldens.expected(f"examples/{name}.csv", found)
    assert len(evaluation.summaries) >= 8


def test_the_summary_of_an_example_keeps_to_the_published_schema(example):
    _, evaluation = example

    document = json.loads(json.dumps(summary_json.document(Book(evaluation=identity.ordered(evaluation)), "0" * 64)))

    jsonschema.validate(document, SCHEMA)
    assert len(document["summaries"]) == len(evaluation.summaries)


@pytest.mark.parametrize("name", NAMES)
def test_git_keeps_page_and_markdown_of_an_example_and_nothing_else(name):
    ignored = {"summary.json", "tables"}

    kept = {path.name for path in (EXAMPLES / name).iterdir()} - ignored

    assert kept == {"report.html", "report.en.md", "report.zh.md", "report.en.svg", "report.zh.svg"}
