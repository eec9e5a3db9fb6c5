"""The reference pages of the documentation name all that there is."""

import re
import tomllib

import pytest

from evalsuite.core import paths
from tools import build_docs

HOUSE = paths.PACKAGE.parent
OPTIONS = {line.split()[0]: set(re.findall(r"--[a-z-]+", line)) for line in build_docs.commands().split("\n## ")[1:]}
KNOWN = tomllib.loads((HOUSE / "docs" / "site" / "reference.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("table", build_docs.TABLES)
def test_every_key_is_explained_in_both_languages(table):
    assert set(KNOWN[table]) == set(build_docs.fields(table))
    assert all(row["en"] and row["zh"] for row in KNOWN[table].values())


def test_every_variable_that_the_code_reads_is_explained():
    files = [file for name in ("evalsuite", "adapters") for file in (HOUSE / name).rglob("*.py")]
    read = {name for file in files for name in re.findall(r"\bEVALSUITE_[A-Z_]+", file.read_text(encoding="utf-8"))}

    assert set(KNOWN["variables"]) == read


def test_a_link_out_of_the_site_is_a_name_and_one_to_the_twin_of_a_page_goes(tmp_path):
    page = tmp_path / "clusters.md"
    page.write_text("")
    (tmp_path / "specs.md").write_text("")
    text = "[中文](clusters.zh.md) [keys](specs.zh.md#a) [full](../data/specs/full.toml) [`data/x`](../data/x) [w](https://a.b)"

    found = build_docs.with_links(text, page, tmp_path)

    assert found == "中文 [keys](specs.md#a) full (`data/specs/full.toml`) `data/x` [w](https://a.b)"


@pytest.mark.parametrize("page", [*HOUSE.glob("*.md"), *HOUSE.glob("docs/*.md")], ids=lambda page: page.name)
def test_every_option_on_a_page_is_one_that_its_command_takes(page):
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")

    for command, words in re.findall(r"evalsuite ([a-z][a-z-]+)([^\n`#|]*)", text):
        assert set(re.findall(r" (--[a-z-]+)", words.partition(" -- ")[0])) <= OPTIONS.get(command, set())
