"""Section 2: platform, frameworks, models, machines, test matrix, rules and methods, as rows for the page."""

from collections.abc import Iterable, Mapping
from typing import Any

from evalsuite.core.model import Window
from evalsuite.report.book.book import Book
from evalsuite.report.book.cells import throughput_cell
from evalsuite.report.book.participants import Participant, is_stated
from evalsuite.report.book.tally import coverage, tally
from evalsuite.report.sections.author import author_sections
from evalsuite.report.sections.background.machines import machines
from evalsuite.report.sections.common.section import Section, Subject, parts
from evalsuite.report.text import names, numbers, options
from evalsuite.report.text.words import Rendered, Text, Words
from evalsuite.results.measure import facts

Scale = tuple[int, int]  # nodes, devices of the whole job
PARTS = ("platform", "frameworks", "models", "environment", "configuration", "rules", "metrics")
RULES = "rules-table"  # the anchor of the table of rules, which sentences with their limits lead to
Method = tuple[str, str | None, int, list[int], int]  # framework, method, warm-up and measured steps, runs


def sections(subject: Subject) -> Iterable[Section]:
    words = subject.words
    yield Section(
        id="background",
        title=words("background.title"),
        template="background/background.html.j2",
        facts=lambda: _facts(subject),
        markdown=lambda writer: writer.fill("background/background.md.j2", **platform(subject)),
        parts=parts(words, "background", PARTS),
    )


def _facts(subject: Subject) -> Mapping[str, object]:
    blocks = subject.blocks
    scales = sorted({scale for block in blocks for scale in block.scales}, key=lambda s: (s[0] * s[1], s[0]))
    return {
        "platform": platform(subject),
        "frameworks": frameworks(subject),
        "unstated": not any(map(is_stated, (member for model in subject.models for member in model.participants))),
        "models": subject.models,
        "data_sets": data_sets(subject),
        "machines": machines(subject.book),
        "scales": scales,
        "rows": [
            (column.label, block, [(case, throughput_cell(block.book, case)) for case in cases])
            for block in blocks
            for column in block.columns
            for cases in [[block.case(column, *scale) for scale in scales]]
        ],
        "methods": methods(subject.book),
        "tally": tally(subject.book),
        "coverage": coverage(subject.book, subject.words),
    }


def frameworks(subject: Subject) -> list[tuple[str, list[str], list[str], bool]]:
    """(name, versions, images, whether its runs were made by evalsuite)."""
    participants: dict[str, list[Participant]] = {name: [] for name in subject.book.frameworks}
    for model in subject.models:
        for participant in model.participants:
            participants[participant.framework].append(participant)
    return [
        (
            names.framework(name),
            sorted({names.visible(version) for participant in ours for version in participant.versions}),
            sorted({names.visible(participant.image) for participant in ours if participant.image}),
            any(participant.measured for participant in ours),
        )
        for name, ours in participants.items()
    ]


def data_sets(subject: Subject) -> Mapping[str, Rendered]:
    words = subject.words
    values: dict[str, set[str]] = {}
    for run in subject.book.measurements:
        said = facts.believed(run.facts).get("data")
        values.setdefault(run.run.case.model, set()).add(said.value if said else "")
    return {
        model: words.listed(
            options.value_of("data", value, words) if value else words("background.partly_recorded")
            for value in sorted(values, key=lambda value: (not value, value))
        )
        for model, values in values.items()
        if any(values)
    }


def methods(book: Book) -> list[Method]:
    windows: dict[tuple[str, str, int], list[Window | None]] = {}
    for run in book.measurements:
        if run.throughput is not None:
            key = (run.run.case.framework, run.throughput.method, run.run.case.protocol.warmup_steps)
            windows.setdefault(key, []).append(run.throughput.window)
    return [
        (
            names.framework(framework),
            method,
            warmup,
            sorted({window.steps for window in windows if window is not None}),
            len(windows),
        )
        for (framework, method, warmup), windows in sorted(windows.items(), key=lambda item: str(item[0]).casefold())
    ]


def platform(subject: Subject) -> Mapping[str, Any]:
    """In the lab's own words, with the sizes that can be chosen on it."""
    lab, words = subject.book.evaluation.document, subject.words
    written = lab.platform if lab else None
    sizes = sorted(map(_scale, set(written.sizes)), key=lambda scale: (scale[1], scale[0])) if written else []
    return {
        "paragraphs": author_sections.prose(written.text, subject) if written else (),
        "links": written.links if written else (),
        "sizes": [_say(words, scale) for scale in sizes],
        "limit": _limit(subject.book, words, sizes),
    }


def _scale(size: str) -> Scale:
    nodes, _, per_node = size.partition("x")
    return int(nodes), int(nodes) * int(per_node)


def _say(words: Words, scale: Scale) -> Text:
    return words("background.size", nodes=numbers.count(scale[0]), devices=numbers.count(scale[1]))


def _limit(book: Book, words: Words, sizes: list[Scale]) -> Text | None:
    planned = max(((case.nodes, case.total_devices) for case in book.planned), key=lambda size: size[1], default=None)
    if not sizes or planned is None or planned[1] <= sizes[-1][1]:
        return None
    return words("background.size_exceeded", largest=_say(words, sizes[-1]), planned=_say(words, planned))
