"""What is said of scripts that bend their own figure, and of honest ones that look odd, played (`tests/judgement`)."""

import pytest

from tests.judgement.scripts import CASES, TABLES, WHAT_IFS

BOTH = {**CASES, **WHAT_IFS}
ROWS = {name: row for rows in TABLES.values() for name, row in rows.items()}


@pytest.mark.parametrize("name", BOTH)
def test_no_script_is_ahead_by_what_leaves_a_trace_and_honest_ones_are(name):
    said = BOTH[name].judge()

    assert said.verdict in BOTH[name].accepted
    assert ROWS[name].get("finding", "") in said.words
