"""The templates of sections in Markdown, beside those of the page."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from evalsuite import paths
from evalsuite.report.book import heading
from evalsuite.report.book.states import GLYPHS, MARKS
from evalsuite.report.page import templates
from evalsuite.report.sections.common.markdown import MarkdownWriter
from evalsuite.report.text import findings, names, numbers, options
from evalsuite.report.text.words import BETWEEN_SENTENCES


def writer(language: str, *, on_cpu: bool = False) -> MarkdownWriter:
    """What a template prints is escaped by it; sentences and cells are Markdown."""
    made = MarkdownWriter(language, on_cpu=on_cpu)
    words, between = made.words, Markup(BETWEEN_SENTENCES[language])

    def row(cells: Iterable[object]) -> Markup:
        return Markup(f"| {' | '.join(map(made.render, cells))} |")

    def heads(named: Sequence[object], right: Sequence[int] = ()) -> Markup:
        rule = ("--:" if place in right else "---" for place in range(len(named)))
        return row(named) + Markup("\n") + row(map(Markup, rule))

    environment = templates.environment([paths.SECTIONS], lambda value: Markup(made.render(value)))
    environment.globals |= {
        "t": words,
        "beyond": made.beyond,
        "names": names,
        "numbers": numbers,
        "options": options,
        "heading": heading,
        "MARKS": MARKS,
        "GLYPHS": GLYPHS,
        "NOTHING": "—",
        "heads": heads,
        "row": row,
        "sentences": lambda said: between.join(map(Markup, filter(None, map(made.render, said)))),
        "between": between,
        "rule": lambda code: findings.rule(code, words),
        "sentence": lambda finding: findings.sentence(finding, words),
    }
    environment.filters |= {
        "scale_name": lambda scale: f"{scale[0]}×{scale[1]}",
        "column_title": lambda column: column.head(words),
    }
    macros = vars(environment.get_template("common/macros.md.j2").module)
    environment.globals |= {name: macro for name, macro in macros.items() if not name.startswith("_")}
    made.get_template = environment.get_template
    return made
