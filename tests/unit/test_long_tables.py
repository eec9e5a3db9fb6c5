"""A table of thousands of rows is printed without laying out each cell, and reads the same."""

import pytest

from evalsuite.commands.printing import terminal

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
