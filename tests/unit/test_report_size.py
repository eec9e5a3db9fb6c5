"""The bytes of a large page: what goes from its markup, and nothing that it says (docs/report.md#size)."""

import html.parser

import pages
import pytest
import synthetic

from evalsuite import report
from evalsuite.report.book import book
from evalsuite.report.book.book import Book
from evalsuite.report.page import render
from evalsuite.report.sections.reproduction import provenance
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


def test_a_large_page_says_the_command_of_a_series_once_and_a_small_one_that_of_each_case(large, monkeypatch):
    series, *_ = provenance.series(Book(evaluation=large))

    rebuilt = {}
    for row in series.cases:
        line = series.command.script.replace(provenance.CASE, row.case.id)
        for mark, value in series.command.values[row.case.id]:
            line = line.replace(mark, value.replace(provenance.CASE, row.case.id))
        rebuilt[row.case.id] = line

    assert rebuilt == {case.case.id: case.shell.script for case in series.cases}
    monkeypatch.undo()
    assert {each.command for each in provenance.series(Book(evaluation=large))} == {None}


def test_a_large_page_keeps_every_case_and_every_run(large, tmp_path):
    page = report.build(large, tmp_path)[0].read_text(encoding="utf-8")

    for summary in large.summaries:
        for run in summary.measurements:
            assert run.log_sha256 in page
        assert f"{summary.case.id}/" in page


# beyond one page


@pytest.fixture(scope="module")
def parted(tmp_path_factory):
    """A report of two models as if its cases were too many for one page, and its evaluation."""
    evaluation, folder = synthetic.training(), tmp_path_factory.mktemp("parted")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(book, "HUGE", 1)
        patch.setattr(render, "shorten", lambda html: html)  # so that the reader can count on end tags
        report.build(evaluation, folder)
    return evaluation, {path.name: pages.read(path.read_text(encoding="utf-8")) for path in folder.glob("*.html")}


def test_each_model_has_a_page_of_its_own_and_every_link_and_label_has_its_target(parted):
    evaluation, found = parted
    ids = {name: {element["id"] for element in page.all() if element["id"]} for name, page in found.items()}

    assert set(found) == {"report.html", *(names.part_file(case.model) for case in evaluation.planned)}
    for name, page in found.items():
        labels = {word for element in page.all() for word in (element["aria-labelledby"] or "").split()}
        assert labels <= ids[name]
        for link in page.all("a"):
            file, hash, target = link["href"].partition("#")
            assert not hash or "://" in file or target in ids[file or name], f"{name}: {link['href']}"


def test_a_report_in_parts_leads_from_every_case_to_its_runs(parted):
    evaluation, found = parted
    for summary in evaluation.summaries:
        anchor = names.case_anchor(summary.case)
        part = names.part_file(summary.case.model)

        assert found["report.html"].one("li", id=anchor).one("a")["href"] == f"{part}#{anchor}"
        for run in summary.measurements:
            assert run.log_sha256 in found[part].one("tbody", id=anchor).text()


def test_parts_of_an_earlier_report_do_not_stay(tmp_path):
    stale = tmp_path / "report.part-gone.html"
    stale.write_text("an earlier report")
    report.build(synthetic.empty(), tmp_path)

    assert not stale.exists()
