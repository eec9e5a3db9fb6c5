"""The bytes of a large page: what goes from its markup, and that nothing it says goes with that (REPORT.md §2)."""

import html.parser

import pytest
import synthetic

from evalsuite import report
from evalsuite.report import receipts, slim
from evalsuite.report.cells import LARGE, Book


@pytest.fixture(scope="module")
def large():
    """More cases than a page spells out in full."""
    found = synthetic.many(runs=LARGE + 1, repeats=1)

    assert len(found.planned) > LARGE
    return found


class _Text(html.parser.HTMLParser):
    """The words of a page whatever its markup."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.feed(page)

    def handle_data(self, data: str) -> None:
        self.words += data.split()


def test_the_markup_that_html_lets_out_is_gone_and_every_word_stays():
    page = '<main><table>\n<tr><th scope="row">a</th>\n<td class="n" data-v="1.5">1.5 "x"</td></tr>\n</table></main>'

    short = slim.page(page)

    assert short == '<main><table>\n<tr><th scope=row>a<td data-v=1.5>1.5 "x"</table></main>'
    assert _Text(short).words == _Text(page).words


def test_a_value_with_blanks_keeps_its_quotes_and_a_closed_element_its_slash():
    page = '<main><use class="mark fill" href="#z" x="1"/></main>'

    assert slim.page(page) == '<main><use class="mark fill" href=#z x="1"/></main>'


def test_marks_of_one_paint_are_painted_once():
    mark = '<use data-ref="c-{}" class="mark fill-hue-1 line-hue-1" href="#f-d1" x="{}" y="2"/>'
    drawn = slim.slim(f"<svg>{mark.format(1, 1)}{mark.format(2, 5)}</svg>", "f")

    assert '<g class="fill-hue-1 line-hue-1"><use data-ref="c-1" class="mark" href=' in drawn
    assert drawn.count("fill-hue-1") == 1


def test_a_large_page_says_the_command_of_a_series_once(large):
    found = receipts.receipts(Book(evaluation=large))
    series = found[0]

    rebuilt = {}
    for one in series.cases:
        line = series.command.line.replace(receipts.CASE, one.case.id)
        for mark, value in series.command.values[one.case.id]:
            line = line.replace(mark, value.replace(receipts.CASE, one.case.id))
        rebuilt[one.case.id] = line

    assert rebuilt == {one.case.id: one.command for one in series.cases}


def test_a_small_page_has_the_command_of_each_case():
    found = receipts.receipts(Book(evaluation=synthetic.quick()))

    assert {series.command for series in found} == {None}


def test_a_large_page_keeps_every_case_and_every_run(large, tmp_path):
    page = report.build(large, tmp_path)[0].read_text(encoding="utf-8")

    for one in large.summaries:
        for run in one.measurements:
            assert run.log_sha256 in page
        assert f"{one.case.id}/" in page
