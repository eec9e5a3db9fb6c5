"""docs/dialects.md: made of the declarations, and true."""

from dataclasses import replace

import pytest

from evalsuite.logs import catalogue
from tools import write_dialects

DIALECTS = [one for one in catalogue.discover().values() if not one.name.startswith("cited_")]
PAGE = write_dialects.PAGE.read_text(encoding="utf-8")


def test_the_page_is_what_the_declarations_say():
    assert write_dialects.page(DIALECTS) == PAGE, "run tools/write_dialects.py"


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.name)
def test_each_dialect_has_a_row_a_sample_and_its_source(dialect):
    section = PAGE.partition(f"\n## {dialect.name}\n")[2].partition("\n## ")[0]

    assert f"| [{dialect.name}](#{write_dialects._anchor(dialect.name)}) |" in PAGE
    assert dialect.telling[0].source.rstrip(".") in section
    assert "```" in section
    assert dialect.notes in section


def test_the_page_is_linked_where_readers_begin():
    for name in ("README.md", "README.zh.md", "docs/adding-a-dialect.md"):
        text = (write_dialects.HOUSE / name).read_text(encoding="utf-8")
        assert "dialects.md)" in text.replace("adding-a-dialect.md)", "")


def test_a_running_mean_and_the_rate_of_one_device_are_named_as_traps():
    running = replace(DIALECTS[0], averaging="cumulative", mean_since=5)

    said = " ".join(write_dialects._traps(running))

    assert "a mean of all steps so far, without the first 5" in said
    (torchtitan,) = (one for one in DIALECTS if one.name == "torchtitan")
    assert "that of one device" in " ".join(write_dialects._traps(torchtitan))
