"""What holds for all values of a table is said once, and what differs stays in its cell."""

from evalsuite.report.book.cells import Cell, OfAll, bare, of_all
from evalsuite.report.text import numbers


def value(*marks, n=5):
    return Cell(state="value", number=numbers.throughput(100.0), n=n, marks=marks)


def test_what_all_cells_have_alike_leaves_them_and_what_differs_stays():
    cells = [value("partial", "flagged"), value("partial"), Cell(state="oom")]
    said = of_all(cells)
    assert said == OfAll(marks=("partial",), n=5)
    assert [bare(cell, said).marks for cell in cells] == [("flagged",), (), ()]

    cells = [value(n=3), value(n=5)]
    said = of_all(cells)
    assert said.n is None
    assert [bare(cell, said).n for cell in cells] == [3, 5]

    assert of_all([value("partial"), Cell(state="failed")]) == OfAll()
