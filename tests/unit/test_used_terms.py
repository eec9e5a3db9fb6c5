import pytest
import synthetic

from evalsuite.report.book.book import Book
from evalsuite.report.page import render, used_terms
from evalsuite.report.text import words

GLOSSARY = '<section id="glossary"><tr id="term-nvlink"><tr id="term-speedup"><tr id="term-coefficient_of_variation">'
UNUSED = 'class="unused"'


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("<p>Speed-up</p>", set()),
        ("<p>the <b>speedup</b> of 8</p>", {"speedup"}),
        ("<p>加速比最高</p>", {"speedup"}),
        ("<p>speedups</p>", set()),
        ("<p>CV above 2 %</p>", set()),  # two letters stand in other words too
        ("<p>变异系数超过 2 %</p>", {"coefficient_of_variation"}),
        ("<script>speedup</script><style>.nvlink {}</style>", set()),
        ('<p title="NVLink">x</p>', set()),
        ("<p>NV<wbr>Link</p>", set()),
        ("<p>NVLINK&nbsp;3</p>", {"nvlink"}),
    ],
)
def test_a_term_counts_as_used_where_a_reader_sees_it(text, used):
    page = used_terms.mark_unused(f"<head>NVLink</head><main>{text}{GLOSSARY}")

    rows = page.partition('<section id="glossary">')[2].split("<tr ")[1:]
    assert {row[9 : row.index('"', 9)] for row in rows if UNUSED not in row} == used


def test_a_page_without_a_glossary_stays_as_it_is():
    assert used_terms.mark_unused("<main>speedup") == "<main>speedup"


def test_a_report_marks_what_it_never_says_and_keeps_what_it_says():
    page = render.page(Book(evaluation=synthetic.quick()), words.read(("en",)), "0" * 64)

    assert '<tr id="term-throughput">' in page
    assert f'<tr id="term-double_buffering" {UNUSED}>' in page
