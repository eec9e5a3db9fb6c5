"""Writes `docs/data-rules.md` and `docs/data-rules.zh.md`: every data rule, what it checks, why, and what to do.

    python tools/write_data_rules.py

From `evalsuite/findings.py`, the words in `data/text`, and the modules that raise each rule.
"""

import ast
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HOUSE))

from evalsuite import findings
from evalsuite.report.text import explaining

PAGES = {"en": HOUSE / "docs" / "data-rules.md", "zh": HOUSE / "docs" / "data-rules.zh.md"}
COLON = {"en": ": ", "zh": "："}
DECLARED = "evalsuite/findings.py"


def main() -> int:
    for language, file in PAGES.items():
        file.write_text(page(language), encoding="utf-8")
    return 0


def page(language: str) -> str:
    """The whole page."""
    words = explaining.spoken(language)
    text = {key: words(f"page.{key}").plain(language) for key in ("title", "generated", "intro")}
    head = [words(f"page.{key}").plain(language) for key in ("rule", "condition", "level", "raised")]
    found = [explaining.explained(code, language) for code in findings.codes()]
    return "\n".join(
        [
            f"# {text['title']}\n\n{text['generated']}\n\n{text['intro']}\n",
            _row(head),
            _row(["---"] * len(head)),
            *(_row(_cells(each)) for each in found),
            *(line for each in found for line in _section(each, language)),
            "",
        ]
    )


def _cells(found: explaining.Explained) -> list[str]:
    levels = "<br>".join(found.levels)
    places = "<br>".join(f"`{place}`" for place in where(found.code))
    return [f"[{found.code}](#{found.code.lower()})", found.title, levels, places]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _section(found: explaining.Explained, language: str) -> Iterator[str]:
    number, colon = findings.number(found.code), COLON[language]
    yield f"\n## {found.code}\n\n{found.title}" + (f" ({number})" if number and number != found.code else "") + "\n"
    for part, text in found.parts.items():
        yield f"- **{explaining.label(part, language)}**{colon}{text}"
    for sentence in found.says:
        yield f"- **{explaining.label('says', language)}**{colon}{sentence}"


def where(code: str) -> list[str]:
    """The files that find *code* broken, from the root of the repository."""
    rules = findings.of_code(code)
    if not rules:
        return [f"{findings.UNRAISED[code].replace('.', '/')}.py"]
    return sorted({place for rule in rules for place in raised().get(rule.__name__, ())})


@cache
def raised() -> dict[str, set[str]]:
    """Name of a class → the files that make one, or choose between it and another."""
    found: dict[str, set[str]] = {}
    for file in (*sorted((HOUSE / "evalsuite").rglob("*.py")), *sorted((HOUSE / "tools").glob("*.py"))):
        place = file.relative_to(HOUSE).as_posix()
        if place != DECLARED:
            for name in _made(ast.parse(file.read_text(encoding="utf-8"))):
                found.setdefault(name, set()).add(place)
    return found


def _made(tree: ast.AST) -> Iterator[str]:
    """Names that are used as values: not those asked for an attribute (`Drift.limit`) or in `isinstance`."""
    asked = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            asked |= {id(inner) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and id(node) not in asked:
            yield node.id if isinstance(node, ast.Name) else node.attr


if __name__ == "__main__":
    sys.exit(main())
