"""The public record, counted again: which rule each figure follows, and the page that says so."""

import pytest

from evalsuite.core import paths
from tools import write_public_record as record


@pytest.fixture(scope="module")
def rows():
    return record.recounted()


def test_public_figures_follow_the_rules_that_the_tables_themselves_do_not_state(rows):
    bridge = [row for row in rows if "Megatron Bridge" in row["source"] and row["task"] == "pre-training"]
    known = [row for row in bridge if record.variants(row["model"])]
    foundry = [row for row in rows if "LLM Foundry" in row["source"]]

    assert len(known) >= 205 and sum(row["rule"].startswith("causal") for row in known) >= 176
    assert len(foundry) == 216 and {row["rule"] for row in foundry} == {"palm"}


def test_the_table_and_both_pages_are_what_the_tool_writes(rows):
    written = paths.read_rows(record.TABLE)

    columns = (*record.COLUMNS, *record.COUNTED)
    assert written == [{name: str(row[name]) for name in columns} for row in rows]
    for page in (each.read_text("utf-8") for each in record.PAGES):
        assert record.filled(page, record.tables(rows)) == page
