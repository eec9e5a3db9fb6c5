"""Section 2.1: the platform in the lab's own words, its links, and the sizes that can be chosen on it."""

from collections.abc import Mapping
from typing import Any

from evalsuite.report.book.book import Book
from evalsuite.report.sections.author import author_sections
from evalsuite.report.sections.common.section import Subject
from evalsuite.report.text import numbers
from evalsuite.report.text.words import Text, Words

Scale = tuple[int, int]  # nodes, devices of the whole job


def facts(subject: Subject) -> Mapping[str, Any]:
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
