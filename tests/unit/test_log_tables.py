"""Every log of `tests/logs/tables` is read as its row says."""

import pytest

from tests.readings import LOGS, rows, seen

ROWS = {
    f"{file.stem}: {name}": row for file in sorted(LOGS.glob("tables/*.toml")) for name, row in rows(file.stem).items()
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_a_log_is_read_as_its_script_means_it(row, tmp_path):
    assert seen(tmp_path, row) == row.expected
