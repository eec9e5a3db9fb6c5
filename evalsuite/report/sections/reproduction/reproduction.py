"""How every number is made again: software, commands, and where the number of each run comes from."""

from collections.abc import Container, Iterable, Mapping

from evalsuite.contracts import registry
from evalsuite.core import paths
from evalsuite.core.messages import dotted
from evalsuite.core.model import Case, ReferenceComparison, by_key
from evalsuite.report.book.book import Book
from evalsuite.report.sections.common.section import Section, Subject, parts
from evalsuite.report.sections.reproduction import provenance
from evalsuite.report.text import names, numbers
from evalsuite.report.text.words import Listed, Rendered, Text, Words

MOST_RUNS = 1_500
SHOWN = {"framework": names.framework, "precision": names.precision}


def sections(subject: Subject) -> Iterable[Section]:
    words, texts = subject.words, sentences_against(subject.book, subject.words)
    yield Section(
        id="reproduction",
        title=words("reproduction.title"),
        template="reproduction/reproduction.html.j2",
        facts=lambda: {**_facts(subject.book, words), "against": texts},
        parts=parts(words, "reproduction", ("software", "cases")),
        finding=lambda facts: words("reproduction.all_series", n=numbers.count(len(facts["series"]))),
    )


def _facts(book: Book, words: Words) -> Mapping[str, object]:
    software, series = provenance.software(book), provenance.series(book)
    return {
        "series": series,
        "columns": provenance.columns(series),
        "software": software if any(row["version"] or row["source"] or row["packages"] for row in software) else (),
        "again": book.again,
        "made_by": sorted({of["made_by"] for each in series for of in each["cases"]} - {""}),
        **(_scripts(book, words) if book.again and book.published else {"scripts": {}, "left": (), "images": ()}),
        "short_hashes": book.huge or len(book.measurements) > MOST_RUNS,
    }


def _scripts(book: Book, words: Words) -> Mapping[str, object]:
    """How many scripts of the page the profile of that name runs, which not and why, and how many others."""
    of = paths.read_data(f"specs/{book.evaluation.profile}.toml").get("participant", ())
    run = {(each["framework"], recipe) for each in of for recipe in each["recipes"]}
    page = {(case.framework, case.recipe): case.model for case in book.planned}
    counts = {"n": len(run & page.keys()), "all": len(page), "more": len(run - page.keys())}
    left = [_left(*script, page[script], run, words) for script in sorted(page.keys() - run)]
    own = sorted({image for each in of if "/" not in (image := each.get("image", "/"))})
    return {
        "scripts": {key: numbers.count(n) for key, n in counts.items()},
        "left": left,
        "images": own and words.listed(map(names.visible, own)),
    }


def _left(framework: str, recipe: str, model: str, run: Container[tuple[str, str]], words: Words) -> Rendered:
    """What runs in the place of a script, and why nobody can run it."""
    adapter = registry.discover().get(framework)
    known = adapter.recipes if adapter else ()
    others = words.listed(of.name for of in known if of.model == model and (framework, of.name) in run)
    script, told = names.framework(framework), f"rehearsal/{framework}.toml"
    said = {"script": f"{script} {names.visible(recipe)}", "others": others}
    why = known and (paths.DATA / told).is_file() and paths.read_data(told).get(recipe, {}).get("impossible")
    first = words.pick("reproduction.instead" if others.items else "reproduction.left", said)
    return words.sentences([first, *([words.same(why)] if why else [])])


def sentences_against(book: Book, words: Words) -> list[Text]:
    title = titles(book)
    return [
        words(
            "against.differing" if comparison.differs else "against.alike",
            case=title[comparison.case],
            value=numbers.rounded(comparison.items_per_s).to(names.case_anchor(comparison.case)),
            unit=names.visible(comparison.unit),
            share=numbers.percent(comparison.share).to(names.case_anchor(comparison.case)),
            reference=numbers.rounded(comparison.reference),
            n=numbers.count(comparison.figures),
            source=names.visible(comparison.source),
            **_differing(comparison, words),
        )
        for comparison in book.evaluation.against
    ]


def _differing(pair: ReferenceComparison, words: Words) -> dict[str, Listed]:
    named: list[Text | str] = []
    for name, value in pair.differs:
        shown = SHOWN.get(name, names.visible)(value)
        named.append(words(f"against.{name}", value=shown) if f"against.{name}" in words else shown)
    return {"differs": words.listed(named)} if named else {}


def titles(book: Book) -> Mapping[Case, str]:
    recipes = by_key(((case.framework, case.model), case.recipe) for case in book.planned)

    def title(case: Case) -> str:
        recipe = f" ({names.visible(case.recipe)})" * (len({*recipes[case.framework, case.model]}) > 1)
        parts = (names.framework(case.framework) + recipe, names.model(case.model), names.precision(case.precision))
        return dotted(*parts, names.bsz(case.series_batch, strong=case.strong_batch is not None), names.scale(case))

    return {case: title(case) for case in book.planned}
