"""The documentation as a site, and what its pages tell to type."""

import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from evalsuite.core import paths
from evalsuite.report.book.book import Book
from evalsuite.report.data import tables
from evalsuite.report.forms import spreadsheet
from tests import reports, synthetic
from tools import type_pages

duckdb = pytest.importorskip("duckdb", reason="make docs-site installs what builds the site")
HOUSE = paths.PACKAGE.parent
PAGES = [page for page in (*HOUSE.glob("*.md"), *(HOUSE / "docs").glob("*.md")) if ".zh." not in page.name]


def test_the_site_is_built_in_both_languages_and_no_link_of_it_leads_nowhere(tmp_path):
    line = [sys.executable, str(HOUSE / "tools" / "build_docs.py"), "--out", str(tmp_path / "site")]
    built = subprocess.run(line, capture_output=True, text=True)

    assert built.returncode == 0, built.stdout + built.stderr
    front = (tmp_path / "site" / "zh" / "index.html").read_text(encoding="utf-8")
    assert "理解" in front and (tmp_path / "site" / "search").is_dir()
    listed = re.findall(r"\]\(([^)]+)\): ", (tmp_path / "site" / "llms.txt").read_text(encoding="utf-8"))
    assert len(listed) > 20 and all((tmp_path / "site" / page / "index.html").is_file() for page in listed)
    for index in (tmp_path / "site" / "index.html", tmp_path / "site" / "zh" / "index.html"):
        pictures = re.findall(r'="([^"]*page\.[^"]*\.png)"', index.read_text(encoding="utf-8"))
        assert len(pictures) == 2 and all((index.parent / picture).is_file() for picture in pictures)
    for page in ("tutorial", "reference/commands", "keys", "zh/tutorial", "zh/keys"):
        assert (tmp_path / "site" / page / "index.html").is_file()


def typed(page):
    """What the blocks of *page* say and need, without other comments and quoted titles, which have a language."""
    text = page.read_text(encoding="utf-8")
    for need, words in type_pages.TABLE["needs"].items():
        text = text.replace(f"# 需要{words}", f"# needs {need}")
    blocks = [
        (language, title, type_pages.NEEDS.sub(r"@\1#", block))
        for language, title, block in type_pages.FENCE.findall(text)
    ]
    return [(*of, re.sub(r'\s*#.*|= "[^"]* [^"]*"|= "[^\x00-\x7f]+"', "", block)) for *of, block in blocks]


@pytest.mark.parametrize("page", sorted(HOUSE.rglob("docs/*.zh.md")), ids=lambda page: page.name)
def test_both_languages_of_a_page_tell_the_same_to_type(page):
    assert typed(page) == typed(page.with_name(page.name.replace(".zh.md", ".md")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_tells_to_type_works_or_says_what_it_needs(page, tmp_path):
    assert type_pages.type_page(page, tmp_path)[0] == []


def test_duckdb_reads_ten_thousand_runs_of_reports_with_different_options_where_they_lie(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number in range(10):
        options = (("data", "synthetic"),) if number % 2 else ()
        cases = [synthetic.case(nodes=nodes, options=options, protocol=synthetic.FULL) for nodes in range(1, 201)]
        found = [reports.summary(day=number + 1, of=case) for case in cases]
        written = SimpleNamespace(
            book=Book(evaluation=reports.evaluation(*found)), out=tmp_path / str(number) / "report"
        )
        for name in tables.COLUMNS:
            tables.write(written.book, written.out / "tables", name)
        spreadsheet.write_parquet(written)
    (queries,) = (
        block
        for language, _, block in type_pages.FENCE.findall((HOUSE / "docs" / "python.md").read_text())
        if language == "sql"
    )

    medians, slowest = (duckdb.sql(query).fetchall() for query in queries.split(";")[:2])

    assert sum(row[-1] for row in medians) == 10_000
    assert {row[3] for row in medians} == {None, "synthetic"}
    assert len(slowest) == 20 and all(row[-1] > 0 for row in slowest)
