"""What code, data and docs refer to lies in the repository: no page, file or heading that a reader would not find."""

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from evalsuite.core import paths
from tests import sources

HOUSE = paths.PACKAGE.parent
FOLDERS = ("evalsuite", "adapters", "templates", "tools", "benchmarks", "data", "docs", "tests")
READ = {".py", ".md", ".toml", ".j2", ".js", ".css"}
# examples are built pages; the history tells what was
NOT_READ = ("docs/examples/", "data/recorded/", "tests/golden/", "tests/logs/", "CHANGELOG.md", "tests/unit/test_ref")
THEIRS = {"tools/launch.py", "data/coco128.yaml", "data/coco.yaml"}  # MXNet's and YOLO's, in their own repositories
# a file of ours in running text; behind a commit and a colon it is a file of somebody else's repository
FILE = re.compile(
    rf"""(?<![\w/@:.{{}}"-])((?:{"|".join(FOLDERS)})/[\w./-]+\.[a-z]\w*|[A-Z]{{4,}}\d?\.md)(?:#([\w-]+))?"""
)
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
PARAMETER = re.compile(r"(?<![*\w])\*([a-z_]+)\*(?![*\w])")  # *name* in a docstring
WORD = re.compile(r"\w+")
# the one place that names reference material beside the checkout, and those who tell that it is not there
BESIDE = re.compile(r"\.\./shared|FEASIBILITY")
KNOWS_OF_IT = {"tests/conftest.py", "tests/corpus.py"}


def texts():
    listed = subprocess.run(["git", "ls-files"], cwd=HOUSE, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("no git here, or no checkout: nothing says which files are the project's")
    for name in listed.stdout.splitlines():
        file = HOUSE / name
        if file.suffix in READ and not name.startswith(NOT_READ) and file.is_file():
            yield name, file.read_text(encoding="utf-8")


@cache
def headings(file: Path) -> frozenset[str]:
    """The anchors of a page of Markdown, as code hosts make them (github.com/Flet/github-slugger)."""
    matches = re.findall(r'^(?:#+ (.*)|<a id="([^"]*)"></a>)$', file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()) for heading in map("".join, matches))
    return frozenset(heading.replace(" ", "-") for heading in plain)


def leads_nowhere(file: Path, anchor: str | None) -> bool:
    if not file.exists():
        return True
    return bool(anchor) and file.suffix == ".md" and anchor not in headings(file)


def test_every_file_that_is_named_exists_and_has_the_heading():
    lost = [
        f"{name}: {match[0]}"
        for name, text in texts()
        for match in FILE.finditer(text)
        if match[1] not in THEIRS and leads_nowhere(HOUSE / match[1], match[2])
    ]

    assert lost == []


def test_every_link_of_a_page_leads_somewhere():
    lost = [
        f"{name}: {match[0]}"
        for name, text in texts()
        if name.endswith(".md")
        for match in LINK.finditer(text)
        if leads_nowhere((HOUSE / name).parent / match[1] if match[1] else HOUSE / name, match[2])
    ]

    assert lost == []


def test_what_a_docstring_calls_a_parameter_is_one_or_is_named_in_the_code():
    lost = [
        f"{file.name}: {node.name}: *{name}*"
        for file in sorted(paths.PACKAGE.rglob("*.py"))
        for node in sources.nodes(file)
        if isinstance(node, ast.FunctionDef)
        for name in PARAMETER.findall(ast.get_docstring(node) or "")
        if name not in {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
        and not any(name in WORD.findall(ast.unparse(statement)) for statement in node.body[1:])
    ]

    assert lost == []


def test_only_one_place_names_what_lies_beside_the_checkout():
    found = {name for name, text in texts() if BESIDE.search(text)}

    assert found <= KNOWS_OF_IT


@pytest.mark.parametrize("text", ["see docs/no-such-page.md", "(REPORT.md §4)", "docs/numbers.md#no-such-heading"])
def test_a_reference_that_leads_nowhere_is_found(text):
    (match,) = FILE.finditer(text)

    assert leads_nowhere(HOUSE / match[1], match[2])


def test_every_test_that_is_left_to_the_night_or_that_a_contributor_is_sent_to_is_there():
    files = {file.stem: file.read_text(encoding="utf-8") for file in HOUSE.glob("tests/**/test_*.py")}
    left = sources.table("nightly.toml")
    daily = {(file, name.partition("[")[0]) for file, names in left["daily"].items() for name in names}

    words = re.findall(r"\w+", " ".join(re.findall(r' -k "([^"]*)"', (HOUSE / "CONTRIBUTING.md").read_text())))
    assert [word for word in words if word != "or" and not any(word in name for name in files)] == []
    assert [name for name in left["files"] if name not in files] == []
    assert [pair for pair in daily if f"def {pair[1]}(" not in files.get(pair[0], "")] == []
    assert [name for name in (*left["tests"], *left["each"]) if f"def {name}(" not in "".join(files.values())] == []
