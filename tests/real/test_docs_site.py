"""The documentation as a site, and what its pages tell to type: `make test-docs`."""

import os
import re
import subprocess
import sys
import textwrap
import tomllib
from types import SimpleNamespace

import pytest

from evalsuite import paths
from evalsuite.report.book.book import Book
from evalsuite.report.data import tables
from evalsuite.report.forms import parquet
from tests import reports, sources, synthetic

duckdb = pytest.importorskip("duckdb", reason="make test-docs")
HOUSE = paths.PACKAGE.parent
pytestmark = pytest.mark.skipif("EVALSUITE_DOCS" not in os.environ, reason="make test-docs")
TABLE = sources.table("docs.toml")
PAGES = [page for page in (*HOUSE.glob("*.md"), *(HOUSE / "docs").glob("*.md")) if ".zh." not in page.name]
FENCE = re.compile(r'^ *```(\w*)(?: title="([^"]+)")?\n(.*?)^ *```$', re.MULTILINE | re.DOTALL)
NEEDS = re.compile(rf"# needs ({'|'.join(TABLE['needs'])})\b")


def test_the_site_is_built_in_both_languages_and_no_link_of_it_leads_nowhere(tmp_path):
    line = [sys.executable, str(HOUSE / "tools" / "build_docs.py"), "--out", str(tmp_path / "site")]
    built = subprocess.run(line, capture_output=True, text=True)

    assert built.returncode == 0, built.stdout + built.stderr
    front = (tmp_path / "site" / "zh" / "index.html").read_text(encoding="utf-8")
    assert "阅读与核对" in front and (tmp_path / "site" / "search").is_dir()
    for page in ("tutorial", "reference/commands", "reference/keys", "zh/faq", "zh/reference/keys"):
        assert (tmp_path / "site" / page / "index.html").is_file()


def typed(page):
    """What the blocks of *page* say and need, without other comments and quoted titles, which have a language."""
    text = page.read_text(encoding="utf-8")
    for need, words in TABLE["needs"].items():
        text = text.replace(f"# 需要{words}", f"# needs {need}")
    blocks = [(language, title, NEEDS.sub(r"@\1#", block)) for language, title, block in FENCE.findall(text)]
    return [(*of, re.sub(r'\s*#.*|= "[^"]* [^"]*"|= "[^\x00-\x7f]+"', "", block)) for *of, block in blocks]


@pytest.mark.parametrize("page", sorted(HOUSE.rglob("docs/*.zh.md")), ids=lambda page: page.name)
def test_both_languages_of_a_page_tell_the_same_to_type(page):
    assert typed(page) == typed(page.with_name(page.name.replace(".zh.md", ".md")))


def commands(block):
    """Each command of *block* that needs nothing which is not here."""
    command = ""
    for line in textwrap.dedent(block).splitlines():
        if NEEDS.match(line):
            return
        command += f"{line}\n"
        read = subprocess.run(["bash", "-n"], input=command, capture_output=True, text=True)
        if read.returncode or read.stderr or line.endswith("\\"):
            continue
        if not NEEDS.search(command):
            yield command
        command = ""
    assert not command


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_tells_to_type_works_or_says_what_it_needs(page, tmp_path):
    environment = {**os.environ, "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}", "HOUSE": str(HOUSE)}
    environment |= {"PYTHONPATH": f"{HOUSE}:{tmp_path}", "HOME": str(tmp_path)}
    environment |= {name: str(tmp_path / folder) for name, folder in TABLE["variables"].items()}
    text = re.sub("|".join(TABLE["places"]), lambda place: f"{tmp_path}{place[0]}", page.read_text(encoding="utf-8"))
    fences, exported = FENCE.findall(text), ""
    assert 2 * len(fences) == len(re.findall(r"^ *```", text, re.MULTILINE)), "a fence without a language"

    def run(program, words):
        return subprocess.run([program, *words], cwd=tmp_path, env=environment, capture_output=True, text=True)

    prepared = run("bash", ["-ec", TABLE["before"]["all"] + TABLE["before"].get(page.name, "")])
    assert prepared.returncode == 0, prepared.stderr
    for language, title, block in fences:
        if title:
            (tmp_path / title).parent.mkdir(exist_ok=True)
            (tmp_path / title).write_text(textwrap.dedent(block), encoding="utf-8")
        elif language == "python":
            ran = run(sys.executable, ["-c", block])
            assert ran.returncode == 0, ran.stderr
        elif language == "toml":
            tomllib.loads(textwrap.dedent(block))
        else:
            assert language == "sh" or language in TABLE["shown"], block
    for command in (each for language, _, block in fences if language == "sh" for each in commands(block)):
        exported += command if command.startswith("export ") else ""
        codes = [0, *(code for words, codes in TABLE["ends"].items() if words in command for code in codes)]
        ran = run("timeout", ["--signal=INT", "20" if 124 in codes else "900", "bash", "-c", exported + command])
        assert ran.returncode in codes, f"{command}: {ran.returncode} {ran.stdout[-2000:]} {ran.stderr}"


def test_duckdb_reads_ten_thousand_runs_of_reports_with_different_options_where_they_lie(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number in range(10):
        options = (("data", "synthetic"),) if number % 2 else ()
        cases = [synthetic.case(nodes=nodes, options=options, protocol=synthetic.FULL) for nodes in range(1, 201)]
        found = [reports.summary(day=number + 1, of=one) for one in cases]
        written = SimpleNamespace(
            book=Book(evaluation=reports.evaluation(*found)), out=tmp_path / str(number) / "report"
        )
        tables.write(written.book, written.out / "tables")
        parquet.write(written)
    (queries,) = (
        block for language, _, block in FENCE.findall((HOUSE / "docs" / "python.md").read_text()) if language == "sql"
    )

    medians, slowest = (duckdb.sql(query).fetchall() for query in queries.split(";")[:2])

    assert sum(row[-1] for row in medians) == 10_000
    assert {row[3] for row in medians} == {None, "synthetic"}
    assert len(slowest) == 20 and all(row[-1] > 0 for row in slowest)
