"""`report.<language>.md`: the board, verdicts and what is open for a README, in GitHub's Markdown."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from markupsafe import Markup

from evalsuite import __version__
from evalsuite.core import paths
from evalsuite.core.files import write_atomically
from evalsuite.report import figures
from evalsuite.report.book import board, heading, identity
from evalsuite.report.forms.material import Material
from evalsuite.report.page import templates
from evalsuite.report.sections.background import machines
from evalsuite.report.sections.common.markdown import MarkdownWriter
from evalsuite.report.sections.common.section import Subject
from evalsuite.report.sections.language import language as language_models
from evalsuite.report.sections.problems import problems
from evalsuite.report.sections.verdict import verdict
from evalsuite.report.text import names, numbers, options
from evalsuite.report.text.words import BETWEEN_SENTENCES

MOST_CASES = 40  # with the tables of all scales
FIGURE_AFTER = 2  # the heading and the finding
HEAD, ROW, GAP = 34, 22, 18  # of the picture, in pixels
WIDTH, NAME, MOST_PANELS = 760, (150, 330), 4  # NAME: the least and the most of a name


def write(material: Material) -> list[Path]:
    return [path for language in material.languages for path in _write(material, language)]


def _write(material: Material, language: str) -> Iterable[Path]:
    writer = make_writer(language, on_cpu=material.book.on_cpu)
    path, picture = material.out / f"report.{language}.md", material.out / figure_name(language)
    write_atomically(path, names.without_unseen(document(material, language)).encode("utf-8", "backslashreplace"))
    yield path
    figure = _figure(material, writer)
    if figure is None:
        picture.unlink(missing_ok=True)  # of other data
        return
    write_atomically(picture, figure[0].encode("utf-8", "backslashreplace"))
    yield picture


def figure_name(language: str) -> str:
    return f"report.{language}.svg"


def _figure(material: Material, writer: MarkdownWriter) -> tuple[str, tuple[str, ...]] | None:
    """The board as a picture, and the models in it: no style of a page reaches it, so each colour is an attribute."""
    made = board.board(material.book, writer.words)
    shown = [sheet for sheet in made.sheets if any(row.summary for row in sheet.chosen.rows)][:MOST_PANELS]
    if not shown:
        return None
    language, panels, top = writer.language, [], GAP
    for sheet in shown:
        title = f"{sheet.title.plain(language)} · {sheet.chosen.scale}"
        panels.append((top, title, sheet.chosen))
        top += HEAD + ROW * len(sheet.chosen.rows) + GAP
    hues = figures.look(material.book.most_drawn).hues
    rows = [row.name.plain(language) for sheet in shown for row in sheet.chosen.rows]
    left = min(NAME[1], max(NAME[0], *(40 + sum(7 + 6 * (letter > "⺀") for letter in name) for name in rows)))
    source = writer.beyond("markdown.source", version=__version__, build=material.seal[: identity.SHOWN_DIGITS])
    drawn = templates.drawing(
        "headline.svg.j2",
        **{"width": WIDTH, "head": HEAD, "row_high": ROW, "left": left, "strip": WIDTH - 180 - left},
        colours={name: figures.COLOURS[hue.name][0] for name, hue in hues.items()},
        height=top + 16,
        panels=panels,
        about=made.finding.plain(language),
        source=source.plain(language),
        language=language,
        words=writer.words,
        runs=board.runs,
    )
    return drawn + "\n", tuple(dict.fromkeys(names.model(sheet.model) for sheet in shown))


def document(material: Material, language: str) -> str:
    return "\n\n".join(_paragraphs(material, make_writer(language, on_cpu=material.book.on_cpu))) + "\n"


def _paragraphs(material: Material, writer: MarkdownWriter) -> Iterable[str]:
    book, words = material.book, writer.words
    subject = Subject(book=book, words=words)
    yield f"# {writer.render(heading.title(book.evaluation, words))}"
    nothing, period, machine = words("words.not_recorded"), book.period, machines.one_line(book, words)
    yield writer.render(
        writer.beyond("markdown.about", period=str(period) if period else nothing, machine=machine or nothing)
    )
    yield from _verdict(material, subject, writer)
    yield from writer.fill("language/language.md.j2", **language_models.in_every_form(subject))
    yield from writer.fill("problems/problems.md.j2", **problems.in_every_form(subject))
    if len(book.planned) > MOST_CASES:
        yield writer.render(writer.beyond("markdown.rest", cases=numbers.count(len(book.planned))))
    yield "---"
    build = material.seal[: identity.SHOWN_DIGITS]
    yield writer.render(writer.beyond("markdown.made_by", version=__version__, build=build))


def _verdict(material: Material, subject: Subject, writer: MarkdownWriter) -> Iterable[str]:
    facts, every = verdict.in_every_form(subject), len(subject.book.planned) <= MOST_CASES
    paragraphs = writer.fill("verdict/verdict.md.j2", **facts, every_scale=every)
    figure = _figure(material, writer)
    yield from paragraphs[:FIGURE_AFTER]
    if figure is not None:
        about = writer.beyond("markdown.figure", models=writer.beyond.listed(figure[1]))
        yield f"![{writer.render(about)}]({figure_name(writer.language)})"  # the sentences above say what it shows
    yield from paragraphs[FIGURE_AFTER:]


def make_writer(language: str, *, on_cpu: bool = False) -> MarkdownWriter:
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
        **dict(t=words, beyond=made.beyond, names=names, numbers=numbers, options=options, NOTHING="—", heads=heads),
        "apart": lambda parts: options.apart(parts, words),
        "row": row,
        "sentences": lambda said: between.join(map(Markup, filter(None, map(made.render, said)))),
    }
    made.get_template = environment.get_template
    return made
