"""The templates of sections in Markdown, beside those of the page."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from evalsuite import paths
from evalsuite.report.book import heading
from evalsuite.report.book.states import MARKS
from evalsuite.report.page import templates
from evalsuite.report.sections.common.markdown import MarkdownWriter
from evalsuite.report.text import findings, names, numbers, options


def writer(language: str, *, on_cpu: bool = False) -> MarkdownWriter:
    """What a template prints is escaped by it; sentences and cells are Markdown."""
    made = MarkdownWriter(language, on_cpu=on_cpu)
    words = made.words

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
        "NOTHING": "—",
        "heads": heads,
        "row": row,
        "known": lambda section, name: Markup(made.known(section, name)),
        "sentences": lambda said: Markup(made.sentences(filter(None, map(made.render, said)))),
        "explained": lambda key: Markup(made.explained(key)),
        "cell": lambda cell: Markup(made.cell(cell)),
        "state": lambda name: Markup(made.state(name)),
        "case_name": lambda case, notes: Markup(made.case_name(case, notes)),
        "of_all": lambda given: Markup("").join(map(Markup, made.of_all(given))),
        "rule": lambda code: findings.rule(code, words),
        "sentence": lambda finding: findings.sentence(finding, words),
    }
    environment.filters |= {
        "scale_name": lambda scale: f"{scale[0]}×{scale[1]}",
        "column_title": lambda column: column.head(words),
    }
    made.get_template = environment.get_template
    return made
