"""The sheet and the script of a page: what people edit, what is joined, and what minifying may not touch."""

import re

import pytest

from evalsuite import paths
from evalsuite.errors import EvalsuiteError
from evalsuite.report.page import assets, templates

SHEETS = sorted((paths.TEMPLATES / "style").glob("*.css"))
MODULES = sorted((paths.TEMPLATES / "script").glob("*.js"))
ENTRIES = ("boot.js", "report.js", "site.js")
TEMPLATES = sorted(file for folder in (paths.TEMPLATES, paths.SECTIONS) for file in folder.rglob("*.j2"))
LONGEST_LINE = 120
LONGEST_TEMPLATE_LINE = 160
LARGEST_SCRIPT = 90_000  # bytes


@pytest.mark.parametrize("file", [*SHEETS, *MODULES], ids=lambda file: file.name)
def test_a_source_has_lines_that_a_person_can_read(file):
    lines = file.read_text(encoding="utf-8").splitlines()

    assert max(map(len, lines)) <= LONGEST_LINE


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_a_template_has_lines_that_a_person_can_read(file):
    lines = file.read_text(encoding="utf-8").splitlines()

    assert max(map(len, lines)) <= LONGEST_TEMPLATE_LINE


def test_the_indentation_of_a_template_is_not_in_the_page(tmp_path):
    (tmp_path / "a.j2").write_text("<tr>\n  {% if true %}\n  <td>{{ '  x' }}</td>\n  {% endif %}\n</tr>", "utf-8")

    made = templates.environment([tmp_path]).get_template("a.j2").render()

    assert made == "<tr>\n<td>  x</td>\n</tr>"


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


@pytest.mark.parametrize("name", ENTRIES)
def test_a_script_is_joined_into_one_classic_script(name):
    script = assets.script(name)

    assert len(script.encode()) <= LARGEST_SCRIPT
    assert script.startswith('(()=>{"use strict";')
    assert not re.search(r"\b(import|export)\b", script)


@pytest.mark.parametrize("name", ENTRIES)
def test_a_script_can_stand_in_a_page(name):
    assert not re.search(r"</script|<!--|-->", assets.script(name), re.IGNORECASE)


def test_every_module_is_in_a_page():
    joined = "".join(assets.joined_script(paths.TEMPLATES / "script" / name) for name in ENTRIES)

    for file in MODULES:
        assert assets.EXPORT.sub("", assets.SCRIPT_IMPORT.sub("", file.read_text(encoding="utf-8"))) in joined


@pytest.fixture
def modules(tmp_path):
    """Writes modules into a folder: `modules(a="export const a = 1;\\n")`; gives the first."""

    def write(**texts: str):
        for name, text in texts.items():
            (tmp_path / f"{name}.js").write_text(text, encoding="utf-8")
        return tmp_path / f"{next(iter(texts))}.js"

    return write


def test_a_module_stands_once_and_after_those_that_it_needs(modules):
    entry = modules(
        main='import { b } from "./b.js";\nimport { a } from "./a.js";\nuse(a, b);\n',
        b='import { a } from "./a.js";\nexport const b = a + 1;\n',
        a="export const a = 1;\n",
    )

    assert assets.joined_script(entry) == (
        '(() => {\n"use strict";\nconst a = 1;\n\nconst b = a + 1;\n\nuse(a, b);\n\n})();\n'
    )


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ({"main": 'import { a } from "./a.js";\nfunction a() {}\n', "a": "export const a = 1;\n"}, "each name once"),
        ({"main": 'import { b } from "./a.js";\n', "a": "export const a = 1;\n"}, "imports b from ./a.js"),
        ({"main": 'import { a } from "./a.js";\n', "a": 'import "./main.js";\nexport const a = 1;\n'}, "circle"),
        ({"main": "export default 1;\n"}, "export default 1;"),
        ({"main": 'import * as a from "./a.js";\n'}, "import * as a"),
    ],
)
def test_modules_that_cannot_be_joined_are_refused(modules, texts, said):
    with pytest.raises(EvalsuiteError, match=re.escape(said)):
        assets.joined_script(modules(**texts))


def test_a_script_loses_comments_and_blanks():
    text = """
    /** What it gives. @param {string} a */
    function f(a) {
      const b = a ? [1, 2] : { c: 3 }; // a remark
      return b;
    }
    const g = (x) =>
      x && !f(x)
    """

    assert assets.minified_script(text) == ("function f(a){const b=a?[1,2]:{c:3};return b;}\nconst g=(x)=>x&&!f(x)\n")


@pytest.mark.parametrize(
    "text",
    [
        "const a=1\nconst b=2",  # a line that may end a statement
        "a\n++b",
        "f()\n(g)",
        "a + +b - -c",
        'const s="// no comment  /* none */ , x"',
        "const t=`  ${a} // ${b}\n  `",
        r"const r=/[/\"'`]  ,\/\//g;const q=a / b / c",
        "return /a  b/.test(x)",
        r'const d="\" // ";f()',
        "typeof a in b",
    ],
)
def test_what_blanks_and_lines_mean_in_a_script_stays(text):
    assert assets.minified_script(text) == text + "\n"
