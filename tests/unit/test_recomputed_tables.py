"""Published tables follow from their own figures, or not."""

import pytest

from tests import sources
from tools import recompute_tables


@pytest.mark.parametrize(("source", "count", "wrong"), sources.table("recomputed_tables.toml")["wrong"])
def test_what_does_not_follow_is_found_by_rules_and_nothing_else(source, count, wrong):
    cells = list(recompute_tables.recompute(*recompute_tables.read(recompute_tables.SOURCES / source)))

    assert len(cells) == count
    assert [[cell.figure, cell.printed] for cell in cells if not cell.holds] == wrong


def test_a_printed_speed_up_that_is_a_tenth_off_is_found_in_every_cell():
    rules, rows = recompute_tables.read(recompute_tables.SOURCES / "dlperf")
    moved = [{**row, "speedup": f"{float(row['speedup']) + 0.1:.2f}"} for row in rows]

    assert sum(each.holds for each in recompute_tables.recompute(rules, moved)) == 0
