"""The structure of the golden pages (docs/architecture.md#checks): headings, landmarks, tables, figures, in order."""

from dataclasses import replace

import pages
import pytest
import synthetic

from evalsuite import report
from tests import goldens

SHOWN = {"header", "nav", "main", "footer", "section", "article", "h1", "h2", "h3", "h4", "table", "figure", "form"}
SHOWN |= {"details", "fieldset", "dl", "svg", "noscript"}
COPY = {"en": "#Copy the link to this section", "zh-CN": "#复制本节链接"}
CLOSED = ("svg", "table")  # what is inside them has tests of its own


def outline(element: pages.Element, language: str = "en", depth: int = 0) -> list[str]:
    """One line for each element that gives the page its structure, indented as it is nested."""
    found = []
    for child in element.children:
        if not isinstance(child, pages.Element) or child.tag in ("template", "script", "style"):
            continue
        shown = child.tag in SHOWN and "fig-swatch" not in (child["class"] or "")
        if shown:
            found.append("  " * depth + line(child, language))
        if child.tag not in CLOSED:
            found += outline(child, language, depth + shown)
    return found


def line(element: pages.Element, language: str) -> str:
    role = f" role={element['role']}" if element["role"] else ""
    said = ""
    if element.tag in ("h1", "h2", "h3", "h4"):
        said = f": {element.text(language).removesuffix(COPY[language])}"
    elif element.tag == "table":
        said = f": {len(element.one('thead').all('th'))} columns"
    return f"{element.tag}{role}{said}".rstrip()


@pytest.mark.parametrize("name", synthetic.TRIED)
def test_the_structure_of_the_page_is_the_golden_one(name, built):
    found = text(outline(built(name).page.one("body")))

    assert found == goldens.expected(f"outlines/{name}.txt", found)


def test_the_chinese_page_has_the_same_structure_with_chinese_headings(built):
    body = built("quick").page.one("body")
    zh, en = outline(body, "zh-CN"), outline(body)

    assert text(zh) == goldens.expected("outlines/quick.zh.txt", text(zh))
    assert [each.partition(":")[0] for each in zh] == [each.partition(":")[0] for each in en]


def text(lines):
    return "".join(f"{line}\n" for line in lines)


# what the sections on data quality and on repeating the evaluation leave out, and how they name cases


def section(evaluation, folder, name):
    report.build(evaluation, folder)
    return pages.read((folder / "report.html").read_text(encoding="utf-8")).one("section", id=name)


@pytest.mark.parametrize(("evaluation", "failed"), [(synthetic.quick, False), (synthetic.partial, True)])
def test_a_failure_has_its_part_and_parts_with_nothing_to_show_have_no_heading(tmp_path, evaluation, failed):
    block = section(evaluation(), tmp_path, "quality")

    headings = [head["id"] for head in block.all("h3")]
    assert ("quality-failures" in headings) is failed and "quality-skips" not in headings


def test_nobody_planned_or_made_the_runs_of_published_figures(tmp_path):
    quick = synthetic.quick()
    cited = [synthetic.summary(replace(run, origin="cited") for run in row.measurements) for row in quick.summaries]
    found = section(replace(quick, summaries=tuple(cited)), tmp_path, "quality").one("dl", id="counts-table")

    assert "Runs valid" in found.text("en") and "Runs planned" not in found.text("en")


@pytest.mark.parametrize(
    ("profile", "command"),
    [("full", "make report PROFILE=full"), ("official-cpu", "make official"), ("custom", None), ("../quick", None)],
)
def test_a_command_repeats_the_whole_where_the_plan_comes_with_evalsuite(tmp_path, profile, command):
    block = section(replace(synthetic.quick(), profile=profile), tmp_path, "reproduction")

    commands = [element.text("en") for element in block.all("pre")][:1] if command else []
    assert commands == ([command] if command else [])
    assert ("no one command repeats" in block.text("en")) == (command is None)
