"""The bytes of a large page: what goes from its markup, and nothing that it says (docs/architecture.md#size)."""

import pages
import pytest
import synthetic

from evalsuite import report
from evalsuite.report.book import book
from evalsuite.report.book.book import Book
from evalsuite.report.text import names


@pytest.fixture
def large(monkeypatch):
    """An evaluation that has more cases than a page spells out in full, once so few of them make a large page."""
    monkeypatch.setattr(book, "LARGE", 7)
    assert Book(evaluation=synthetic.quick()).large
    return synthetic.quick()


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
