"""The bytes of a large page: what goes from its markup, and nothing that it says (docs/report.md#size)."""

import html.parser

import pages
import pytest
import synthetic

from evalsuite import report
from evalsuite.report.book import book
from evalsuite.report.book.book import Book
from evalsuite.report.page import render
from evalsuite.report.text import names
from tests import sources


@pytest.fixture
def large(monkeypatch):
    """An evaluation that has more cases than a page spells out in full, once so few of them make a large page."""
    monkeypatch.setattr(book, "LARGE", 7)
    assert Book(evaluation=synthetic.quick()).large
    return synthetic.quick()


class _Text(html.parser.HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.feed(page)

    def handle_data(self, data: str) -> None:
        self.words += data.split()


@pytest.mark.parametrize(("page", "short", "fewer"), sources.cases("report_size.toml")["the_markup_that_html_lets"])
def test_the_markup_that_html_lets_out_is_gone_and_every_word_stays(page, short, fewer):
    found = render.shorten(page)

    assert found == short
    assert fewer or _Text(found).words == _Text(page).words


def test_a_large_page_keeps_every_case_and_every_run(large, tmp_path):
    page = report.build(large, tmp_path)[0].read_text(encoding="utf-8")

    for summary in large.summaries:
        for run in summary.measurements:
            assert run.log_sha256 in page
        assert f"{summary.case.id}/" in page


# beyond 1,000 cases


def test_a_page_of_very_many_cases_leads_every_number_to_its_case_and_says_where_the_runs_are(tmp_path, monkeypatch):
    evaluation = synthetic.training()
    monkeypatch.setattr(book, "HUGE", 1)
    monkeypatch.setattr(render, "shorten", lambda html: html)  # so that the reader can count on end tags
    report.build(evaluation, tmp_path)

    page = pages.read((tmp_path / "report.html").read_text(encoding="utf-8"))
    ids = {element["id"] for element in page.all() if element["id"]}
    labels = {word for element in page.all() for word in (element["aria-labelledby"] or "").split()}
    links = {link["href"] for link in page.all("a") if link["href"].startswith("#")}
    assert labels | {link.removeprefix("#") for link in links} <= ids
    assert [path.name for path in tmp_path.glob("*.html")] == ["report.html"]
    assert "tables/*.csv" in page.one("section", id="reproduction").text("en")
    runs = (tmp_path / "tables" / "runs.csv").read_text(encoding="utf-8-sig")
    for summary in evaluation.summaries:
        assert page.one("li", id=names.case_anchor(summary.case))
        assert all(run.log_sha256 in runs for run in summary.measurements)
