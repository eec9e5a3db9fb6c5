"""The structure of the golden pages (docs/report.md#checks): headings, landmarks, tables, figures, in order."""

import pages
import pytest
import synthetic

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


@pytest.mark.parametrize("name", synthetic.PAGES)
def test_the_structure_of_the_page_is_the_golden_one(name, built):
    found = text(outline(built(name).page.one("body")))

    assert found == goldens.expected(f"outlines/{name}.txt", found)


def test_the_chinese_page_has_the_same_structure_with_chinese_headings(built):
    body = built("quick").page.one("body")
    zh, en = outline(body, "zh-CN"), outline(body)

    assert text(zh) == goldens.expected("outlines/quick.zh.txt", text(zh))
    assert [one.partition(":")[0] for one in zh] == [one.partition(":")[0] for one in en]


def text(lines):
    return "".join(f"{line}\n" for line in lines)
