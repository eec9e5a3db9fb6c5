"""The sheet of a page: what people edit, what is joined, and what minifying may not touch."""

import re

import pytest

from evalsuite import paths
from evalsuite.report.page import assets

SHEETS = sorted((paths.TEMPLATES / "style").glob("*.css"))
LONGEST_LINE = 120


@pytest.mark.parametrize("file", SHEETS, ids=lambda file: file.name)
def test_a_source_has_lines_that_a_person_can_read(file):
    lines = file.read_text(encoding="utf-8").splitlines()

    assert max(map(len, lines)) <= LONGEST_LINE


@pytest.mark.parametrize("name", ["report.css", "site.css"])
def test_a_sheet_is_joined_whole_and_imports_nothing(name):
    sheet = assets.style(name)

    assert "@import" not in sheet
    assert "/*" not in sheet
    assert sheet.count("{") == sheet.count("}")
    assert "light-dark(" in sheet and "@page" in sheet


def test_every_part_of_the_sheet_is_in_a_page():
    entries = (paths.TEMPLATES / "style" / name for name in ("report.css", "site.css"))
    imported = {name for file in entries for name in assets.STYLE_IMPORT.findall(file.read_text(encoding="utf-8"))}

    assert {file.name for file in SHEETS} == imported | {"site.css"}


def test_the_palette_is_written_once():
    sheet = assets.style("report.css")

    colours = re.findall(r"(--[\w-]+):light-dark\(", sheet)

    assert len(colours) == len(set(colours)) >= 20
    assert "prefers-color-scheme" not in sheet


def test_a_sheet_loses_comments_and_blanks():
    text = "/* a */\n.b,\n.c > p {\n  color: red; /* d */\n  margin: 0.5em -0.25em;\n}\n"

    assert assets.minified_style(text) == ".b,.c>p{color:red;margin:.5em -.25em}\n"


@pytest.mark.parametrize(
    "text",
    [
        ".a :is(th,td){margin:0}",  # inside, not "a header that is"
        ".a{width:calc(100vw - 2 * 3rem + 1px)}",
        '.a::before{content:" /* > , ; */ 0.5 "}',
        ".a{font-family:'No  Name'}",
        ".a>p+p~p{margin:10.5px}",
        "@media (max-width:40rem) and (forced-colors:active){.a{margin:0}}",
    ],
)
def test_what_blanks_or_quotes_mean_in_a_sheet_stays(text):
    assert assets.minified_style(text) == text + "\n"
