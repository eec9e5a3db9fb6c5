"""The sheet and the script of a page: what people edit, and what is joined."""

import re

import pytest

from evalsuite import paths
from evalsuite.report.page import assets, templates

SHEETS = sorted((paths.TEMPLATES / "style").glob("*.css"))
MODULES = sorted((paths.TEMPLATES / "script").glob("*.js"))
ENTRIES = ("boot.js", "report.js", "site.js")
TEMPLATES = sorted(file for folder in (paths.TEMPLATES, paths.SECTIONS) for file in folder.rglob("*.j2"))
LONGEST_LINE = 120
LONGEST_TEMPLATE_LINE = 160
LARGEST_SCRIPT = 90_000  # bytes
IMPORT = re.compile(r'^import (?:\{([^}]*)\} from )?"([\w./-]+)";\n', re.MULTILINE)
EXPORTED = re.compile(r"^export (?:async function|function|const|let|class) (\w+)", re.MULTILINE)


@pytest.mark.parametrize("file", [*SHEETS, *MODULES, *TEMPLATES], ids=lambda file: f"{file.parent.name}/{file.name}")
def test_a_source_has_lines_that_a_person_can_read(file):
    longest = LONGEST_TEMPLATE_LINE if file in TEMPLATES else LONGEST_LINE

    assert max(map(len, file.read_text(encoding="utf-8").splitlines())) <= longest


def test_a_page_has_no_indentation_of_its_template_and_no_comments_of_sheet_and_script(tmp_path):
    (tmp_path / "a.j2").write_text("<tr>\n  {% if true %}\n  <td>{{ '  x' }}</td>\n  {% endif %}\n</tr>", "utf-8")
    made = templates.environment([tmp_path]).get_template("a.j2").render()
    assert made == "<tr>\n<td>  x</td>\n</tr>"

    text = '/* a\n   b */\n.c > p {\n  color: red; /* d */\n  content: "/* e */";\n}\n  // f\n\n  g("// h"); // i\n'
    assert assets.shorten(text) == '.c > p {\ncolor: red;\ncontent: "/* e */";\n}\ng("// h"); // i\n'


@pytest.mark.parametrize("name", ["report.css", "site.css"])
def test_a_sheet_is_joined_whole_and_imports_nothing_and_writes_its_palette_once(name):
    sheet = assets.style(name)
    colours = re.findall(r"(--[\w-]+): light-dark\(", sheet)

    assert "@import" not in sheet and "/*" not in sheet and "prefers-color-scheme" not in sheet
    assert sheet.count("{") == sheet.count("}")
    assert "@page" in sheet
    assert len(colours) == len(set(colours)) >= 20


def test_every_part_of_sheet_and_script_is_in_a_page_under_a_name_of_its_own():
    entries = (paths.TEMPLATES / "style" / name for name in ("report.css", "site.css"))
    imported = {name for file in entries for name in assets.STYLE_IMPORT.findall(file.read_text(encoding="utf-8"))}
    assert {file.name for file in SHEETS} == imported | {"site.css"}

    joined = "".join(map(assets.script, ENTRIES))
    for file in MODULES:
        body = assets.EXPORT.sub("", assets.SCRIPT_IMPORT.sub("", file.read_text(encoding="utf-8")))
        assert assets.shorten(body) in joined

    others = ("boot.js", "site.js")  # scripts of their own
    text = "".join(file.read_text(encoding="utf-8") for file in MODULES if file.name not in others)
    names = re.findall(r"^(?:export )?(?:async function|function|const|let|class) (\w+)", text, re.MULTILINE)
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("name", ENTRIES)
def test_a_script_is_joined_into_one_classic_script_that_can_stand_in_a_page(name):
    script = assets.script(name)

    assert len(script.encode()) <= LARGEST_SCRIPT
    assert script.startswith('(() => {\n"use strict";')
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)
    assert not re.search(r"</script|<!--|-->", script, re.IGNORECASE)


@pytest.mark.parametrize("file", MODULES, ids=lambda file: file.name)
def test_a_module_imports_what_another_exports_in_the_one_way_that_is_joined(file):
    text = file.read_text(encoding="utf-8")

    for names, other in IMPORT.findall(text):
        offered = EXPORTED.findall((file.parent / other).read_text(encoding="utf-8"))
        assert {name for part in names.split(",") if (name := part.strip())} <= set(offered)
    assert not re.search(r"^(?:import|export)\b", EXPORTED.sub("", IMPORT.sub("", text)), re.MULTILINE)
