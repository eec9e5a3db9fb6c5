"""The results tables: what stands together, what is said once, who is bold, what is not in them."""

from dataclasses import replace

import pytest
import synthetic

from evalsuite.commands.printing import terminal
from evalsuite.core.model import Skip
from evalsuite.report.book import blocks, heading
from evalsuite.report.book.book import Book
from evalsuite.report.book.result_tables import tables as results_tables
from evalsuite.report.text import words

SPOKEN = words.read()


def tables(summaries, **changes):
    book = Book(evaluation=replace(synthetic.evaluation(summaries), **changes))
    return results_tables(blocks.models(book)[0].blocks)


def one(framework="pytorch", values=(100.0, 101.0, 102.0, 103.0, 104.0), scale=(1, 1), **changes):
    case = synthetic.case(framework, scale, **{"protocol": synthetic.FULL, "options": (), **changes})
    return synthetic.summary([synthetic.measured(case, k, value) for k, value in enumerate(values)])


def test_precision_compiler_and_options_of_one_batch_size_stand_in_one_table():
    found = tables(
        [one(name, precision=precision) for name in ("pytorch", "mxnet") for precision in ("amp", "fp32")]
        + [one("tensorflow", precision="amp", xla=True), one("mxnet", precision="fp32", options=(("seed", "7"),))]
    )

    assert len(found) == 1
    told = [heading.setting(block, SPOKEN, found[0].blocks).plain("en") for block in found[0].blocks]
    assert told == ["FP32", "FP32 · seed: 7", "AMP"] and len(found[0].throughput.groups) == 4  # AMP with XLA, too


def test_other_work_stands_in_another_table_and_other_batches_in_another_group():
    sizes = [(("image_size", size),) for size in ("192", "224")]
    found = tables([one(name, options=size) for name in ("pytorch", "mxnet") for size in sizes])
    assert [len(table.throughput.rows) for table in found] == [2, 2]

    (found,) = tables([one(name, batch_per_device=size) for name in ("pytorch", "mxnet") for size in (64, 16)])
    assert [[row.block.batch for row in group] for group in found.throughput.groups] == [[16, 16], [64, 64]]
    assert heading.shared(found.blocks, SPOKEN).plain("en") == "Throughput · images/s · FP32 · CPU · 20 + 100 steps"


def test_a_tie_group_is_bold_together_whatever_compiled_neighbours_do_and_a_single_value_keeps_its_mark():
    fast, slow = (200.0, 201.0, 202.0, 203.0, 204.0), (100.0, 101.0, 102.0, 103.0, 104.0)
    found = tables([one("pytorch", fast), one("mxnet", slow), one("tensorflow", fast, xla=True)])[0].throughput
    bold = {(row.column.title, row.column.example.xla): row.cells[0].best for row in found.rows}
    assert bold == {("MXNet", False): False, ("PyTorch", False): True, ("TensorFlow", True): False}

    ahead = [one(name, (200.0, 201.0, 202.0, 203.0, 204.0)) for name in ("pytorch", "mxnet")]
    behind = one("tensorflow")

    bold = [row.cells[0].best for row in tables([*ahead, behind])[0].throughput.rows]
    assert bold == [True, True, False]
    assert not any(row.cells[0].best for row in tables(ahead)[0].throughput.rows)

    cell = tables([one("pytorch", (100.0, 101.0))])[0].throughput.rows[0].cells[0]
    assert (cell.marks, cell.n) == (("partial",), 2)


def test_what_every_value_has_is_said_once_above_the_table():
    found = tables(
        [one(name, (100.0, 101.0, 102.0), scale) for name in ("pytorch", "mxnet") for scale in ((1, 1), (1, 2))]
    )
    grid = found[0].throughput

    assert (grid.marks, grid.n) == (("partial",), 3)
    assert all(cell.marks == () and cell.n is None for row in grid.rows for cell in row.cells)


def test_a_mark_stands_at_each_cell_where_the_cells_differ():
    scales = ((1, 1), (1, 2))
    found = tables(
        [one("pytorch", scale=scale) for scale in scales]
        + [one("mxnet", (100.0, 101.0, 102.0), scale) for scale in scales]
        + [one("tensorflow", scale=(1, 1)), one("tensorflow", (100.0, 101.0, 102.0), (1, 2))]
    )[0].throughput

    assert (found.marks, found.n) == ((), None)
    rows = {row.column.title: row for row in found.rows}
    assert [cell.marks for cell in rows["MXNet"].cells] == [("partial",)] * 2
    assert [cell.marks for cell in rows["TensorFlow"].cells] == [(), ("partial",)]
    assert [cell.n for cell in rows["TensorFlow"].cells] == [5, 3]


def test_what_no_scale_supports_has_its_row_and_its_state():
    skipped = synthetic.case("tensorflow", xla=True, protocol=synthetic.FULL, options=())
    skip = Skip(case=skipped, kind="unsupported", reason="no XLA here")
    summary = tables([one("pytorch"), one("mxnet")], skips=(skip,))[0]

    assert [cell.state for row in summary.throughput.rows for cell in row.cells] == ["value", "value", "unsupported"]


def test_every_valid_case_stands_in_exactly_one_table():
    book = Book(evaluation=synthetic.options())
    for model in blocks.models(book):
        found = [
            cell.ref for table in results_tables(model.blocks) for row in table.throughput.rows for cell in row.cells
        ]
        shown = [ref for ref in found if ref]

        assert len(shown) == len(set(shown))
        assert {blocks.names.case_anchor(row.case) for row in book.valid if row.case.model == model.name} <= set(shown)


# A table of thousands of rows is printed without laying out each cell, and reads the same


COLUMNS = [("name", "left"), ("speed", "right")]


@pytest.mark.parametrize("rows", [terminal.MOST_LAID_OUT, terminal.MOST_LAID_OUT + 1], ids=["short", "long"])
def test_every_row_is_a_line_whose_cells_stand_below_their_heading(capsys, rows):
    terminal.table("", COLUMNS, [(f"框架{number}", f"{number:,}") for number in range(rows)])

    lines = [line for line in capsys.readouterr().out.splitlines() if line.strip()]
    head, rule, first, *_, last = lines
    assert len(lines) == rows + 2
    assert head.split() == ["name", "speed"] and set(rule.replace(" ", "")) == {"─"}
    assert (first.split(), last.split()) == (["框架0", "0"], [f"框架{rows - 1}", f"{rows - 1:,}"])
    assert len(first.rstrip()) == len(head.rstrip()) - len("框架")  # wide letters take two places each
