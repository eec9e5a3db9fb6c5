"""Section 2: platform, models, machines, rules and methods, as rows for the page."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from evalsuite.report.book.participants import is_stated
from evalsuite.report.sections.author import author_sections
from evalsuite.report.sections.background.machines import machines
from evalsuite.report.sections.common.section import Section, Subject, parts
from evalsuite.report.text import names, options
from evalsuite.report.text.words import Rendered
from evalsuite.results.measure import facts

PARTS = ("platform", "models", "environment", "configuration", "rules", "metrics")


def sections(subject: Subject) -> Iterable[Section]:
    words = subject.words
    yield Section(
        id="background",
        title=words("background.title"),
        template="background/background.html.j2",
        facts=lambda: _facts(subject),
        parts=parts(words, "background", PARTS),
    )


def _facts(subject: Subject) -> Mapping[str, object]:
    return {
        "platform": platform(subject),
        "scripts": _scripts(subject),
        "unstated": not any(map(is_stated, (member for model in subject.models for member in model.participants))),
        "models": subject.models,
        "data_sets": data_sets(subject),
        "machines": machines(subject.book),
        "repeats": Counter(row.n for row in subject.book.valid) or Counter([0]),
        "scales": names.scales(case for block in subject.blocks for case in block.cases),
    }


def _scripts(subject: Subject) -> str | None:
    """The key of the sentence that says whose scripts ran."""
    kinds = {participant.kind for model in subject.models for participant in model.participants if participant.kind}
    if not kinds <= {"reference", "official"}:
        return "background.elsewhere"
    if kinds == {"reference", "official"}:
        return "background.both_kinds"
    return ("background.reference_only" if "reference" in kinds else "background.official_only") if kinds else None


def data_sets(subject: Subject) -> Mapping[str, Rendered]:
    words = subject.words
    values: dict[str, set[str]] = {}
    for run in subject.book.measurements:
        said, ran = facts.believed(run.facts).get("data"), subject.book.evaluation.commands.get(run.run.id)
        made = "made-up" * bool(ran and ran.data_sets)  # no more is known of what a recipe lets evalsuite make
        values.setdefault(run.run.case.model, set()).add(said.value if said else made)
    return {
        model: words.listed(
            options.value_of("data", value, words) if value else words("background.partly_recorded")
            for value in sorted(values, key=lambda value: (not value, value))
        )
        for model, values in values.items()
        if any(values)
    }


def platform(subject: Subject) -> Mapping[str, Any]:
    """In the lab's own words."""
    lab = subject.book.evaluation.document
    written = lab.platform if lab else None
    return {
        "paragraphs": author_sections.prose(written.text, subject) if written else (),
        "links": written.links if written else (),
    }
