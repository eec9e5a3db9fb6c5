"""The reference pages of the documentation name all that there is."""

import importlib
import re
import sys
import tomllib

import pytest

from evalsuite import paths

HOUSE = paths.PACKAGE.parent
sys.path.insert(0, str(HOUSE / "tools"))

build_docs = importlib.import_module("build_docs")

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
