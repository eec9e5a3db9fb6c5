"""The page of dialects that `make docs` writes: made of the declarations, and true."""

from dataclasses import replace

import pytest

from evalsuite.logs import catalogue
from tools import write_dialects

DIALECTS = [one for one in catalogue.discover().values() if not one.name.startswith("cited_")]
PAGE = write_dialects.page(DIALECTS)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.name)
def test_each_dialect_has_a_row_a_sample_and_its_source(dialect):
    section = PAGE.partition(f"\n## {dialect.name}\n")[2].partition("\n## ")[0]

    assert f"| [{dialect.name}](#{write_dialects._anchor(dialect.name)}) |" in PAGE
    assert dialect.telling[0].source.rstrip(".") in section
    assert "```" in section
    assert dialect.notes in section


def test_a_running_mean_and_the_rate_of_one_device_are_named_as_traps():
    running = replace(DIALECTS[0], averaging="cumulative", mean_since=5)

    said = " ".join(write_dialects._traps(running))

    assert "a mean of all steps so far, without the first 5" in said
    (torchtitan,) = (one for one in DIALECTS if one.name == "torchtitan")
    assert "that of one device" in " ".join(write_dialects._traps(torchtitan))
