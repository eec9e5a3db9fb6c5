"""Templates are compiled once for a version of the code, and nothing stale or foreign is run instead."""

import re
from pathlib import Path

import jinja2
import pytest
import reports
from test_history import read

from evalsuite.core import paths
from evalsuite.core.model import Machine
from evalsuite.finished.history import history
from evalsuite.report.page import assets, templates
from evalsuite.site import timechart


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("EVALSUITE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "page").write_text("{{ 'FAST' }} {{ name }}")
    return tmp_path / "templates"


@pytest.fixture
def compiled(monkeypatch) -> list[str]:
    found = []
    compile_ = jinja2.Environment.compile

    def noted(self, source, name=None, *arguments, **named):
        found.append(name)
        return compile_(self, source, name, *arguments, **named)

    monkeypatch.setattr(jinja2.Environment, "compile", noted)
    return found


def filled(folder: Path) -> str:
    environment = templates.environment([folder])
    return environment.get_template("page").render(name="<b>")


def test_a_template_is_compiled_once_and_another_text_is_another(folder, compiled):
    assert [filled(folder), filled(folder)] == ["FAST &lt;b&gt;"] * 2
    assert compiled == ["page"]

    filled(folder)
    (folder / "page").write_text("now {{ name }}")
    assert filled(folder) == "now &lt;b&gt;"


@pytest.mark.parametrize(
    "harm",
    [
        lambda file: file.write_bytes(file.read_bytes()[:-9]),  # damaged
        Path.unlink,
        lambda file: file.parent.chmod(0o777),  # others may have written it
    ],
)
def test_a_damaged_missing_or_foreign_file_is_compiled_again(folder, compiled, harm):
    filled(folder)
    for file in filter(Path.is_file, (folder.parent / "cache" / "templates").rglob("*")):
        harm(file)

    assert filled(folder) == "FAST &lt;b&gt;"
    assert compiled == ["page"] * 2


def test_a_cache_that_cannot_be_written_only_costs_time(folder):
    (folder.parent / "cache").write_text("in the way")

    assert filled(folder) == "FAST &lt;b&gt;"


# the sheet and the script of a page: what people edit, and what is joined


SHEETS = sorted((paths.TEMPLATES / "style").glob("*.css"))
MODULES = sorted((paths.TEMPLATES / "script").glob("*.js"))
ENTRIES = ("boot.js", "report.js", "site.js")
TEMPLATES = sorted(file for folder in (paths.TEMPLATES, paths.SECTIONS) for file in folder.rglob("*.j2"))
LONGEST_LINE = 120
LONGEST_TEMPLATE_LINE = 160
LARGEST_SCRIPT = 90_000  # bytes
IMPORT = re.compile(r'^import (?:\{([^}]*)\} from )?"([\w./-]+)";\n', re.MULTILINE)
DOT = re.compile(r'<circle[^>]*cx="([\d.]+)" cy="([\d.]+)"')
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
    assert len(colours) == len(set(colours)) >= 15


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


# the panels of a model's history share their axes, and the worst stands first


def lines(tmp_path):
    """Three machines: one slowed, one steady, one faster; the second measurement on the 2nd, 9th and 17th day."""
    given = []
    for machine, speeds, day in (("a", reports.FASTER, 9), ("b", reports.SLOWER, 17), ("c", reports.STEADY, 2)):
        on = Machine(name=machine)
        given += [reports.summary(environment=on), reports.summary(speeds, day=day, environment=on)]
    return history(read(tmp_path, *given)).lines


def test_the_case_that_slowed_most_stands_first(tmp_path):
    found = timechart.worst_first(lines(tmp_path))

    assert found[0].environment == "b"
    assert found[0].slowed and not any(line.slowed for line in found[1:])


def test_time_is_on_the_horizontal_axis_and_the_same_in_every_panel(tmp_path):
    found = {line.environment: line for line in lines(tmp_path)}
    axes = timechart.frame(list(found.values()))
    first, *later = (
        [tuple(map(float, place)) for place in DOT.findall(timechart.svg(found[name], axes))] for name in "bac"
    )

    begin, end = first[0][0], first[1][0]
    assert [round((panel[1][0] - begin) / (end - begin), 2) for panel in later] == [0.5, 0.06]
    assert {panel[0] for panel in (first, *later)} == {first[0]}  # all begin on one day, at their own 0 %


def test_the_axis_says_changes_in_per_cent_and_spans_ten_at_least(tmp_path):
    axes = timechart.frame([line for line in lines(tmp_path) if line.environment == "c"])
    svg = timechart.svg(lines(tmp_path / "again")[0], axes)

    assert axes.low <= -0.1 and axes.high >= 0.1
    assert re.findall(r">([^<>]*%)<", svg) == ["−10%", "0%", "+10%"]
